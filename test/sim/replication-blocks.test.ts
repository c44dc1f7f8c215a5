/**
 * What is told 32 objects at a time is what would be told one by one, to the bit: every source has a twin that looks at
 * every object by itself, and both hear the same of what arrived and what was lost.
 */

import { describe, expect, test } from 'vitest'
import type { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitAccount, type BandwidthReport } from '../../packages/tickwire/src/core/replication/bit-account.ts'
import { CALM, CODERS, EQUAL, fair, foul, Game, hasty, OBJECTS, WILD, type Mood } from './replication-game.ts'
import { CLEAR, type Line } from './replication-party.ts'

describe('told by blocks as one by one', () => {
  const seeds = Number(process.env['TICKWIRE_SEEDS'] ?? 2)
  for (const [name, coder] of Object.entries(CODERS)) {
    test(`[REPL20] in calm weather, ${name}`, { timeout: 600_000 }, () => {
      for (let seed = 1; seed <= seeds; seed++) new Game(seed, coder, CALM, 32, fair).run(110, fair)
    })

    test(`[REPL20] by spans of ticks, now longer and now shorter, ${name}`, { timeout: 600_000 }, () => {
      for (let seed = 1; seed <= seeds; seed++) {
        new Game(200 + seed, coder, CALM, 32, fair, [2, 4]).run(110, fair)
        new Game(300 + seed, coder, WILD, 32, foul, [1, 2, 4, 5, 8]).run(160, foul)
      }
    })

    test(`[REPL20] in bad weather, ${name}`, { timeout: 600_000 }, () => {
      for (let seed = 1; seed <= seeds; seed++) {
        const game = new Game(100 + seed, coder, seed % 2 === 0 ? WILD : { ...CALM, blink: 60, churn: 1 }, seed % 3 === 0 ? 12 : 32, foul)
        game.run(160, foul)
      }
    })
  }
})

describe('told by blocks as one by one, where a tick is 0', () => {
  // Ticks of rows above baselines are kept in 32 bits, and 0 is none: the first tick of all, and the one that comes after 2^32 of them, two years at 60 a second.
  const lively: Mood = { churn: 0, handover: 0, whim: 30, blink: 0, sleep: 25 }
  for (const [name, first] of [['from the first tick on', 0], ['in 32 bits, from 0 again', 2 ** 32 - 10], ['in 32 bits, below 0', 2 ** 31 - 10]] as const) {
    test(`[REPL20] ${name}`, { timeout: 600_000 }, () => {
      for (let seed = 1; seed <= 6 * Number(process.env['TICKWIRE_SEEDS'] ?? 2); seed++) {
        const game = new Game(400 + seed, CODERS['entropy']!, lively, seed % 2 === 0 ? 12 : 32, hasty)
        game.party.world.tick = first - 1
        game.party.replicator.grid.fix([1, 2, 4][seed % 3]!)
        game.run(26, hasty)
      }
    })
  }
})

test('[REPL20] whole frames are copied between receivers who are told the same, and are what each would be sent', { timeout: 600_000 }, () => {
  for (const packetBytes of [1150, 97]) {
    const line = { ...CLEAR, packetBytes, packetsPerTick: 64 }
    for (const spans of [[], [4]]) {
      const game = new Game(packetBytes, CODERS['entropy']!, EQUAL, 32, () => line, spans)
      game.run(110, () => line)
      expect(game.party.replicator.frames.copyCount).toBeGreaterThan(50)
    }
  }
})

test('[REPL20] receivers in one state follow who was there first, part company when a packet is lost, and meet again', { timeout: 600_000 }, () => {
  for (const [name, coder] of Object.entries(CODERS)) {
    const clear = (): Line => ({ ...CLEAR, packetsPerTick: 64 })
    const game = new Game(31, coder, { ...EQUAL, whim: 400 }, 64, clear)
    const { party } = game
    const { states } = party.replicator
    game.run(90, clear)
    // Rows before baselines come and go: with a coder that asks for them states are shared more rarely in a game of stops and starts.
    expect(states.followCount, name).toBeGreaterThan(name === 'packed' ? 100 : 2)
    for (let round = 0; round < 3; round++) {
      party.receivers[round]!.line = { ...clear(), loss: 0.5, delay: round, packetBytes: 97 }
      game.run(4, clear)
      for (const receiver of party.receivers) receiver.line = clear()
      const before = states.followCount
      game.run(36, clear)
      if (name === 'packed') expect(states.followCount - before, `${name}, after round ${round}`).toBeGreaterThan(0)
    }
  }
})

describe('bits counted by runs and copies', () => {
  const clear = (): Line => ({ ...CLEAR, packetsPerTick: 64 })
  /** What is counted when a game is played, of each entry as it is written or by runs and copies of frames. */
  const play = (mood: Mood, drawLine: (dice: Prng) => Line, isOneByOne: boolean): { readonly report: BandwidthReport; readonly copies: number } => {
    const game = new Game(17, CODERS['entropy']!, mood, 32, drawLine, [1, 4])
    const { replicator, world } = game.party
    const account = new BitAccount(world)
    replicator.probe = isOneByOne ? { onEntry: (...entry) => { account.onEntry(...entry) }, onFrame: (...frame) => { account.onFrame(...frame) } } : account
    game.run(140, drawLine)
    replicator.settle()
    return { report: account.report(), copies: replicator.frames.copyCount }
  }

  test.each([['equal', EQUAL, clear], ['calm', CALM, fair], ['wild', WILD, foul]] as const)('[BAND1] are those that were counted entry by entry: %s', { timeout: 600_000 }, (name, mood, drawLine) => {
    const byRuns = play(mood, drawLine, false)
    const oneByOne = play(mood, drawLine, true)
    expect(byRuns.report).toEqual(oneByOne.report)
    expect(byRuns.report.bits).toBeGreaterThan(10_000)
    expect(oneByOne.copies).toBe(0)
    if (name === 'equal') expect(byRuns.copies).toBeGreaterThan(50)
  })
})

test('[REPL20] what is listed 32 at a time is little work: nothing is asked one by one once all is calm', () => {
  const game = new Game(7, CODERS['packed']!, CALM, 32, () => CLEAR)
  game.run(120, () => CLEAR)
  const [receiver] = game.party.receivers
  expect(receiver!.source.memberCount).toBeGreaterThan(OBJECTS / 2)
  expect(receiver!.twin!.memberCount).toBe(0)
})
