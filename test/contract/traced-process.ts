/**
 * One program of a traced join, in a process of its own. Its arguments:
 *
 *   host RENDEZVOUS                     hosts a match under a code
 *   server FLEET                        a game server of a fleet
 *   player RENDEZVOUS CODE              joins by the code
 *   player FLEET                        joins the fleet, after a look at the list of a tracker
 */

import { connect, fleet, host, jsonLines, serveRooms, type Room } from 'tickwire/node'
import { openTraces } from '../../packages/services/src/index.ts'
import { game } from '../../games/hello/game.ts'

const [role = '', url = '', code] = process.argv.slice(2)
const traces = openTraces({ service: role })
if (traces === undefined) throw new Error('no address for traces')
const { tracer } = traces
const quiet = { port: 0, address: '127.0.0.1', ops: false, signals: false, development: false, tracer } as const

if (role === 'host') {
  const hosted = await host(game, { rendezvous: url, ...quiet, log: jsonLines() })
  console.log(`code ${hosted.code}`)
} else if (role === 'server') {
  await serveRooms({ hello: { game } }, {
    ...quiet, log: jsonLines(), udp: false, webrtc: false, webtransport: false, fleet: { url },
  })
  console.log('ready')
} else {
  const click = tracer.start('click on Join', undefined)
  const { traceparent } = click
  const traced = { tracer, ...(traceparent !== undefined && { traceparent }), development: false }
  const room = await (code === undefined
    ? connect(game, fleet(url), traced) : connect(game, code, { rendezvous: url, ...traced })) as unknown as Room
  while (room.view.tick < 1) await new Promise((resolve) => { setTimeout(resolve, 10) })
  click.end()
  console.log(`playing ${traceparent}`)
  await new Promise((resolve) => { setTimeout(resolve, 500) })
  await traces.close()
  process.exit(0)
}
