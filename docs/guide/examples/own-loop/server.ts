import { createMatchHost } from 'tickwire/engine'
import { monotonicNow as now, openUdp, systemEntropy } from 'tickwire/node'
import { game } from '../../../../games/hello/game.ts'

// #region loop
const port = await openUdp({ port: Number(process.env.PORT ?? 4000) })
const { rooms } = createMatchHost(game, {
  entropy: systemEntropy,
  onJoined: (peer) => console.log(`player ${peer.id} is here`),
  onLeft: (peer, reason) => console.log(`player ${peer.id} is gone: ${reason.code}`),
})

let timer: NodeJS.Timeout | undefined
function pump(): void {
  rooms.tick(now())
  const wakeAt = rooms.drain(now(), port)
  clearTimeout(timer)
  timer = setTimeout(pump, Math.max(0, wakeAt - now()))
}
port.onDatagram = (from, bytes, length) => {
  rooms.handleDatagram(now(), from, bytes, length)
  pump()
}
pump()
// #endregion

console.log(`listening on ${port.localAddress}`)
process.once('SIGTERM', () => {
  rooms.close(now())
  pump()
  setTimeout(() => process.exit(), 300)
})
