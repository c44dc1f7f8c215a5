/**
 * One side of a match of a row with codes or listings. Its arguments:
 *
 *   host RENDEZVOUS PATH                 hosts under a code; PATH is `race` or `relay-only`
 *   listed TRACKER…                      serves a match that is in the lists of these trackers
 *   guests COUNT WHERE [RENDEZVOUS PATH] joins COUNT times, by a code or an address
 */

import type { Match } from 'tickwire'
import { connect, host, serve, type Room } from 'tickwire/node'
import { Count, game } from './code-game.ts'
import type { GuestsReport } from './code-players.ts'

const SERVE = {
  port: 0, address: '127.0.0.1', ops: false, webrtc: false, webtransport: false, development: false,
  log: ({ level, message }: { level: string; message: string }) => { if (level === 'error') console.error(message) },
} as const
const COUNT_MS = 50
const [role = '', ...args] = process.argv.slice(2)

function countAloud(match: () => Match): void {
  let count = 0
  setInterval(() => match().broadcast(Count, { count: ++count }), COUNT_MS)
}

if (role === 'host') {
  const [rendezvous = '', path] = args
  const hosted = await host(game, { ...SERVE, rendezvous, path: path === 'relay-only' ? path : 'race' })
  countAloud(() => hosted.serving.host)
  hosted.onCode = (code) => process.send?.({ where: code })
  process.send?.({ where: hosted.code })
} else if (role === 'listed') {
  const serving = await serve(game, { ...SERVE, udp: { port: 0 }, publish: args })
  countAloud(() => serving.host)
  process.send?.({ where: serving.url.replace('localhost', '127.0.0.1') })
} else {
  const [count = '1', where = '', rendezvous, path] = args
  const joined = Array.from({ length: Number(count) }, async () => await connect(game, where, {
    development: false, retryMs: 0,
    ...(rendezvous !== undefined && { rendezvous, path: path === 'relay-only' ? path : 'race' }),
  }))
  const rooms: Room[] = []
  const report = { playing: 0, failed: 0, closed: 0, backs: 0, lostMessages: 0, gapsMs: [] as number[] }
  for (const joining of joined) {
    joining.then((room) => {
      rooms.push(room as unknown as Room)
      watch(room as unknown as Room, rooms.length - 1)
    }, (error: unknown) => {
      report.failed++
      console.error(String(error))
    })
  }
  const watch = (room: Room, at: number): void => {
    let [last, arrivedAt] = [0, performance.now()]
    report.gapsMs[at] = 0
    room.on(Count, ({ count: next }) => {
      // A client that resumes gets no messages of the time before, which is a loss here.
      if (last !== 0) report.lostMessages += next - last - 1
      const now = performance.now()
      report.gapsMs[at] = Math.max(report.gapsMs[at] ?? 0, now - arrivedAt)
      ;[last, arrivedAt] = [next, now]
    })
    // Silence alone is no loss: the connection is the same one.
    const { connection } = room.tools
    room.onBack(() => { if (room.tools.connection !== connection) report.backs++ })
    void room.closed.then(() => { report.closed++ })
  }
  process.on('message', () => report.gapsMs.fill(0))
  setInterval(() => {
    report.playing = rooms.filter((room) => !room.isAway).length - report.closed
    process.send?.(report satisfies GuestsReport)
  }, 100)
}
