/** Recorded matches in simulated time: sealed, verified, altered, with gaps, and stepped again. */

import { expect, test } from 'vitest'
import { LockstepRunner, playedMatch, readReplay, ReplayFeed } from 'tickwire/lockstep'
import { verifyMatch, verifyTick } from '../../packages/tickwire/src/core/replay/verify-match.ts'
import { ReplayDeck } from '../../packages/tickwire/src/core/lockstep/replay-deck.ts'
import { hashBytes } from '../../packages/tickwire/src/core/base/hash.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { game } from './lockstep-game.ts'
import { openMatch, playRecorded, verifying } from './replay-party.ts'
import './unplanned-heals.ts'

/** Writes the check of an altered chunk. */
function resum(bytes: Uint8Array, offset: number, length: number): void {
  const hash = new Uint32Array(2)
  hashBytes(bytes, offset, 12 + length, 0, hash, 0)
  new DataView(bytes.buffer).setUint32(offset + 12 + length, hash[0]!, true)
}

test('[SEAL1, SEAL3, SEAL5] a recorded match verifies: ticks, hashes, key images and the orders of players', () => {
  const { party, recorder, sink } = playRecorded(75)
  recorder.close(party.clock.now)
  const file = openMatch(sink.bytes())
  const verdict = verifyMatch(file, verifying)
  expect(verdict.problems).toEqual([])
  const { newest } = party.match.relay.log
  expect(verdict).toMatchObject({ ticks: newest, sealedTicks: newest, lostTicks: 0, images: 2 })
  expect(verdict.seals).toBe(Math.ceil(newest / 256))
  expect(verdict.roots).toBeGreaterThan(60)
  expect([...verdict.players.keys()].sort()).toEqual(party.clients.map(({ client }) => client.player).sort())
  for (const tick of verdict.players.values()) expect(tick).toBeGreaterThan(newest - 320)
  expect(file.imageTicks.length).toBe(2)
})

test('[SEAL2] any changed byte of a sealed recording is found: ticks, images, seals, seals of players', () => {
  const { party, recorder, sink } = playRecorded(20)
  recorder.close(party.clock.now)
  const bytes = sink.bytes()
  const file = openMatch(bytes)
  for (const [number, chunk] of file.recording.chunks.entries()) {
    if (chunk.type < 10 || chunk.type > 14) continue
    // Another check sum, as a forger would write it: the seals must find the change, and not the check of the chunk.
    const body = file.recording.load(chunk)!
    for (const at of [0, Math.floor(body.length / 2)]) {
      const altered = bytes.slice()
      altered[chunk.offset + 12 + at]! ^= 1
      resum(altered, chunk.offset, chunk.length)
      const { problems } = verifyMatch(openMatch(altered), verifying)
      expect(problems, `chunk ${number}, type ${chunk.type}, byte ${at}`).not.toEqual([])
    }
  }
})

test('[SEAL2] a seal that is left out, another key and another game are found', () => {
  const { party, recorder, sink } = playRecorded(30)
  recorder.close(party.clock.now)
  const file = openMatch(sink.bytes())
  expect(verifyMatch(Object.assign(Object.create(file), { seals: file.seals.slice(1) }), verifying).problems)
    .toContainEqual(expect.stringMatching(/missing|broken/))
  const other = pureProvider.importSigning(new Uint8Array(32).fill(9)).publicKey
  expect(verifyMatch(file, { ...verifying, publicKeys: [other] }).problems[0]).toMatch(/another key/)
})

test('[SEAL3] one tick is proved by eight hashes and its seal, and an altered one is not', () => {
  const { party, recorder, sink } = playRecorded(30)
  recorder.close(party.clock.now)
  const file = openMatch(sink.bytes())
  expect(verifyTick(file, 300, verifying)).toMatchObject({ isGenuine: true, hashes: 8, root: { tick: 300 } })
  expect(verifyTick(file, 99_999, verifying)).toMatchObject({ isGenuine: false })
  const { log } = file.stretches[0]!
  let tick = 257
  while (log.endOf(tick) - log.startOf(tick) < 8) tick++
  log.bytes[log.endOf(tick) - 1]! ^= 1
  expect(verifyTick(file, tick, verifying)).toMatchObject({ isGenuine: false, text: `tick ${tick} was changed` })
})

test('[SEAL4] ticks that the disk refuses are a gap with a name, and all other ticks still verify', () => {
  const { party, recorder, sink } = playRecorded(40, {}, (now) => now > 10_000 && now < 16_000)
  recorder.close(party.clock.now)
  const file = openMatch(sink.bytes())
  const verdict = verifyMatch(file, verifying)
  expect(verdict.problems).toEqual([])
  expect(verdict.lostTicks).toBe(recorder.lostTicks)
  expect(verdict.lostTicks).toBeGreaterThan(0)
  expect(file.gaps.length).toBeGreaterThan(0)
  const [gap] = file.gaps
  expect(verifyTick(file, gap!.first, verifying).isGenuine).toBe(false)
  expect(verifyTick(file, gap!.first - 1, verifying).isGenuine).toBe(true)
})

test('[SEAL4] more seals than the sink takes at once are stored later, in their order', () => {
  let [at, taken] = [0, 0]
  const { party, recorder, sink } = playRecorded(50, {}, (now) => {
    if (now !== at) [at, taken] = [now, 0]
    // For half a minute the disk takes nothing, and after that two chunks at a time.
    return (now > 5000 && now < 35_000) || ++taken > 2
  })
  const file = openMatch(sink.bytes())
  recorder.close(party.clock.now)
  expect(file.seals.map(({ seal }) => seal.last)).toEqual([256, 512, 768, 1024, 1280])
  expect(verifyMatch(file, verifying).problems).toEqual([])
})

test('[SEAL4] a recording that was cut anywhere is valid up to the last whole chunk', () => {
  const { sink } = playRecorded(20)
  const bytes = sink.bytes()
  let last = 0
  for (let length = bytes.length; length > 600; length -= 97) {
    const verdict = verifyMatch(openMatch(bytes.slice(0, length)), verifying)
    expect(verdict.problems).toEqual([])
    last = Math.max(last, verdict.ticks)
  }
  expect(last).toBeGreaterThan(500)
})

test('[SEAL5, LOCK5] a recording is stepped again to the sealed hashes, from the start and from images', () => {
  const { party, recorder, sink } = playRecorded(75)
  recorder.close(party.clock.now)
  const file = openMatch(sink.bytes())
  const roots = new Map(file.seals.flatMap(({ seal }) => seal.roots).map(({ tick, root }) => [tick, root]))
  const { log } = file.stretches[0]!
  for (const from of [0, ...file.imageTicks]) {
    const feed = new ReplayFeed(playedMatch(log, 30, file.seed))
    feed.speed = Infinity
    let compared = 0
    const runner = new LockstepRunner(game, feed, {
      onTick(tick, low, high) {
        const root = roots.get(tick)
        if (root === undefined) return
        expect(root).toEqual({ low, high })
        compared++
      },
    })
    if (from > 0) expect(runner.jump(from, file.imageBefore(from)!.image)).toBe(true)
    while (runner.update(0) > 0);
    expect(runner.tick).toBe(file.last)
    expect(compared).toBeGreaterThan(2)
  }
})

test('[SEAL5] a replay seeks forwards and backwards to the same worlds, with key images and without', () => {
  const { party, recorder, sink } = playRecorded(65)
  recorder.close(party.clock.now)
  const match = readReplay(sink.bytes())
  const { imageBefore, ...plain } = match
  expect(imageBefore).toBeDefined()
  const known = party.clients[0]!.hashes
  for (const each of [match, plain]) {
    const feed = new ReplayFeed(each)
    const runner = new LockstepRunner(game, feed)
    const deck = new ReplayDeck(runner as never, feed, each)
    for (const tick of [1200, 300, 1900, 905, 1, match.ticks, 1850]) {
      expect(deck.seek(tick), `tick ${tick}`).toBe(true)
      const [low, high] = runner.hash.update()
      expect(`${high!.toString(16)}.${low!.toString(16)}`).toBe(known[tick])
    }
    // The clock of a page is far from 0.
    runner.update(9_000_000)
    expect(deck.seek(700)).toBe(true)
    expect(deck.seek(match.ticks + 1)).toBe(false)
    deck.setSpeed(16)
    expect(deck.seek(600)).toBe(true)
    for (let now = 0; now < 1000; now += 10) runner.update(now)
    expect(runner.tick).toBeGreaterThan(600 + 16 * 28)
    expect(runner.tick).toBeLessThan(600 + 16 * 32)
  }
})
