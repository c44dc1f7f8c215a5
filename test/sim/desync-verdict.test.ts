/** Which state is right when players of a simulated match disagree: a majority, a referee, liars, slow players. */

import { expect, test } from 'vitest'
import { GameReferee, RANKED_RELAY, type DesyncFinding } from 'tickwire/lockstep'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { corrupt, drawSlowly, hashesAgree, match } from './desync-party.ts'
import { game } from './lockstep-game.ts'
import { otherWorld, sha256 } from './replay-party.ts'

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

test('[DESYNC13, SEAL1] a donor that forges the image of the match has one vote, and observers have none', async () => {
  const referee = new GameReferee(game as never)
  const recorded: number[] = []
  const recorder = {
    handleTicks: () => {}, handleRoot: () => {}, handlePlayerSeal: () => {}, close: () => {},
    handleImage: (tick: number) => recorded.push(tick) > 0,
  }
  const party = match(2, {
    relay: RANKED_RELAY, isAgreed: true, referee, record: () => recorder,
    provider: Object.assign(new StubCrypto(), { sha256 }),
  })
  party.add({ role: 'spectator' })
  party.run(1000)
  const { keeping, members } = party.match
  const observer = members.find(({ role }) => role === 'spectator')!.id
  const { handleMessage } = keeping
  let donor = 0
  keeping.handleMessage = (peer, message) => {
    if (message.kind !== 'image') return handleMessage.call(keeping, peer, message)
    donor = peer
    const bytes = otherWorld(message.bytes)
    for (const liar of [peer, observer])
      handleMessage.call(keeping, liar, { kind: 'digest', tick: message.tick, bytes: sha256(bytes) })
    handleMessage.call(keeping, peer, { ...message, bytes })
  }
  expect(party.runUntil(() => donor !== 0, 40_000)).toBe(true)
  party.run(8000)
  expect([keeping.agreed, recorded]).toEqual([undefined, []])
  // The world of the forger is the forged one now: the referee names it.
  corrupt(party.clients.find(({ client }) => client.player === donor)!)
  for (let at = 0; at < 40; at++) {
    party.run(100)
    await Promise.resolve()
  }
  expect(party.reports).toMatchObject([{ verdict: 'referee', diverged: [{ outcome: 'healed', player: donor }] }])
})

test('[DESYNC13] the only player that is connected cannot make its image the agreed one', () => {
  const party = match(2, { isAgreed: true, referee: new GameReferee(game as never), resumeMs: 60_000 })
  party.run(5000)
  const { keeping } = party.match
  const { handleMessage } = keeping
  let images = 0
  keeping.handleMessage = (peer, message) => {
    if (message.kind === 'image') images++
    handleMessage.call(keeping, peer, message)
  }
  party.clients[0]!.link.weather = { loss: 1 }
  party.run(35_000)
  expect(party.clients[1]!.client.runner!.tick).toBeGreaterThan(1000)
  expect([images, keeping.agreed]).toEqual([1, undefined])
})

test.each([2, 3])('[DESYNC1] a diverged player of %i whose report is late is no liar, and is healed', (count) => {
  const party = match(count)
  const { player } = party.clients[1]!.client
  const { judge } = party.match
  const { handleMessage } = judge
  let isLate = true
  judge.handleMessage = (now, peer, message) => {
    const isLost = isLate && peer === player && message.kind === 'report'
    if (isLost) isLate = false
    else handleMessage.call(judge, now, peer, message)
  }
  corrupt(party.clients[1]!)
  party.run(12_000)
  expect(isLate).toBe(false)
  expect(party.reports.map(({ verdict, diverged }) => [verdict, diverged.map((each) => each.player)]))
    .toEqual([['unknown', []], [count === 2 ? 'first' : 'majority', [player]]])
  expect(judge.counts).toMatchObject({ cases: 2, lies: 0, healed: 1, failed: 0 })
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
