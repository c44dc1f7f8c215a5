/** A player without a screen: walks to the right for a second, and prints what it sees every tenth of a second. */

import { createClientHost } from 'tickwire/engine'
import { monotonicNow as now, openUdp, resolveUdp, systemEntropy } from 'tickwire/node'
import { game, Player } from '../../../../games/hello/game.ts'

const [number = '4000', walks = ''] = process.argv.slice(2)
const server = await resolveUdp('127.0.0.1', Number(number))
// #region loop
const port = await openUdp()
const host = createClientHost(game, {
  entropy: systemEntropy,
  onOpened: () => console.log(`in as player ${host.peer}`),
  onClosed: ({ code }) => {
    console.log(`it is over: ${code}`)
    process.exit()
  },
})
host.connect(now(), server)

let timer: NodeJS.Timeout | undefined
function pump(): void {
  host.tick(now())
  const wakeAt = host.drain(now(), port)
  clearTimeout(timer)
  timer = setTimeout(pump, Math.max(0, wakeAt - now()))
}
port.onDatagram = (from, bytes, length) => {
  host.handleDatagram(now(), from, bytes, length)
  pump()
}
pump()
// #endregion

let steps = 0
host.sampleInput = () => ({ right: walks === 'right' && ++steps <= 30 })
setInterval(() => {
  const seen = [...host.draw(now()).each(Player)].map(
    ({ owner, x, y }) => `${owner === host.peer ? 'me' : owner} ${x.toFixed(1)} ${y.toFixed(1)}`,
  )
  console.log(`tick ${host.serverTick}, rollbacks ${host.predictor?.rollbacks ?? 0}: ${seen.join(', ')}`)
}, 100)
process.once('SIGTERM', () => {
  host.close(now())
  pump()
})
