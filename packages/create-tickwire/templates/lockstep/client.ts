import { connect } from 'tickwire/browser'
import { relay } from 'tickwire/lockstep'
import { game, Move, SIZE, Unit } from './game.ts'

const SCALE = 2
const canvas = document.querySelector('canvas')!
canvas.width = canvas.height = SIZE * SCALE
const paper = canvas.getContext('2d')!
/** Where the player clicked last: drawn at once, although the units go when the tick of the order runs. */
let marker: { x: number; y: number } | undefined

const room = await connect(game, relay(location.origin))
canvas.addEventListener('click', ({ offsetX, offsetY }) => {
  marker = { x: offsetX / SCALE, y: offsetY / SCALE }
  const own = [...room.world.seen(Unit)].filter(({ owner }) => owner === room.player)
  room.order(Move, { units: own.map(({ id }) => id), to: marker })
})
room.play({
  draw(world) {
    paper.clearRect(0, 0, canvas.width, canvas.height)
    for (const { at, owner } of world.seen(Unit)) {
      paper.fillStyle = `hsl(${owner * 47} 80% 60%)`
      paper.fillRect(SCALE * at.x - 5, SCALE * at.y - 5, 10, 10)
    }
    if (marker !== undefined) {
      paper.strokeStyle = 'white'
      paper.strokeRect(SCALE * marker.x - 6, SCALE * marker.y - 6, 12, 12)
    }
  },
})
