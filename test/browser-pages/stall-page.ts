/**
 * A page whose main thread is blocked at random, for up to 60 ms, while its player throws stones; it counts what it is
 * shown.
 */

import { connect } from 'tickwire/browser'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { game, Stone } from './stall-game.ts'

const STALL_MS_MAX = 60
const CALM_MS_MAX = 160

const dice = new Prng(7)
const room = await connect(game, location.origin, { transports: ['websocket'], keepSeat: false })
const seen = { isThrowing: false, spawns: 0, despawns: 0, twice: 0, doubled: 0, stalls: 0, refuted: 0, resyncs: 0 }
const spawnsOf = new Map<number, number>()

room.view.on('spawn', Stone, ({ born }) => {
  const count = (spawnsOf.get(born) ?? 0) + 1
  spawnsOf.set(born, count)
  seen.spawns++
  if (count === 2) seen.twice++
})
room.view.on('despawn', Stone, () => { seen.despawns++ })
room.play({
  input: () => ({ throw: seen.isThrowing }),
  draw(view) {
    const born = [...view.each(Stone)].map((stone) => stone.born)
    if (new Set(born).size < born.length) seen.doubled++
    const { predictor } = room.tools.host
    seen.refuted = predictor?.spawnsRefuted ?? 0
    seen.resyncs = room.tools.host.clock.ticks.resyncs
  },
})

function stall(): void {
  const until = performance.now() + STALL_MS_MAX * dice.nextFloat()
  while (performance.now() < until);
  seen.stalls++
  setTimeout(stall, CALM_MS_MAX * dice.nextFloat())
}
stall()

Object.assign(window, { seen })
