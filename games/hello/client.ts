import { connect, withBanner } from 'tickwire/browser'
import { game, Player } from './game.ts'

const canvas = document.querySelector('canvas')!.getContext('2d')!
const held = new Set<string>()
addEventListener('keydown', (event) => held.add(event.key))
addEventListener('keyup', (event) => held.delete(event.key))

const room = await withBanner(connect(game, location.origin))
room.play({
  input: () => ({
    left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
    up: held.has('ArrowUp'), down: held.has('ArrowDown'),
  }),
  draw(view) {
    canvas.clearRect(0, 0, 640, 360)
    for (const { x, y, hue } of view.each(Player)) {
      canvas.fillStyle = `hsl(${hue} 80% 60%)`
      canvas.fillRect(x - 8, y - 8, 16, 16)
    }
  },
})
