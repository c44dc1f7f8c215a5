/** A server that learns, for learning.test.ts: a folder, and how many milliseconds it listens. Says where it is, what it logs, and by which tables its players are told. */

import { angle, bool, defineGame, entity, fixed, math, u8 } from 'tickwire'
import { serve } from 'tickwire/node'

const TICK_RATE = 60
const Boat = entity({ x: fixed(-500, 500, 0.01), y: fixed(-500, 500, 0.01), heading: angle(12), hp: u8 }, { name: 'Boat' })

const game = defineGame({
  tickRate: TICK_RATE, input: { idle: bool }, entities: [Boat],
  step(world) {
    if ([...world.each(Boat)].length === 0) for (let count = 0; count < 12; count++) world.spawn(Boat, { x: 20 * count, heading: count, hp: 100 })
    for (const boat of world.each(Boat)) {
      boat.heading += 0.01 + math.sin(world.tick / 30 + boat.x) * 0.01
      boat.x += math.cos(boat.heading) * 0.1
      boat.y += math.sin(boat.heading) * 0.1
    }
  },
})

const [folder = '', windowMs = ''] = process.argv.slice(2)
const serving = await serve(game, {
  port: 0, webrtc: false, webtransport: false, udp: false, learn: { folder, windowMs: Number(windowMs) }, log: ({ level, event, message }) => console.log(`${level} ${event}: ${message}`),
})
console.log(`at ${serving.url}`)
let told = ''
setInterval(() => {
  const { members, retraining } = serving.host
  const versions = [...members].map(({ id }) => retraining.versionOf(id)).join()
  if (versions !== told) console.log(`versions ${versions}.`)
  told = versions
}, 50)
