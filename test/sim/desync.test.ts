/** Desyncs in simulated matches: detected, named with both values and the line of code, and healed. */

import { expect, test } from 'vitest'
import { GameReferee, RANKED_RELAY, type DesyncFinding } from 'tickwire/lockstep'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, makeLockstepGame, Move, Spawn, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyClient } from './lockstep-party.ts'

const LINE = { latencyMs: 25, jitterMs: 5, loss: 0.01 }

function match(clients: number, options: object = {}): LockstepParty {
  const party = new LockstepParty({ game: game as never, seed: 41, clients, weather: () => LINE, ...options })
  party.run(1000)
  for (let at = 0; at < 20; at++) {
    party.run(100)
    const { now } = party.clock
    party.clients[at % clients]!.order(now, Spawn as never, { count: 2 })
    const { runner, player } = party.clients[at % clients]!.client
    const units = [...runner!.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id)
    party.clients[at % clients]!.order(now, Move as never, { units, to: { x: 10 * at, y: 200 } })
  }
  return party
}

/** Changes one number of one unit, as a bad memory cell would. */
function corrupt({ client }: PartyClient, at = 3): { id: number; before: number } {
  const unit = [...client.runner!.world.each(Unit)][at]!
  const before = unit.hp
  unit.hp = before === 50 ? 49 : 50
  return { id: unit.id, before }
}

function hashesAgree(party: LockstepParty, from: number): void {
  const [first, ...others] = party.clients
  for (const other of others)
    for (let tick = from; tick < Math.min(first!.hashes.length, other.hashes.length); tick++)
      expect(other.hashes[tick], `tick ${tick}`).toBe(first!.hashes[tick])
}

test('[DESYNC1, DESYNC3, DESYNC5] one changed number is detected, named with both values, and healed', () => {
  const party = match(4)
  const { id, before } = corrupt(party.clients[2]!)
  const bad = party.clients[2]!.client.runner!.tick + 1
  party.run(2000)
  expect(party.reports).toHaveLength(1)
  const [report] = party.reports
  expect(report).toMatchObject({ version: 1, seed: party.match.seed, tick: bad, verdict: 'majority' })
  expect(report!.players.map(({ player, isDiverged }) => [player, isDiverged])).toEqual(
    party.clients.map(({ client }, at) => [client.player, at === 2] as const).sort(([a], [b]) => a - b),
  )
  expect(report!.orderLogExcerpt.at(-1)![0]).toBe(bad)
  const [diverged] = report!.diverged
  expect(diverged).toMatchObject({ player: party.clients[2]!.client.player, outcome: 'healed' })
  expect(diverged!.finding).toMatchObject({
    tick: bad, objects: 1, entities: ['Unit'],
    differences: [{ in: 'field', entity: 'Unit', id, field: 'hp', values: ['50', String(before)] }],
    trace: { kind: 'outside' },
  })
  expect(party.match.judge.counts).toMatchObject({ cases: 1, healed: 1, failed: 0 })
  expect(party.clients[2]!.client.agent!.heals).toBe(1)
  expect(party.clients.every(({ reports }) => reports.length === 1)).toBe(true)
  party.run(3000)
  hashesAgree(party, bad + 30)
  expect(party.reports).toHaveLength(1)
})

test('[DESYNC4] a step that differs is named by its first write, with the line of code on both peers', () => {
  let isBad = false
  const wrong = makeLockstepGame(() => isBad ? 1 : 0)
  const party = match(3, { gameOf: (client: number) => client === 1 ? wrong : game })
  isBad = true
  party.runUntil(() => party.reports.length > 0, 20_000)
  const finding = party.clients[1]!.findings[0]!
  expect(finding.trace).toMatchObject({ kind: 'write', own: { kind: 'write', entity: 'Unit', field: 'hp' } })
  const { own, theirs } = finding.trace!
  expect(own!.number).toBe(theirs!.number)
  expect(Number(theirs!.value) - Number(own!.value)).toBe(1)
  for (const { site } of [own!, theirs!]) {
    expect(site!.file).toMatch(/lockstep-game\.ts$/)
    expect(site!.line).toBeGreaterThan(60)
  }
  expect(finding.text).toMatch(/^tick \d+: Unit \d+, hp, \d+ against \d+; first difference: write \d+, Unit \d+ hp = /)
})

test('[DESYNC2] one against one: casual, the state of the first player counts, and the match goes on', () => {
  const party = match(2)
  corrupt(party.clients[1]!)
  party.run(2000)
  expect(party.reports).toMatchObject([{ verdict: 'first', diverged: [{ outcome: 'healed' }] }])
  const bad = party.reports[0]!.tick
  party.run(2000)
  hashesAgree(party, bad + 30)
  expect(party.match.relay.hasEnded).toBe(false)
})

test('[DESYNC2] one against one: ranked, the match is void, and the difference is named but not healed', () => {
  const party = match(2, { relay: RANKED_RELAY })
  const { judge } = party.match
  corrupt(party.clients[0]!)
  party.run(3000)
  expect(party.reports).toMatchObject([{ verdict: 'void', diverged: [{ outcome: 'named' }] }])
  expect((party.reports[0]!.diverged[0]!.finding as DesyncFinding).differences).toHaveLength(1)
  expect(party.clients[0]!.events.at(-1)![0]).toBe('end')
  expect(judge.counts).toMatchObject({ void: 1, healed: 0 })
})

test('[DESYNC2] one against one with a referee: the player whose state the game gives is right', async () => {
  for (const wrong of [0, 1]) {
    const party = match(2, { relay: RANKED_RELAY, referee: new GameReferee(game as never) })
    corrupt(party.clients[wrong]!)
    for (let at = 0; at < 40; at++) {
      party.run(100)
      // The referee answers in a promise.
      await Promise.resolve()
    }
    const { player } = party.clients[wrong]!.client
    expect(party.reports).toMatchObject([{ verdict: 'referee', diverged: [{ outcome: 'healed', player }] }])
    expect(party.match.relay.hasEnded).toBe(false)
  }
})

test('[DESYNC13] a referee begins with the last state on which both agreed, and names the wrong player', async () => {
  for (const wrong of [0, 1]) {
    const referee = new GameReferee(game as never)
    const party = match(2, { relay: RANKED_RELAY, isAgreed: true, referee })
    party.run(45_000)
    const { keeping } = party.match
    expect(keeping.agreed?.tick).toBeGreaterThan(900)
    expect(referee.stepped).toBe(0)
    corrupt(party.clients[wrong]!)
    const bad = party.clients[wrong]!.client.runner!.tick + 1
    for (let at = 0; at < 40; at++) {
      party.run(100)
      await Promise.resolve()
    }
    const { player } = party.clients[wrong]!.client
    expect(party.reports).toMatchObject([{ verdict: 'referee', tick: bad, diverged: [{ outcome: 'healed', player }] }])
    // Not all 1,400 ticks.
    expect(referee.stepped).toBeLessThan(950)
    expect(referee.stepped).toBeGreaterThanOrEqual(bad - keeping.agreed!.tick)
  }
})

test('[DESYNC13] a state on which the players disagree is not kept; the referee steps from the first tick then', () => {
  const referee = new GameReferee(game as never)
  const party = match(2, { relay: RANKED_RELAY, isAgreed: true, referee })
  const { keeping, relay: { log }, seed } = party.match
  const { handleMessage } = keeping
  let images = 0
  // The image of the donor changes on its way: the other player has another digest.
  keeping.handleMessage = (peer, message) => {
    if (message.kind === 'image') {
      images++
      message.bytes[99]! ^= 1
    }
    handleMessage.call(keeping, peer, message)
  }
  party.run(40_000)
  expect([images, keeping.agreed]).toEqual([1, undefined])
  const { tick } = party.clients[0]!.client.runner!
  const { low, high } = referee.judge(seed, log, tick, keeping.agreed)!
  expect(`${high.toString(16)}.${low.toString(16)}`).toBe(party.clients[0]!.hashes[tick])
  expect(referee.stepped).toBeGreaterThan(tick - 3)
})

test('[DESYNC5] a match that is closed in the middle of a desync, or ended by it, is reported', () => {
  const party = match(3)
  corrupt(party.clients[1]!)
  const { judge } = party.match
  expect(party.runUntil(() => judge.nextAt() < Infinity, 2000)).toBe(true)
  party.match.closeAll('shutdown')
  expect(party.reports).toMatchObject([{ tick: expect.any(Number), players: expect.any(Array) }])

  // The match is void and ends at once; slow pages name the difference seconds later.
  const ranked = match(2, { relay: RANKED_RELAY })
  drawSlowly(ranked, 3000, [700, 800])
  corrupt(ranked.clients[1]!)
  drawSlowly(ranked, 40_000, [700, 800])
  expect(ranked.reports).toMatchObject([{ verdict: 'void', diverged: [{ outcome: 'named' }] }])
  expect((ranked.reports[0]!.diverged[0]!.finding as DesyncFinding).differences).toHaveLength(1)
})

test('[DESYNC5] the third heal in ten minutes ends the seat with `desynced`', () => {
  const party = match(4)
  const [, , bad, other] = party.clients
  for (let time = 0; time < 3; time++) {
    corrupt(bad!)
    party.run(3000)
  }
  expect(party.match.judge.counts).toMatchObject({ cases: 3, healed: 3 })
  expect(bad!.isClosed).toBe(true)
  expect(other!.events.at(-1)!.slice(0, 2)).toEqual(['leave', bad!.client.player])
  const { log } = party.match.relay
  const leaves = readTicks(log.bytes.slice(0, log.length)).flat().filter(({ type }) => type === 0xc1)
  // The last byte is the reason: 4 is desynced.
  expect(leaves.map(({ data }) => data.slice(-2))).toEqual(['04'])
})

test('[DESYNC1, DESYNC5] objects too many and too few, and another generator, are named and healed', () => {
  const party = match(3)
  const { world } = party.clients[1]!.client.runner!
  world.despawn([...world.each(Unit)][2]!)
  world.spawn(Unit, { hp: 7 })
  world.prng.nextU32()
  party.run(2500)
  const { finding } = party.reports[0]!.diverged[0]!
  const { differences } = finding as DesyncFinding
  expect(differences.some((each) => each.in === 'existence')).toBe(true)
  expect(differences.some((each) => each.in === 'generator')).toBe(true)
  const bad = party.reports[0]!.tick
  party.run(2000)
  hashesAgree(party, bad + 40)
})

test('[DESYNC5] a donor that disappears is replaced by another one', () => {
  const party = match(4)
  corrupt(party.clients[3]!)
  const { judge } = party.match
  const donor = (): PartyClient | undefined => party.clients.find(({ client }) => judge.isDonor(client.player))
  party.runUntil(() => donor() !== undefined, 3000)
  const gone = donor()!
  gone.link.weather = { loss: 1 }
  party.run(9000)
  expect(party.reports).toMatchObject([{ verdict: 'majority', diverged: [{ outcome: 'healed' }] }])
  expect(party.reports[0]!.diverged[0]!.donor).not.toBe(gone.client.player)
})

test('[DESYNC1] a player that lies about its pulses is asked once, and nothing is healed', () => {
  const party = match(3)
  const { feed } = party.clients[1]!.client
  const { report } = feed
  feed.report = (tick) => { report.call(feed, tick, tick & 0xffff) }
  party.run(6000)
  expect(party.reports).toMatchObject([{ verdict: 'equal', diverged: [] }])
  expect(party.match.judge.counts).toMatchObject({ lies: 1, healed: 0, failed: 0 })
})

test('[DESYNC1] a player that lies for minutes does not keep the others from being healed', () => {
  const party = match(3)
  const { feed, player: liar } = party.clients[1]!.client
  const { report } = feed
  feed.report = (tick) => { report.call(feed, tick, tick & 0xffff) }
  party.run(400_000)
  const { judge } = party.match
  // Each lie is asked about later than the one before.
  expect(judge.counts.lies).toBeGreaterThan(5)
  expect(judge.counts.lies).toBeLessThan(15)
  corrupt(party.clients[2]!)
  party.run(2000)
  const { player } = party.clients[2]!.client
  expect(party.reports.at(-1)).toMatchObject({ verdict: 'majority', diverged: [{ player, outcome: 'healed' }] })
  const all = party.reports.flatMap(({ diverged }) => diverged)
  expect(all.map((each) => each.player)).not.toContain(liar)
  expect(judge.counts).toMatchObject({ healed: 1, failed: 0 })
})

test('[DESYNC1] a generator that was drawn from is found in the next tick, and every player is in the report', () => {
  const party = match(4)
  const { runner } = party.clients[2]!.client
  runner!.world.prng.nextU32()
  const bad = runner!.tick + 1
  party.run(2000)
  expect(party.reports).toHaveLength(1)
  const [report] = party.reports
  expect(report).toMatchObject({ tick: bad, verdict: 'majority', seed: party.match.seed })
  expect(report!.stateHash).toMatch(/^[0-9a-f]{16}$/)
  for (const { tick, stateHash, rngState, machine } of report!.players) {
    expect(tick).toBeGreaterThanOrEqual(bad)
    expect(stateHash).toMatch(/^[0-9a-f]{16}$/)
    expect(rngState).toMatch(/^[0-9a-f]{32}$/)
    expect(typeof machine).toBe('string')
  }
  const [right, wrong] = [false, true].map((isDiverged) =>
    new Set(report!.players.filter((each) => each.isDiverged === isDiverged).map(({ rngState }) => rngState)))
  expect([right!.size, wrong!.size]).toEqual([1, 1])
  expect(right).not.toEqual(wrong)
  expect(report!.orderLogExcerpt.map(([tick]) => tick)).toEqual(
    Array.from({ length: Math.min(60, bad) }, (_, each) => Math.max(0, bad - 60) + each + 1),
  )
  // One summary for all of them.
  for (const { reports } of party.clients) expect(reports).toMatchObject([{ tick: bad, verdict: 'majority' }])
})

test.each([2, 4, 8])('[DESYNC2] one liar of %i players claims another hash: only the liar is named', async (count) => {
  const referee = new GameReferee(game as never)
  const party = match(count, { relay: RANKED_RELAY, referee })
  const { player: liar, feed } = party.clients[0]!.client
  const { report } = feed
  const { judge } = party.match
  const { handleMessage } = judge
  feed.report = (tick) => { report.call(feed, tick, tick & 0xffff) }
  judge.handleMessage = (now, peer, message) => {
    const isLie = peer === liar && message.kind === 'report'
    const { root } = isLie ? message : { root: { low: 0, high: 0 } }
    handleMessage.call(judge, now, peer, isLie ? { ...message, root: { ...root, low: root.low ^ 1 } } : message)
  }
  for (let at = 0; at < 30; at++) {
    party.run(100)
    await Promise.resolve()
  }
  const [first] = party.reports
  expect(first!.verdict).toBe(count === 2 ? 'referee' : 'majority')
  expect(first!.players.filter(({ isDiverged }) => isDiverged).map(({ player }) => player)).toEqual([liar])
  for (const { diverged } of party.reports) for (const { player } of diverged) expect(player).toBe(liar)
  expect(party.match.relay.hasEnded).toBe(false)
  const honest = party.clients.slice(1)
  for (const { client, isClosed } of honest) expect([client.agent!.heals, isClosed]).toEqual([0, false])
  const newest = party.match.relay.log.newest
  for (const { client } of honest) expect(client.runner!.tick).toBeGreaterThan(newest - 10)
})

/** Pages that draw slowly: their machines do nothing for most of the time, each at its own pace. */
function drawSlowly(party: LockstepParty, ms: number, drawMs: readonly number[]): void {
  const until = party.clock.now + ms
  while (party.clock.now < until) {
    party.clients.forEach((client, at) => {
      if (party.clock.now >= client.frozenUntil + 15) client.frozenUntil = party.clock.now + drawMs[at]!
    })
    party.run(10)
  }
}

test.each([
  { drawMs: [350, 420], name: 'three draws a second' }, { drawMs: [900, 1100], name: 'one draw a second' },
  { drawMs: [30, 1500], name: 'one fast page and one of a draw in 1.5 seconds' },
])('[DESYNC12] slow pages are waited for, by their progress: $name', ({ drawMs }) => {
  const party = match(2)
  drawSlowly(party, 4000, drawMs)
  corrupt(party.clients[1]!)
  drawSlowly(party, 45_000, drawMs)
  expect(party.reports.map(({ verdict, diverged }) => [verdict, diverged.map(({ outcome }) => outcome)]))
    .toEqual([['first', ['healed']]])
  const { differences } = party.reports[0]!.diverged[0]!.finding as DesyncFinding
  expect(differences[0]).toMatchObject({ in: 'field', entity: 'Unit', field: 'hp' })
  party.run(3000)
  hashesAgree(party, party.clients[0]!.hashes.length - 60)
})

test('[DESYNC12] a majority does not wait for a page that stands still', () => {
  const party = match(3)
  party.clients[2]!.stuckUntil = party.clock.now + 4500
  corrupt(party.clients[1]!)
  const from = party.clock.now
  expect(party.runUntil(() => party.reports.length > 0, 20_000)).toBe(true)
  expect(party.reports[0]).toMatchObject({ verdict: 'majority' })
  expect(party.clock.now - from).toBeLessThan(12_000)
})
