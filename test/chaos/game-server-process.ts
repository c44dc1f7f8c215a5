/** A game server of a chaos row: `game-server-process.ts FLEET_URL VERSION CAPACITY`. */

import { serveRooms } from 'tickwire/node'
import { game } from './game.ts'

// Only wall clock time: nothing else of a process can be off.
const offMs = Number(process.env['CLOCK_OFF_MS'] ?? 0)
const wallNow = Date.now
if (offMs !== 0) Date.now = () => wallNow() + offMs

const tracker = process.env['TRACKER']
const [url = '', version = '1', capacity = '8'] = process.argv.slice(2)
const serving = await serveRooms({ melee: { game, capacity: Number(capacity), resumeMs: 15_000 } }, {
  port: 0, address: '127.0.0.1', ops: false, udp: { port: 0 }, webrtc: false, webtransport: false, drainMs: 20_000,
  development: false, log: ({ level, message }) => { if (level === 'error') console.error(message) },
  fleet: { url, version }, origins: (process.env['ORIGINS'] ?? '').split(' '),
  ...(tracker !== undefined && { publish: { trackers: [tracker], game: 'melee', url: 'https://play.example/' } }),
})
process.on('message', (message: { readonly report?: number }) => {
  const room = serving.rooms.rooms[0] ?? serving.create('melee')
  for (let count = 0; count < (message.report ?? 0); count++)
    void serving.report(room, { count }).then(() => process.send?.({ stored: count }))
})
process.once('disconnect', () => process.exit(1))
process.send?.({ url: serving.url.replace('localhost', '127.0.0.1') })
