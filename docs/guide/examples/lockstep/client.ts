import { connect } from 'tickwire/browser'
import { local, relay } from 'tickwire/lockstep'
import { game, Move, Unit } from './game.ts'

const room = await connect(game, location.search === '?alone' ? local() : relay(location.origin))
const canvas = document.querySelector('canvas')!
const paper = canvas.getContext('2d')!

canvas.addEventListener('click', ({ offsetX, offsetY }) => {
  const own = [...room.world.seen(Unit)].filter(({ owner }) => owner === room.player)
  room.order(Move, { units: own.map(({ id }) => id), to: { x: offsetX / 2, y: offsetY / 2 } })
})
room.play({
  draw(world) {
    paper.clearRect(0, 0, 512, 512)
    for (const { at, owner } of world.seen(Unit)) {
      paper.fillStyle = `hsl(${owner * 47} 80% 60%)`
      paper.fillRect(2 * at.x - 5, 2 * at.y - 5, 10, 10)
    }
  },
})
