/** Matchmaking and results of matches in a fleet. */

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { connect, findMatch, fleet, type JsonAnswer, requestJson } from 'tickwire/node'
import { serveFleet, skillWindow, type Ticket } from '../../packages/services/src/index.ts'
import { MemoryLeases } from '../../packages/services/src/store/memory-leases.ts'
import { openRecords } from '../../packages/services/src/store/open-store.ts'
import { game, Stage, until, urlOf } from './fleet-stage.ts'

let stage = new Stage()
afterEach(async () => {
  await stage.close()
  stage = new Stage()
})

const fingerprint = Buffer.from(game.fingerprint).toString('hex')
const idOf = (digit: string): string => digit.repeat(32)
const ticket = (id: string, skill: number, waitedMs = 0, party = 1): Ticket =>
  ({ id, type: 'melee', skill, party, attributes: {}, waitedMs })

test('[FLEET9] players of similar skill play together; the window grows, and then a group may be small', () => {
  const propose = skillWindow({ window: 50, growthPerSecond: 25, patienceMs: 20_000 })
  const groups = (tickets: readonly Ticket[]): string[] =>
    propose(tickets, 2).map((group) => group.tickets.toSorted().join())
  expect(groups([ticket('a', 1000), ticket('b', 1200), ticket('c', 1010), ticket('d', 1220)])).toEqual(['a,c', 'b,d'])
  expect(groups([ticket('a', 1000), ticket('b', 1200)])).toEqual([])
  expect(groups([ticket('a', 1000, 8000), ticket('b', 1200, 8000)])).toEqual(['a,b'])
  expect(groups([ticket('a', 1000, 0, 2), ticket('b', 1000)])).toEqual(['a'])
  expect(skillWindow({ patienceMs: 1000 })([ticket('a', 1, 2000), ticket('b', 2)], 4).length).toBe(1)
})

test('[FLEET9] players that look for a match get a new room of their own; a party stays together', async () => {
  const at = await stage.fleet()
  const server = await stage.server(at)
  const looking = [
    findMatch(game, urlOf(at), { skill: 10, party: 2 }), findMatch(game, urlOf(at), { skill: 12 }),
    findMatch(game, urlOf(at), { skill: 11 }), findMatch(game, urlOf(at), { skill: 900, timeoutMs: 1500 }),
  ] as const
  const alone = looking[3].then(() => 'found', (error: Error) => error.message)
  const seats = (await Promise.all(looking.slice(0, 3))).flat()
  expect(new Set(seats.map(({ room }) => room)).size).toBe(1)
  expect(seats.length).toBe(4)
  const rooms = await Promise.all(seats.map((seat) => connect(game, fleet(urlOf(at), seat))))
  await until(() => server.rooms.players === 4)
  // No other player comes into it.
  const other = await stage.join(at)
  expect(other.id).not.toBe(rooms[0]!.id)
  expect(await alone).toContain('no match was found in time')
  for (const room of rooms) room.leave()
})

test('[FLEET9] one instance leads, with a growing number; requests of an earlier leader are refused', async () => {
  const leases = new MemoryLeases()
  const [one, two] = [await stage.fleet({ leases }), await stage.fleet({ leases })]
  const server = await stage.server(one)
  await until(() => one.leads + two.leads > 0)
  expect([one.leads, two.leads].filter((number) => number > 0).length).toBe(1)
  const [leader, next] = one.leads > 0 ? [one, two] : [two, one]
  const before = leader.leads
  await until(() => one.servers.all.length === 1 && two.servers.all.length === 1)
  await Promise.all([findMatch(game, urlOf(one), { party: 2 }), findMatch(game, urlOf(two), { party: 2 })])
  await leader.close()
  await until(() => next.leads > before)
  await findMatch(game, urlOf(next), { party: 4 })
  const body = {
    id: 'old', tokens: ['x'], fingerprint: Buffer.from(game.fingerprint).toString('hex'), deadlineMs: 1000,
    leader: before,
  }
  const answer = await fetch(`http://127.0.0.1:${new URL(server.url).port}/tickwire/fleet/reserve`, {
    method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' },
  })
  expect(await answer.json()).toEqual({ refused: 'old-leader' })
})

test('[FLEET3] the tickets of an origin count once, and again after they grew or were cancelled', async () => {
  const at = await stage.fleet({ secret: 'a secret of the fleet', seatsPerOrigin: 8, propose: () => [] })
  await stage.server(at, { secret: 'a secret of the fleet', capacity: 16 })
  const ask = async (ticketId: string, party: number): Promise<number> => {
    const text = JSON.stringify({ id: idOf(ticketId), fingerprint, waitMs: 0, party })
    return (await requestJson(`${urlOf(at)}/match/tickets`, { method: 'POST', text, ms: 5000 })).status
  }
  expect([await ask('1', 1), await ask('1', 1), await ask('1', 16), await ask('1', 6)]).toEqual([202, 202, 429, 202])
  expect([await ask('2', 2), await ask('3', 1), await ask('1', 6)]).toEqual([202, 429, 202])
  await requestJson(`${urlOf(at)}/match/tickets/${idOf('2')}`, { method: 'DELETE', ms: 5000 })
  expect(await ask('2', 2)).toBe(429)
})

test('[FLEET3] a ticket that got its seats counts again when it asks for others', async () => {
  let passedMs = 0
  const leases = new MemoryLeases({ now: () => performance.now() + passedMs })
  const at = await stage.fleet({
    secret: 'a secret of the fleet', seatsPerOrigin: 3, leases,
    propose: (tickets) => tickets.map(({ id }) => ({ tickets: [id] })),
  })
  await stage.server(at, { secret: 'a secret of the fleet' })
  const ask = async (party: number): Promise<number> => (await requestJson(`${urlOf(at)}/match/tickets`, {
    method: 'POST', ms: 15_000, text: JSON.stringify({ id: idOf('4'), fingerprint, waitMs: 10_000, party }),
  })).status
  expect([await ask(2), await ask(2)]).toEqual([200, 200])
  // The seats of the ticket are forgotten after 30 s.
  passedMs = 31_000
  expect(await ask(2)).toBe(429)
})

test('[FLEET9] a `propose` that throws, repeats a ticket or invents one does no harm', async () => {
  let calls = 0
  const at = await stage.fleet({
    propose(tickets) {
      calls++
      const [{ id }] = tickets as [Ticket]
      if (calls === 1) throw new Error('a bug of the game')
      if (calls === 2) return [{ tickets: ['f'.repeat(32)] }, { tickets: [id, id] }]
      return [{ tickets: [id], metadata: { map: 'dust' } }]
    },
  })
  const server = await stage.server(at)
  const [seat] = await findMatch(game, urlOf(at))
  expect(server.rooms.room(seat!.room)?.metadata).toEqual({ map: 'dust' })
})

test('[FLEET10] I20: a result is signed, stored once, sent until it is stored, and there after a restart', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tickwire-fleet-')), 'results.sqlite')
  let records = await openRecords(file)
  const at = await stage.fleet({ records })
  const server = await stage.server(at)
  const room = server.create('melee')
  try {
    await server.report(room, { winner: 'ada', frags: 12 })
    // The fleet is away: the result waits on the server.
    await at.close()
    await records.close()
    let isStored = false
    const late = server.report(room, { winner: 'bob' }).then(() => { isStored = true })
    await new Promise((resolve) => { setTimeout(resolve, 300) })
    expect(isStored).toBe(false)
    records = await openRecords(file)
    const again = await serveFleet({ port: at.port, address: '127.0.0.1', records })
    await late
    const ask = async (method: string, body?: object): Promise<JsonAnswer> =>
      await requestJson(`${urlOf(again)}/results`, { method, ms: 5000, ...(body && { text: JSON.stringify(body) }) })
    const stored = async (): Promise<{ text: string; number: number }[]> =>
      ((await ask('GET')).body as { results: { text: string; number: number }[] }).results
    const [{ number: _number, ...sent } = expect.fail('nothing is stored')] = await stored()
    for (let count = 0; count < 20; count++)
      expect(await ask('POST', sent)).toEqual({ status: 200, body: { stored: false } })
    const forged = { ...sent, text: '{"winner":"eve"}', id: '0'.repeat(32) }
    expect(await ask('POST', forged)).toMatchObject({ status: 400, body: { error: { code: 'signature' } } })
    expect((await stored()).map(({ text }) => text)).toEqual(['{"winner":"ada","frags":12}', '{"winner":"bob"}'])
    await again.close()
  } finally {
    await records.close()
  }
})

test('[FLEET10] a server that ends drops the results that wait, but not the one on its way', async () => {
  const at = await stage.fleet()
  const events: string[] = []
  const server = await stage.server(at, { log: ({ event, facts }) => events.push(`${event} ${facts?.['count']}`) })
  const room = server.create('melee')
  const stored = server.report(room, { winner: 'ada' })
  await Promise.all([stored, server.close()])
  expect(await stored).toBe('stored')
  const other = await stage.server(at, { log: ({ event, facts }) => events.push(`${event} ${facts?.['count']}`) })
  await at.close()
  const late = [1, 2, 3].map(async (winner) => await other.report(other.create('melee'), { winner }))
  await other.close()
  expect(await Promise.all(late)).toEqual(['dropped', 'dropped', 'dropped'])
  expect(await other.report(room, { winner: 'bob' })).toBe('dropped')
  expect(events.filter((event) => event.startsWith('results-dropped'))).toEqual(['results-dropped 3'])
})
