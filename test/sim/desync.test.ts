/** Desyncs in simulated matches: detected, named with both values and the line of code, and healed. */

import { expect, test } from 'vitest'
import { RANKED_RELAY, type DesyncFinding, type DesyncReport } from 'tickwire/lockstep'
import { army, Unit as ArmyUnit } from '../../bench/desync/army-game.ts'
import { readTicks } from '../reference/lockstep-checker.ts'
import { BrokenGame, corrupt, drawSlowly, hashesAgree, LINE, match } from './desync-party.ts'
import { game, makeLockstepGame, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyClient } from './lockstep-party.ts'

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

test('[DESYNC1] a client that cannot make a world reports before it tries, and its finding has the error', () => {
  const broken = new BrokenGame()
  const party = match(4, { gameOf: (client: number) => client === 2 ? broken.game : game })
  const { client } = party.clients[2]!
  corrupt(party.clients[2]!)
  broken.isBroken = true
  party.run(2000)
  const [report] = party.reports
  const bad = report!.players.find(({ player }) => player === client.player)!
  expect(report).toMatchObject({ verdict: 'majority', diverged: [{ player: client.player, outcome: 'refused' }] })
  expect(bad).toMatchObject({ isDiverged: true, stateHash: expect.stringMatching(/^(?!0{16})[0-9a-f]{16}$/) })
  expect((report!.diverged[0]!.finding as DesyncFinding).text).toMatch(/^tick \d+: .*no room for the physics/)
  expect(party.clients.map(({ isClosed }) => isClosed)).toEqual([false, false, false, false])
  // When it can make worlds again, the next case heals it.
  broken.isBroken = false
  party.run(15_000)
  expect(party.reports.at(-1)).toMatchObject({ verdict: 'majority', diverged: [{ outcome: 'healed' }] })
})

test('[DESYNC1] with a cheap pulse the hash needs a world: without it the report has no hash, and is sent', () => {
  const broken = new BrokenGame()
  const party = match(3, { gameOf: (client: number) => client === 2 ? broken.game : game })
  party.clients[1]!.client.feed.stepUs = 20_000
  party.run(3000)
  const { runner, player } = party.clients[2]!.client
  expect(runner!.roster.isHashFull).toBe(false)
  runner!.world.prng.nextU32()
  broken.isBroken = true
  party.run(2000)
  const [{ verdict, players }] = party.reports as [DesyncReport]
  expect(verdict).toBe('majority')
  expect(players).toHaveLength(3)
  expect(players.find((each) => each.player === player)).toMatchObject({ isDiverged: true, stateHash: '0'.repeat(16) })
  expect(new Set(players.map(({ rngState }) => rngState)).size).toBe(2)
})

test('[DESYNC5] a donor that cannot make a world is replaced at once', () => {
  const broken = new BrokenGame()
  const party = match(4, { gameOf: (client: number) => client === 1 ? broken.game : game })
  party.clients[1]!.link.weather = { latencyMs: 1 }
  party.run(3000)
  corrupt(party.clients[3]!)
  broken.isBroken = true
  party.run(2000)
  expect(party.reports).toMatchObject([{ verdict: 'majority', diverged: [{ outcome: 'healed' }] }])
  expect(party.reports[0]!.diverged[0]!.donor).not.toBe(party.clients[1]!.client.player)
  expect(party.reports[0]!.tookMs).toBeLessThan(1500)
})

test('[DESYNC5] a donor that answers with other hashes or rows is refused, and the next one is asked', () => {
  const party = match(4)
  const { judge } = party.match
  const { handleMessage } = judge
  let liar = 0
  let lies = 0
  judge.handleMessage = (now, peer, message) => {
    if (message.kind === 'answer') liar ||= peer
    if (message.kind === 'answer' && peer === liar) {
      lies++
      message.bytes[message.bytes.length - 1]! ^= 1
    }
    handleMessage.call(judge, now, peer, message)
  }
  corrupt(party.clients[3]!)
  party.run(3000)
  expect(lies).toBeGreaterThan(0)
  expect(party.reports).toMatchObject([{ verdict: 'majority', diverged: [{ outcome: 'healed' }] }])
  expect(party.reports[0]!.diverged[0]!.donor).not.toBe(liar)
  expect(party.reports[0]!.tookMs).toBeLessThan(2500)
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

test('[DESYNC5] heals of more than ten minutes ago do not count', () => {
  const party = match(3)
  const bad = party.clients[2]!
  const { judge } = party.match
  for (let time = 0; time < 2; time++) {
    corrupt(bad)
    party.run(3000)
  }
  party.match.relay.setSpeed(10)
  party.run(601_000)
  party.match.relay.setSpeed(100)
  party.run(1000)
  corrupt(bad)
  party.run(3000)
  expect(judge.counts).toMatchObject({ cases: 3, healed: 3, failed: 0 })
  expect(party.clients.map(({ isClosed }) => isClosed)).toEqual([false, false, false])
  for (let time = 0; time < 2; time++) {
    corrupt(bad)
    party.run(3000)
  }
  expect(bad.isClosed).toBe(true)
})

test('[DESYNC5] one object of 2,000 is healed within a second, by at most 2 KB', () => {
  const party = new LockstepParty({ game: army, seed: 5, clients: 3, weather: () => LINE })
  party.run(3000)
  const bad = party.clients[2]!
  const unit = [...bad.client.runner!.world.each(ArmyUnit)][1234]!
  unit.hp = 7
  expect(party.runUntil(() => party.reports.length > 0, 5000)).toBe(true)
  const finding = party.reports[0]!.diverged[0]!.finding as DesyncFinding
  expect(finding.differences).toEqual([
    { in: 'field', entity: 'Unit', id: unit.id, field: 'hp', values: ['7', '200'] },
  ])
  expect(finding.healMs).toBeLessThanOrEqual(1000)
  expect(finding.bytes).toBeLessThanOrEqual(2048)
  expect(finding.rounds).toBeLessThanOrEqual(4)
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
