import { connect, withBanner } from 'tickwire/browser'
import { game, HEIGHT, Player, WIDTH } from './game.ts'

const canvas = document.querySelector('canvas')!
canvas.width = WIDTH
canvas.height = HEIGHT
const paper = canvas.getContext('2d')!
const held = new Set<string>()
addEventListener('keydown', (event) => held.add(event.key))
addEventListener('keyup', (event) => held.delete(event.key))
addEventListener('blur', () => held.clear())

const room = await withBanner(connect(game, location.origin))
room.play({
  input: () => ({
    left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
    up: held.has('ArrowUp'), down: held.has('ArrowDown'),
  }),
  draw(view) {
    paper.clearRect(0, 0, WIDTH, HEIGHT)
    for (const { x, y, hue, owner } of view.each(Player)) {
      paper.fillStyle = `hsl(${hue} 80% 60%)`
      paper.fillRect(x - 8, y - 8, 16, 16)
      if (owner === room.peer) {
        paper.strokeStyle = 'white'
        paper.strokeRect(x - 10, y - 10, 20, 20)
      }
    }
  },
})

// The key left of the 1 shows what the network does. It is not in the page of `vite build`.
if (import.meta.env.DEV) await import('tickwire/devtools')
