/** Failures of game servers and of fleet services. */

import { signFleetRequest } from 'tickwire/node'
import type { ChaosRow } from './chaos-row.ts'
import { type ChaosStage, ended, roomsOf, sleep, until } from './chaos-stage.ts'
import { game } from './game.ts'
import { percentile, type Players } from './players.ts'

const fingerprint = Buffer.from(game.fingerprint).toString('hex')
const BACK_MS = 11_000
/** The time after which a client takes its server for lost. */
const FROZEN_MS = 10_000
const SEAT_MS = 3000

/** Asks for a seat, as a client does. Returns how long that took, and the status. */
export async function askSeat(
  fleet: string, deadlineMs = SEAT_MS,
): Promise<{ readonly ms: number; readonly status: number; readonly room: string }> {
  const startedAt = performance.now()
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')
  try {
    const response = await fetch(`${fleet}/rooms/quick`, {
      method: 'POST', body: JSON.stringify({ id, fingerprint, deadlineMs }), signal: AbortSignal.timeout(deadlineMs),
      headers: { 'content-type': 'application/json' },
    })
    const { room = '' } = await response.json() as { room?: string }
    return { ms: performance.now() - startedAt, status: response.status, room }
  } catch {
    return { ms: performance.now() - startedAt, status: 0, room: '' }
  }
}

/** Two game servers with a match of eight each. */
export async function twoMatches(stage: ChaosStage, fleet: string): Promise<Players> {
  await stage.server(fleet)
  await stage.server(fleet)
  const players = await stage.players(fleet, 16, 40)
  await until(() => players.playing === 16, `16 players play: ${players.lost}`)
  return players
}

const fleetKilled: ChaosRow = {
  name: 'fleet-killed',
  what: 'kill -9 of the fleet service, and a restart after 3 s',
  bars: { lost_matches: 0, listed_again_ms: BACK_MS, failed_joins_after: 0 },
  async run(stage) {
    const fleet = await stage.fleet()
    const players = await twoMatches(stage, fleet.url)
    fleet.child.kill('SIGKILL')
    await sleep(3000)
    const again = await stage.fleet([], fleet.port)
    const listed = await until(async () => (await roomsOf(again.url)).rooms.length === 2, 'both rooms are listed')
    const joined = await askSeat(again.url)
    return {
      lost_matches: players.lostCount, listed_again_ms: listed, failed_joins_after: Number(joined.status !== 200),
    }
  },
}

const serverKilled: ChaosRow = {
  name: 'game-server-killed',
  what: 'kill -9 of one of two game servers: its matches end, the others do not notice',
  bars: { lost_elsewhere: 0, playing_again_ms: 30_000, gone_from_list_ms: BACK_MS },
  async run(stage) {
    const fleet = await stage.fleet()
    const first = await stage.server(fleet.url)
    await stage.server(fleet.url)
    const players = await stage.players(fleet.url, 16, 40)
    await until(() => players.playing === 16, '16 players play')
    const dead = await (await fetch(`${first.url}/tickwire/rooms`)).json() as { id: string; players: number }[]
    const deadPlayers = dead.reduce((sum, each) => sum + each.players, 0)
    first.child.kill('SIGKILL')
    const gone = await until(async () => {
      const ids = (await roomsOf(fleet.url)).rooms.map(({ id }) => id)
      return dead.every(({ id }) => !ids.includes(id))
    }, 'the rooms of the dead server are gone')
    const playing = await until(
      () => players.playing === 16 && players.lostCount >= deadPlayers, 'all play again',
    )
    return {
      lost_elsewhere: Math.max(0, players.lostCount - deadPlayers), playing_again_ms: gone + playing,
      gone_from_list_ms: gone,
    }
  },
}

const serverFrozen: ChaosRow = {
  name: 'game-server-frozen',
  what: 'one of two game servers stands still for 10 s (SIGSTOP) and continues: its players come back to their match',
  bars: {
      second_rooms: 0, listed_again_ms: BACK_MS, lost_matches: 0, playing_again_ms: 5000, seat_ms_p99: 3100,
      failed_seats: 0,
    },
  async run(stage) {
    const fleet = await stage.fleet()
    const first = await stage.server(fleet.url, '2')
    await stage.server(fleet.url, '1')
    const players = await stage.players(fleet.url, 8, 40)
    await until(() => players.playing === 8, '8 players play')
    const before = (await roomsOf(fleet.url)).rooms.map(({ id }) => id)
    first.child.kill('SIGSTOP')
    const asked: Awaited<ReturnType<typeof askSeat>>[] = []
    const thawAt = performance.now() + FROZEN_MS
    // Each request has its answer before the thaw: a room that opens after it was reserved too late.
    for (; performance.now() + SEAT_MS < thawAt; await sleep(400)) asked.push(await askSeat(fleet.url, SEAT_MS))
    await sleep(thawAt - performance.now())
    first.child.kill('SIGCONT')
    const listed = await until(async () => {
      const ids = (await roomsOf(fleet.url)).rooms.map(({ id }) => id)
      return before.every((id) => ids.includes(id))
    }, 'its room is listed again')
    const playing = await until(() => players.playing === 8, 'its players play again')
    await sleep(1000)
    // A late reservation would have opened a room there.
    const there = await (await fetch(`${first.url}/tickwire/rooms`)).json() as { id: string }[]
    const strange = there.filter(({ id }) => !before.includes(id))
    const ids = (await roomsOf(fleet.url)).rooms.map(({ id }) => id)
    return {
      second_rooms: strange.length + ids.length - new Set(ids).size, listed_again_ms: listed,
      lost_matches: players.lostCount, playing_again_ms: listed + playing,
      seat_ms_p99: percentile(asked.map(({ ms }) => ms), 0.99),
      failed_seats: asked.filter(({ status }) => status !== 200).length,
    }
  },
}

const clockOff: ChaosRow = {
  name: 'clock-off',
  what: 'the clocks of two game servers are a minute ahead and a minute behind',
  bars: { failed_joins: 0, lost_matches: 0 },
  async run(stage) {
    const fleet = await stage.fleet()
    await stage.server(fleet.url, '1', 8, { CLOCK_OFF_MS: '60000' })
    await stage.server(fleet.url, '1', 8, { CLOCK_OFF_MS: '-60000' })
    const players = await stage.players(fleet.url, 16, 40)
    await until(() => players.playing + players.failed === 16, 'all have joined')
    return { failed_joins: players.failed, lost_matches: players.lostCount }
  },
}

const resultsKilled: ChaosRow = {
  name: 'results-killed',
  what: 'kill -9 of the fleet service, three times, while results of matches are stored',
  bars: { acknowledged_lost: 0, counted_twice: 0, not_stored: 0 },
  async run(stage) {
    const options = ['--records', `${stage.folder}/results.sqlite`]
    let fleet = await stage.fleet(options)
    const server = await stage.server(fleet.url)
    const stored = new Set<number>()
    server.child.on('message', (message) => stored.add((message as { stored: number }).stored))
    server.child.send({ report: 300 })
    for (let kill = 0; kill < 3; kill++) {
      const before = stored.size
      await until(() => stored.size > before + 20, 'some results are stored')
      fleet.child.kill('SIGKILL')
      await ended(fleet.child)
      fleet = await stage.fleet(options, fleet.port)
    }
    await until(() => stored.size === 300, 'all results are acknowledged')
    const { results } = await (await fetch(`${fleet.url}/results?limit=500`, {
      headers: signFleetRequest(undefined, '/results?limit=500', ''),
    })).json() as { results: { text: string }[] }
    const counts = results.map(({ text }) => (JSON.parse(text) as { count: number }).count)
    return {
      acknowledged_lost: [...stored].filter((count) => !counts.includes(count)).length,
      counted_twice: counts.length - new Set(counts).size, not_stored: 300 - new Set(counts).size,
    }
  },
}

const rollingDeploy: ChaosRow = {
  name: 'rolling-deploy-of-game-servers',
  what: 'every game server is replaced by a new version while its matches run',
  bars: { lost_matches: 0, failed_joins: 0, gap_ms_p99: 2000, not_moved: 0 },
  async run(stage, isLong) {
    const fleet = await stage.fleet()
    const count = isLong ? 4 : 2
    const servers = []
    for (let index = 0; index < count; index++) servers.push(await stage.server(fleet.url))
    const players = await stage.players(fleet.url, count * 8, 40)
    await until(() => players.playing === count * 8, 'all play')
    for (const old of servers) {
      await stage.server(fleet.url, '2')
      old.child.kill('SIGTERM')
      await ended(old.child)
      await until(() => players.playing === count * 8, 'all play again')
    }
    await sleep(1000)
    return {
      lost_matches: players.lostCount, failed_joins: players.failed, gap_ms_p99: players.gap(0.99),
      not_moved: Math.max(0, count * 8 - players.backs),
    }
  },
}

export const FLEET_ROWS: readonly ChaosRow[] = [
  fleetKilled, serverKilled, serverFrozen, clockOff, resultsKilled, rollingDeploy,
]
