/** Tickwire's server of the end-to-end bench, as `serve` runs it. */

import { serve } from 'tickwire/node'
import { reportWhenAsked, TickWatch } from './server-report.ts'
import { e2eGame } from './tickwire-game.ts'
import { TICK_RATE } from './workload.ts'

// Without the checks of development mode. Set by the environment, because the older program has no such option.
process.env.NODE_ENV = 'production'

const [players, transport] = process.argv.slice(2) as [string, string]
const isUdp = transport === 'udp'
const watch = new TickWatch(TICK_RATE)
const serving = await serve(e2eGame(() => watch.tick()), {
  port: 0,
  address: '127.0.0.1',
  // A client whose answer was lost on a bad connection asks again, and its first seat is held for a while.
  maxPlayers: 2 * Number(players),
  webtransport: false,
  webrtc: false,
  ops: false,
})
let udpBytesOut = 0
const send = serving.ports.send.bind(serving.ports)
serving.ports.send = (to, bytes, length) => {
  if (isUdp) udpBytesOut += length
  send(to, bytes, length)
}
reportWhenAsked(watch, isUdp ? (serving.info.udp?.port ?? 0) : Number(new URL(serving.url).port), () => udpBytesOut)
