import { connect } from 'tickwire/browser'
import { Coin, game, Player } from './game.ts'

const canvas = document.querySelector('canvas')!.getContext('2d')!
const held = new Set<string>()
addEventListener('keydown', (event) => held.add(event.key))
addEventListener('keyup', (event) => held.delete(event.key))

const room = await connect(game, location.origin)
room.play({
  input: () => ({
    left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
    up: held.has('ArrowUp'), down: held.has('ArrowDown'),
  }),
  draw(view) {
    canvas.clearRect(0, 0, 640, 360)
    canvas.fillStyle = 'gold'
    for (const { x, y } of view.each(Coin)) canvas.fillRect(x - 4, y - 4, 8, 8)
    for (const { x, y, hue, coins, owner } of view.each(Player)) {
      canvas.fillStyle = `hsl(${hue} 80% 60%)`
      canvas.fillRect(x - 8, y - 8, 16, 16)
      canvas.fillText(owner === room.peer ? `you: ${coins}` : `${coins}`, x - 8, y - 12)
    }
  },
})
const { by, code } = await room.closed
document.querySelector('p')!.textContent = `The match is over (${by}: ${code}). Reload to play again.`
