import { AUTO, Display, Game, Scale, Scene, type GameObjects } from 'phaser'
import { connect, withBanner } from 'tickwire/browser'
import { mirror } from 'tickwire/ecs'
import { Bang, game, HEIGHT, Shell, Tank, WIDTH } from './game.ts'

const KEYS = { left: 'LEFT', right: 'RIGHT', up: 'UP', down: 'DOWN', fire: 'SPACE' }
const colorOf = (hue: number): number => Display.Color.HSLToColor(hue / 256, 0.8, 0.6).color

class Arena extends Scene {
  async create(): Promise<void> {
    this.#drawFloor()
    const keys = this.input.keyboard!.addKeys(KEYS) as Record<keyof typeof KEYS, { readonly isDown: boolean }>
    const sparks = this.add.particles(0, 0, 'spark', {
      speed: { min: 40, max: 220 }, lifespan: 450, scale: { start: 1, end: 0 }, blendMode: 'ADD', emitting: false,
    }).setDepth(2)

    const tanks = mirror(Tank, {
      add: ({ hue }) => ({ ...this.#makeTank(hue), label: this.#makeLabel() }),
      write({ whole, label }, { x, y, heading, health, hits, owner }) {
        whole.setPosition(x, y).setRotation(heading)
        const text = `${owner === room.peer ? 'you ' : ''}${'♥'.repeat(health)} ${hits}`
        label.setPosition(x, y - 38)
        if (label.text !== text) label.setText(text)
      },
      remove({ whole, label }) {
        whole.destroy()
        label.destroy()
      },
    })
    const shells = mirror(Shell, {
      add: ({ x, y }) => this.add.circle(x, y, 4, 0xffd866).setDepth(1),
      write: (shell, { x, y }) => void shell.setPosition(x, y),
      remove: (shell) => shell.destroy(),
    })

    const room = await withBanner(connect(game, location.origin))
    room.onEvent(Bang, ({ x, y }) => {
      sparks.explode(24, x, y)
      this.cameras.main.shake(120, 0.004)
    })
    // Tickwire calls `draw` before each repaint. Phaser's own loop stops: it would draw a frame late.
    this.game.loop.stop()
    room.play({
      input: () => ({
        left: keys.left.isDown, right: keys.right.isDown, up: keys.up.isDown, down: keys.down.isDown,
        fire: keys.fire.isDown,
      }),
      draw: (view) => {
        tanks.update(view)
        shells.update(view)
        this.game.loop.tick()
      },
    })
  }

  #drawFloor(): void {
    this.add.rectangle(WIDTH / 2, HEIGHT / 2, WIDTH, HEIGHT, 0x161b22)
    this.add.grid(WIDTH / 2, HEIGHT / 2, WIDTH, HEIGHT, 60, 60, 0x161b22, 1, 0x21262d, 1)
    const dot = this.add.graphics().fillStyle(0xffd866).fillCircle(4, 4, 4)
    dot.generateTexture('spark', 8, 8)
    dot.destroy()
  }

  #makeTank(hue: number): { readonly whole: GameObjects.Container } {
    const body = this.add.rectangle(0, 0, 36, 28, colorOf(hue)).setStrokeStyle(2, 0x0d1117)
    const barrel = this.add.rectangle(14, 0, 28, 7, 0xc9d1d9)
    const turret = this.add.circle(0, 0, 9, 0xc9d1d9)
    return { whole: this.add.container(0, 0, [body, barrel, turret]) }
  }

  #makeLabel(): GameObjects.Text {
    return this.add.text(0, 0, '', { fontFamily: 'system-ui', fontSize: '16px', color: '#c9d1d9' }).setOrigin(0.5)
  }
}

new Game({
  type: AUTO, width: WIDTH, height: HEIGHT, backgroundColor: '#0d1117', banner: false, scene: Arena,
  scale: { mode: Scale.FIT, autoCenter: Scale.CENTER_BOTH },
})

if (import.meta.env.DEV) await import('tickwire/devtools')
