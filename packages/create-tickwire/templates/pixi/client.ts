import { Application, Color, Container, Graphics, Text } from 'pixi.js'
import { connect, withBanner } from 'tickwire/browser'
import { mirror } from 'tickwire/ecs'
import { game, HEIGHT, Orb, Ship, WIDTH } from './game.ts'

// Tickwire calls `draw` before each repaint, so Pixi needs no loop of its own.
const app = new Application()
await app.init({
  background: '#0d1117', antialias: true, resizeTo: window, autoStart: false,
  autoDensity: true, resolution: Math.min(devicePixelRatio, 2),
})
document.body.prepend(app.canvas)

const field = app.stage.addChild(new Container())
field.addChild(new Graphics().roundRect(0, 0, WIDTH, HEIGHT, 16).fill('#161b22').stroke({ width: 2, color: '#30363d' }))
const [orbLayer, ringLayer, shipLayer] = [new Container(), new Container(), new Container()]
field.addChild(orbLayer, ringLayer, shipLayer)

function resize(): void {
  field.scale.set(Math.min(app.screen.width / WIDTH, app.screen.height / HEIGHT) * 0.95)
  field.position.set((app.screen.width - WIDTH * field.scale.x) / 2, (app.screen.height - HEIGHT * field.scale.y) / 2)
}
app.renderer.on('resize', resize)
resize()

const colorOf = (hue: number): Color => new Color({ h: (hue / 256) * 360, s: 80, l: 62 })

const ships = mirror(Ship, {
  add({ hue }) {
    const body = new Graphics().poly([22, 0, -14, 14, -7, 0, -14, -14]).fill(colorOf(hue))
    const label = new Text({ text: '', style: { fill: '#c9d1d9', fontSize: 16, fontFamily: 'system-ui' } })
    label.anchor.set(0.5, 2.2)
    return { body, label, whole: shipLayer.addChild(new Container({ children: [body, label] })) }
  },
  write({ body, label, whole }, { x, y, heading, orbs, owner }) {
    whole.position.set(x, y)
    body.rotation = heading
    const text = owner === room.peer ? `you: ${orbs}` : String(orbs)
    if (label.text !== text) label.text = text
  },
  remove: ({ whole }) => whole.destroy({ children: true }),
})

const orbs = mirror(Orb, {
  add({ x, y, hue }) {
    const star = new Graphics().star(0, 0, 5, 9, 4).fill(colorOf(hue))
    star.position.set(x, y)
    return orbLayer.addChild(star)
  },
  write: (star) => void (star.rotation += 0.02),
  remove(star) {
    // A ring shows where the orb was.
    const ring = ringLayer.addChild(new Graphics().circle(0, 0, 12).stroke({ width: 2, color: '#ffffff' }))
    ring.position.copyFrom(star.position)
    star.destroy()
  },
})

function growRings(): void {
  for (const ring of [...ringLayer.children]) {
    ring.scale.set(ring.scale.x + 0.12)
    ring.alpha -= 0.05
    if (ring.alpha <= 0) ring.destroy()
  }
}

const pointer = { isHeld: false, x: WIDTH / 2, y: HEIGHT / 2 }
function point(event: PointerEvent): void {
  const { x, y } = field.toLocal({ x: event.clientX, y: event.clientY })
  pointer.x = Math.round(Math.max(0, Math.min(x, WIDTH)))
  pointer.y = Math.round(Math.max(0, Math.min(y, HEIGHT)))
  if (event.type === 'pointerdown') pointer.isHeld = true
}
addEventListener('pointermove', point)
addEventListener('pointerdown', point)
for (const end of ['pointerup', 'pointercancel', 'blur']) addEventListener(end, () => { pointer.isHeld = false })

const room = await withBanner(connect(game, location.origin))
room.play({
  input: () => pointer,
  draw(view) {
    ships.update(view)
    orbs.update(view)
    growRings()
    app.render()
  },
})

if (import.meta.env.DEV) await import('tickwire/devtools')
