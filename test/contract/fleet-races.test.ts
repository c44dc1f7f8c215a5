/** Attacks on the seats of a fleet: processes that end at the wrong moment, and clients that ask for too much. */

import { afterEach, expect, test } from 'vitest'
import { connect, findMatch, findSeats, fleet, signFleetRequest } from 'tickwire/node'
import { ChaosStage } from '../chaos/chaos-stage.ts'
import { game as walkers } from '../chaos/game.ts'
import { game, Stage, steps, until, urlOf } from './fleet-stage.ts'

let stage = new Stage()
let chaos = new ChaosStage()
afterEach(async () => {
  await stage.close()
  await chaos.close()
  stage = new Stage()
  chaos = new ChaosStage()
})

const sleep = async (ms: number): Promise<void> => await new Promise((resolve) => { setTimeout(resolve, ms) })

test('[FLEET2] kill -9 between reservation and seat: a party is not scattered, and others get seats', async () => {
  const at = await chaos.fleet()
  await chaos.server(at.url, '1')
  const newest = await chaos.server(at.url, '2')
  const party = await findSeats(walkers, at.url, { party: 2 })
  expect(party.map(({ url }) => new URL(url).port)).toEqual([newest.url, newest.url].map((url) => new URL(url).port))
  newest.child.kill('SIGKILL')
  const join = async (seat?: typeof party[0]) =>
    await connect(walkers, fleet(at.url, seat), { transport: 'udp', development: false, retryMs: 3000 })
  const [first, second, other] = await Promise.all([
    join(party[0]).then(() => 'joined', (error: { code: string }) => error.code),
    join(party[1]).then(() => 'joined', (error: { code: string }) => error.code), join(),
  ])
  // Each of the party learns that its room is gone. A client without a seat is sent to the server that is left.
  for (const code of [first, second]) expect(['unreachable', 'no-room', 'timed-out']).toContain(code)
  expect(other.view.tick).toBeGreaterThanOrEqual(0)
  other.leave()
}, 60_000)

test('[FLEET7] a server that is drained waits for the clients of its seats, and moves them together', async () => {
  const at = await stage.fleet()
  const first = await stage.server(at)
  const party = await findSeats(game, urlOf(at), { party: 2 })
  const one = await connect(game, fleet(urlOf(at), party[0]), { transport: 'udp' })
  const second = await stage.server(at)
  const drained = first.drain(6000)
  await sleep(400)
  const two = await connect(game, fleet(urlOf(at), party[1]), { transport: 'udp' })
  expect([one.id, two.id]).toEqual([party[0]!.room, party[0]!.room])
  await drained
  await until(() => second.rooms.players === 2 && !one.isAway && !two.isAway)
  expect(second.rooms.rooms.map(({ id }) => id)).toEqual([party[0]!.room])
  const before = [steps(one), steps(two)]
  await until(() => steps(one) > before[0]! + 5 && steps(two) > before[1]! + 5)
  one.leave()
  two.leave()
}, 60_000)

test('[FLEET9] players that wait for a match go on waiting while the fleet service is replaced', async () => {
  const at = await stage.fleet()
  const server = await stage.server(at)
  const early = findMatch(game, urlOf(at), { party: 2 })
  await until(() => at.leads > 0)
  await sleep(300)
  await at.close()
  await sleep(1500)
  const again = await stage.fleet({ port: at.port })
  await until(() => again.servers.all.length === 1 && server.isListed)
  const late = findMatch(game, urlOf(again), { party: 2 })
  const rooms = (await Promise.all([early, late])).flat().map(({ room }) => room)
  expect([rooms.length, new Set(rooms).size]).toEqual([4, 1])
  await expect(findMatch(game, urlOf(again), { party: 5 })).rejects.toMatchObject({ code: 'full' })
}, 60_000)

test('[FLEET10] a result that can never be stored is refused, and the next ones are stored', async () => {
  const at = await stage.fleet()
  const server = await stage.server(at)
  const room = server.create('melee')
  const answers = await Promise.all([
    server.report(room, { text: 'x'.repeat(40_000) }), server.report(room, { text: '"'.repeat(16_350) }),
    server.report(room, { text: '€'.repeat(32_000) }), server.report(room, { text: '"'.repeat(16_000) }),
    server.report(room, { winner: 'ada' }),
  ])
  expect(answers).toEqual(['refused', 'refused', 'refused', 'stored', 'stored'])
  const { results } = await (await fetch(`${urlOf(at)}/results`)).json() as { results: unknown[] }
  expect(results.length).toBe(2)
}, 60_000)

test('[FLEET3] an origin that only reserves keeps no fleet full; the fleet itself has no such limit', async () => {
  const secret = 'a secret of the fleet'
  const at = await stage.fleet({ secret, seatsPerOrigin: 6 })
  const server = await stage.server(at, { secret, capacity: 4 })
  const fingerprint = Buffer.from(game.fingerprint).toString('hex')
  const path = '/rooms/quick'
  const ask = async (index: number, isSigned = false): Promise<number> => {
    const body = JSON.stringify({ id: index.toString(16).padStart(32, '0'), fingerprint, deadlineMs: 2000, party: 2 })
    const { status } = await fetch(`${urlOf(at)}${path}`, {
      method: 'POST', body,
      headers: { 'content-type': 'application/json', ...(isSigned && signFleetRequest(secret, path, body)) },
    })
    return status
  }
  const statuses: number[] = []
  for (const index of [1, 2, 3, 4, 5]) statuses.push(await ask(index))
  expect(statuses).toEqual([200, 200, 200, 429, 429])
  expect(server.rooms.reservations.count).toBe(6)
  // The same request again reserves nothing. A backend asks for many players.
  expect([await ask(3), await ask(6, true), await ask(7)]).toEqual([200, 200, 429])
  await expect(findMatch(game, urlOf(at), { party: 2, timeoutMs: 500 })).rejects.toMatchObject({ code: 'unreachable' })
}, 60_000)
