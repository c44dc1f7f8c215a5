import { connect, withBanner } from 'tickwire/browser'
import { Ball, game, GOAL, HEIGHT, Player, RADIUS, Score, WIDTH } from './game.ts'

/** Pixels per metre, and metres around the pitch. */
const SCALE = 36
const MARGIN = 2
const canvas = document.querySelector('canvas')!
canvas.width = (WIDTH + 2 * MARGIN) * SCALE
canvas.height = (HEIGHT + 2 * MARGIN) * SCALE
const paper = canvas.getContext('2d')!

const held = new Set<string>()
addEventListener('keydown', (event) => held.add(event.key))
addEventListener('keyup', (event) => held.delete(event.key))

function disc(x: number, y: number, radius: number, color: string): void {
  paper.beginPath()
  paper.arc(x, y, radius, 0, 2 * Math.PI)
  paper.fillStyle = color
  paper.fill()
}

function drawPitch(): void {
  paper.setTransform(SCALE, 0, 0, SCALE, MARGIN * SCALE, MARGIN * SCALE)
  paper.clearRect(-MARGIN, -MARGIN, WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN)
  paper.fillStyle = '#12331f'
  paper.fillRect(0, 0, WIDTH, HEIGHT)
  paper.fillRect(-MARGIN, (HEIGHT - GOAL) / 2, WIDTH + 2 * MARGIN, GOAL)
  paper.strokeStyle = '#2f6b45'
  paper.lineWidth = 0.08
  paper.strokeRect(0, 0, WIDTH, HEIGHT)
  paper.beginPath()
  paper.moveTo(WIDTH / 2, 0)
  paper.lineTo(WIDTH / 2, HEIGHT)
  paper.moveTo(WIDTH / 2 + 2, HEIGHT / 2)
  paper.arc(WIDTH / 2, HEIGHT / 2, 2, 0, 2 * Math.PI)
  paper.stroke()
}

const room = await withBanner(connect(game, location.origin))
room.play({
  input: () => ({
    left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
    up: held.has('ArrowUp'), down: held.has('ArrowDown'),
  }),
  draw(view) {
    drawPitch()
    for (const { x, y, hue, owner } of view.each(Player)) {
      if (owner === room.peer) disc(x, y, RADIUS.player + 0.1, '#ffffff')
      disc(x, y, RADIUS.player, `hsl(${(hue / 256) * 360} 80% 60%)`)
    }
    for (const { x, y } of view.each(Ball)) disc(x, y, RADIUS.ball, '#f0f6fc')
    paper.fillStyle = '#c9d1d9'
    paper.font = '1.2px system-ui'
    paper.textAlign = 'center'
    for (const { left, right } of view.each(Score)) paper.fillText(`${left} : ${right}`, WIDTH / 2, -0.6)
  },
})

if (import.meta.env.DEV) await import('tickwire/devtools')
