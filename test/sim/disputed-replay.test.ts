/** Recorded matches in which one player diverged: disputed ticks are named, and an altered order is still found. */

import { expect, test } from 'vitest'
import { GameReferee } from 'tickwire/lockstep'
import { stepMatch, type SteppedMatch } from '../../packages/tickwire/src/core/lockstep/step-match.ts'
import type { MatchFile } from '../../packages/tickwire/src/core/replay/match-file.ts'
import { verifyMatch } from '../../packages/tickwire/src/core/replay/verify-match.ts'
import { game, Unit } from './lockstep-game.ts'
import type { PartyOptions } from './lockstep-party.ts'
import { giveOrders, openMatch, playRecorded, sha256, verifying } from './replay-party.ts'

interface Outcome {
  readonly file: MatchFile
  /** The first tick after the change. */
  readonly bad: number
  readonly stepped: SteppedMatch
}

/** A recorded match in which one number of one player is changed before a tick with a hash. Its seals verify. */
async function playCorrupted(
  clients: number, isFirst: boolean, options: Partial<PartyOptions> = {},
): Promise<Outcome> {
  const { party, recorder, sink } = playRecorded(12, { clients, ...options })
  const of = (number: number): boolean => party.clients[number]!.client.player === 1
  const { runner } = party.clients[party.clients.findIndex((_, number) => of(number) === isFirst)]!.client
  party.runUntil(() => runner!.tick % 30 === 27, 5000)
  const [unit] = runner!.world.each(Unit)
  unit!.hp = unit!.hp === 50 ? 49 : 50
  const bad = runner!.tick + 1
  for (let time = 0; time < 20; time++) {
    party.run(100)
    // A referee answers by a promise.
    await Promise.resolve()
  }
  giveOrders(party, 23)
  expect(party.reports.map(({ tick }) => tick)).toEqual([bad])
  recorder.close(party.clock.now)
  const file = openMatch(sink.bytes())
  expect(verifyMatch(file, verifying).problems).toEqual([])
  return { file, bad, stepped: step(file) }
}

const step = (file: MatchFile): SteppedMatch => stepMatch(game as never, file, sha256)

/** The number of sealed hashes. */
const hashes = (file: MatchFile): number => file.seals.reduce((sum, { seal }) => sum + seal.roots.length, 0)

test('[SEAL7] of three players the majority is sealed, and the match is stepped to all hashes', async () => {
  for (const isFirst of [true, false]) {
    const { file, stepped } = await playCorrupted(3, isFirst)
    expect(stepped).toMatchObject({ problems: [], disputed: [], images: 1, firstBad: 0, roots: hashes(file) })
    expect(file.seals.flatMap(({ seal }) => seal.roots).filter(({ agreed, players }) => agreed < players))
      .toMatchObject([{ agreed: 2, players: 3 }])
  }
})

test('[SEAL7] between two players ticks without a majority are disputed, then healed', async () => {
  const { file, bad, stepped } = await playCorrupted(2, false)
  expect(stepped).toMatchObject({ problems: [], disputed: [bad + 2], isHealed: true, images: 1, roots: hashes(file) })
})

test('[SEAL7] the sealed side of a disputed tick may be the wrong one, if a referee healed the match', async () => {
  const { file, bad, stepped } = await playCorrupted(2, true, { referee: new GameReferee(game as never) })
  expect(stepped).toMatchObject({ problems: [], disputed: [bad + 2], isHealed: true, images: 1 })
  expect(stepped.roots).toBe(hashes(file) - 1)
})

test('[SEAL7] players that were healed to a world that does not follow from the orders are named', async () => {
  const { bad, stepped } = await playCorrupted(2, true)
  expect(stepped).toMatchObject({ disputed: [bad + 2], isHealed: false, firstBad: bad + 32, images: 0 })
  expect(stepped.problems[0]).toBe(`tick ${bad + 32}: the world differs from the recorded one: the players disagreed `
    + `in tick ${bad + 2}, and their world does not follow from the orders`)
})

test('[SEAL7] players that disagree to the end agree with the orders only if the first player does', async () => {
  const relay = { desync: { heal: false } }
  const right = await playCorrupted(2, false, { relay })
  expect(right.stepped).toMatchObject({ problems: [], isHealed: false, images: 0, roots: hashes(right.file) })
  expect(right.stepped.disputed.length).toBeGreaterThan(20)
  const { bad, stepped } = await playCorrupted(2, true, { relay })
  expect(stepped.problems).toEqual([`tick ${bad + 2}: the players disagreed and were not healed`])
})

test('[SEAL7] an altered order is found in a match with disputed ticks, before them and after them', async () => {
  const { file, bad } = await playCorrupted(2, false)
  const { log } = file.stretches[0]!
  for (const from of [100, bad + 60]) {
    let tick = from
    while (log.endOf(tick) - log.startOf(tick) < 8) tick++
    const at = log.endOf(tick) - 1
    log.bytes[at]! ^= 1
    expect(step(file).problems[0], `tick ${tick}`).toMatch(/the world differs from the recorded one$/)
    expect(verifyMatch(file, verifying).problems.join()).toMatch(/a tick was changed/)
    log.bytes[at]! ^= 1
  }
  expect(step(file).problems).toEqual([])
})

test('[SEAL1] a player that is behind is a witness of a key image: a diverged player is not the only one', () => {
  for (const isCorrupted of [false, true]) {
    const { party, recorder, sink } = playRecorded(12, { clients: 2, relay: { desync: { heal: false } } })
    const [near, behind] = party.clients
    if (isCorrupted) for (const unit of near!.client.runner!.world.each(Unit)) unit.hp = 7
    party.runUntil(() => near!.client.runner!.tick >= 860, 30_000)
    behind!.stuckUntil = party.clock.now + 2000
    party.run(8000)
    recorder.close(party.clock.now)
    expect(openMatch(sink.bytes()).seals.flatMap(({ seal }) => seal.images).map(({ witnesses }) => witnesses))
      .toEqual(isCorrupted ? [] : [1])
  }
})
