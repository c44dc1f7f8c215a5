/** Recordings of matches that went on at another relay: both relays can be verified. */

import { expect, test } from 'vitest'
import type { LockstepGame } from 'tickwire/lockstep'
import { hashBytes } from '../../packages/tickwire/src/core/base/hash.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { stepMatch } from '../../packages/tickwire/src/core/lockstep/step-match.ts'
import { CHUNK } from '../../packages/tickwire/src/core/replay/chunk.ts'
import { matchHead } from '../../packages/tickwire/src/core/replay/match-head.ts'
import { MatchRecorder } from '../../packages/tickwire/src/core/replay/match-recorder.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { verifyMatch, type MatchVerdict } from '../../packages/tickwire/src/core/replay/verify-match.ts'
import { HandoverParty } from './handover-party.ts'
import { game, Spawn } from './lockstep-game.ts'
import { openMatch, sha256, verifying } from './replay-party.ts'
import './unplanned-heals.ts'

const signers = [1, 2, 3].map((byte) => pureProvider.importSigning(new Uint8Array(32).fill(byte)))
const keys = signers.map(({ publicKey }) => publicKey)

/** A match that loses `crashes` relays. Returns the file of the last relay, and the tick of its handover. */
function record(crashes: number, count = 1): { bytes: Uint8Array; tick: number } {
  const sinks: MemorySink[] = []
  const recorders: MatchRecorder[] = []
  const party = new HandoverParty({
    game: game as unknown as LockstepGame, seed: 4, clients: 3, relays: 3, provider: pureProvider,
    weather: () => ({ latencyMs: 25, jitterMs: 5 }),
    record: (relay) => ({ log, seed, game: card, takeover }) => (recorders[relay] = new MatchRecorder({
      log, match: { fingerprint: card.fingerprint, seed }, head: matchHead(card),
      sink: (sinks[relay] = new MemorySink()), sha256, signer: signers[relay]!, ...(takeover && { handover: takeover }),
    })),
  })
  for (let relay = 0; relay <= crashes; relay++) {
    for (let second = 0; second < 5; second++) {
      party.clients[second % 3]!.order(party.clock.now, Spawn as never, { count })
      party.run(1000)
    }
    if (relay < crashes) party.crash(relay)
    party.run(relay < crashes ? 5000 : 0)
  }
  recorders[crashes]!.close(party.clock.now)
  return { bytes: sinks[crashes]!.bytes(), tick: party.clients[0]!.continued.at(-1)!.tick }
}

function verdictOf(bytes: Uint8Array, publicKeys: readonly Uint8Array[] = keys): MatchVerdict {
  return verifyMatch(openMatch(bytes), { ...verifying, publicKeys })
}

test('[HAND12] a recording after a handover verifies against both relays, and steps to the same worlds', () => {
  const { bytes, tick } = record(1)
  const file = openMatch(bytes)
  const verdict = verdictOf(bytes)
  expect(verdict.problems).toEqual([])
  expect(verdict).toMatchObject({ sealedTicks: file.last, publicKey: keys[1], handover: { relayKey: keys[0], tick } })
  const { signedTick, holders } = verdict.handover!
  expect(holders).toBe(3)
  expect(signedTick).toBeGreaterThan(tick - 64)
  expect(signedTick).toBeLessThanOrEqual(tick)
  expect(verdict.players.size).toBe(3)
  for (const signed of verdict.players.values()) expect(signed).toBeGreaterThan(tick)
  expect(stepMatch(game as unknown as LockstepGame, file, sha256).problems).toEqual([])
  // The relay that sealed is to be known. It has signed from which relay the match came.
  expect(verdictOf(bytes, [keys[1]!]).problems).toEqual([])
  expect(verdictOf(bytes, [keys[0]!]).problems[0]).toMatch(/another key/)
})

test('[HAND12] after two handovers the signature of the second relay covers the first handover', () => {
  const { bytes, tick } = record(2)
  const verdict = verdictOf(bytes)
  expect(verdict.problems).toEqual([])
  expect(verdict).toMatchObject({ publicKey: keys[2], handover: { relayKey: keys[1], tick } })
})

test('[HAND12] any changed byte of the handover is found, and a handover that is left out', () => {
  const { bytes } = record(1)
  const { recording } = openMatch(bytes)
  const chunk = recording.chunks.find(({ type }) => type === CHUNK.handover)!
  for (let at = 0; at < chunk.length; at += 5) {
    const altered = bytes.slice()
    altered[chunk.offset + 12 + at]! ^= 1
    resum(altered, chunk.offset, chunk.length)
    expect(verdictOf(altered).problems, `byte ${at}`).not.toEqual([])
  }
  const file = openMatch(bytes)
  const without = Object.assign(Object.create(file) as typeof file, { handover: undefined })
  expect(verifyMatch(without, { ...verifying, publicKeys: keys }).problems)
    .toEqual([expect.stringMatching(/the chunk of the handover is missing/)])
})

test('[HAND12] a relay that changes ticks which the one before had signed is found', () => {
  const { bytes } = record(1)
  const file = openMatch(bytes)
  const other = openMatch(record(1, 2).bytes)
  const forged = Object.assign(Object.create(other) as typeof other, { handover: file.handover })
  expect(verifyMatch(forged, { ...verifying, publicKeys: keys }).problems)
    .toContainEqual(expect.stringMatching(/the relay before signed others/))
})

/** Writes the check of an altered chunk. */
function resum(bytes: Uint8Array, offset: number, length: number): void {
  const hash = new Uint32Array(2)
  hashBytes(bytes, offset, 12 + length, 0, hash, 0)
  new DataView(bytes.buffer).setUint32(offset + 12 + length, hash[0]!, true)
}
