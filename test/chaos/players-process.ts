/**
 * Players of a chaos row: `players-process.ts FLEET_URL COUNT PER_SECOND`. They join by UDP at a steady rate, and say
 * what happened to their matches four times a second. With the environment variable MATCHED, the matchmaker groups
 * them; with TIMED, each reserves its seat first, and says how long that took.
 *
 * A match is lost for a player that gets another seat than its own, that is closed, or whose world began anew.
 */

import { connect, findMatch, findSeats, fleet, type Room } from 'tickwire/node'
import { game, Walker } from './game.ts'
import type { PlayersReport } from './players.ts'

const [url = '', count = '10', perSecond = '10'] = process.argv.slice(2)
const rooms: (Room | undefined)[] = []
const { MATCHED, TIMED } = process.env
const [isMatched, isTimed] = [MATCHED !== undefined, TIMED !== undefined]
const joinMs: number[] = []
const seatMs: number[] = []
const gapsMs: number[] = []
const lost: { [why: string]: number } = {}
let failed = 0
let backs = 0
let open = 0
let isEnding = false

async function play(index: number): Promise<void> {
  const startedAt = performance.now()
  try {
    const [seat] = isMatched ? await findMatch(game, url, { timeoutMs: 120_000 })
      : isTimed ? await findSeats(game, url) : []
    if (isTimed) seatMs.push(performance.now() - startedAt)
    const room = await connect(game, fleet(url, seat), { transport: 'udp', development: false, retryMs: 20_000 })
    joinMs.push(performance.now() - startedAt)
    rooms[index] = room
    if (room.security.identity !== 'verified' || room.security.suite === '' || room.transport !== 'udp') open++
    watch(room)
  } catch (error) {
    failed++
    console.error(String(error))
  }
}

function watch(room: Room): void {
  const lose = (why: string): void => {
    if (!isEnding) lost[why] = (lost[why] ?? 0) + 1
  }
  let steps = 0
  let tick = room.view.tick
  let changedAt = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - changedAt)
    if (room.view.tick !== tick) [tick, changedAt] = [room.view.tick, now]
    const own = [...room.view.each(Walker)].find(({ owner }) => owner === room.peer)?.steps ?? steps
    // A prediction may go back by some ticks. A world that began anew has few.
    if (own + 50 < steps) lose('world began anew')
    steps = own
  }, 50)
  room.onAway(() => { longest = 0 })
  room.onBack((seat) => {
    backs++
    if (seat === 'new') {
      lose('another seat')
      // The world of this seat is another one: its ticks are not those of a match that began anew.
      steps = 0
    }
    setTimeout(() => gapsMs.push(longest), 500)
  })
  void room.closed.then(({ code }) => {
    clearInterval(timer)
    lose(`closed: ${code}`)
  })
}

setInterval(() => {
  const playing = rooms.filter((room) => room !== undefined && !room.isAway).length
  process.send?.({ playing, failed, backs, open, lost, joinMs, seatMs, gapsMs } satisfies PlayersReport)
}, 250)
process.on('message', () => {
  isEnding = true
  for (const room of rooms) room?.leave()
  setTimeout(() => process.exit(0), 300)
})
process.once('disconnect', () => process.exit(1))
const startedAt = performance.now()
for (let index = 0; index < Number(count); index++) {
  await new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, startedAt + index * 1000 / Number(perSecond) - performance.now()))
  })
  void play(index)
}
