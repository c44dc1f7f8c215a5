/** A match that is recorded while it is played, in simulated time, with real keys. */

import type { AnyOrder, LockstepGame } from 'tickwire/lockstep'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { joinSnapshot, splitSnapshot } from '../../packages/tickwire/src/core/order/sync-messages.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import { matchHead } from '../../packages/tickwire/src/core/replay/match-head.ts'
import { MatchFile } from '../../packages/tickwire/src/core/replay/match-file.ts'
import { MatchRecorder } from '../../packages/tickwire/src/core/replay/match-recorder.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { seedOfImage } from '../../packages/tickwire/src/core/replay/key-images.ts'
import { openRecording } from '../../packages/tickwire/src/core/replay/recording.ts'
import type { RecordingSink } from '../../packages/tickwire/src/core/replay/recording-writer.ts'
import type { VerifyOptions } from '../../packages/tickwire/src/core/replay/verify-match.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { encodeWorld, restoreWorld } from '../../packages/tickwire/src/core/world/world-image.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { game, Move, Spawn, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyOptions } from './lockstep-party.ts'

export const sha256 = (bytes: Uint8Array): Uint8Array => pureProvider.sha256(bytes)
export const relayKey = pureProvider.importSigning(new Uint8Array(32).fill(7))

export const verifying: VerifyOptions = {
  sha256,
  verify: (publicKey, message, signature) => pureProvider.importVerifying(publicKey).verify(message, signature),
  publicKeys: [relayKey.publicKey],
}

export interface Recorded {
  readonly party: LockstepParty
  readonly recorder: MatchRecorder
  readonly sink: MemorySink
}

/** Plays and records a match. `refuses`: whether the sink refuses a chunk now. */
export function playRecorded(
  seconds: number, options: Partial<PartyOptions> = {}, refuses: (now: number) => boolean = () => false,
): Recorded {
  const sink = new MemorySink()
  let recorder: MatchRecorder | undefined
  let party: LockstepParty | undefined
  const gate: RecordingSink = { write: (bytes) => !refuses(party?.clock.now ?? 0) && sink.write(bytes) }
  party = new LockstepParty({
    game: game as never, seed: 23, clients: 3, weather: () => ({ latencyMs: 20, jitterMs: 4 }),
    provider: pureProvider,
    signer: (client) => pureProvider.importSigning(new Uint8Array(32).fill(100 + client)),
    record: ({ log, seed, game: card }) => (recorder = new MatchRecorder({
      log, match: { fingerprint: card.fingerprint, seed }, head: matchHead(card), sink: gate, sha256, signer: relayKey,
    })),
    ...options,
  })
  giveOrders(party, seconds)
  return { party, recorder: recorder!, sink }
}

/** Players give orders at random. */
export function giveOrders(party: LockstepParty, seconds: number, everyMs = 250): void {
  const dice = new Dice(5)
  const end = party.clock.now + seconds * 1000
  while (party.clock.now < end) {
    party.run(-Math.log(1 - dice.fraction()) * everyMs)
    const client = party.clients[Math.floor(dice.fraction() * party.clients.length)]!
    const { runner, player } = client.client
    if (runner === undefined) continue
    if (dice.chance(0.2)) client.order(party.clock.now, Spawn as unknown as AnyOrder, { count: 1 })
    const units = [...runner.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id).slice(0, 12)
    const to = { x: 256 * dice.fraction(), y: 256 * dice.fraction() }
    client.order(party.clock.now, Move as unknown as AnyOrder, { units, to })
  }
}

/** Opens the bytes of a recording. */
export function openMatch(bytes: Uint8Array): MatchFile {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  return new MatchFile(recording)
}

export type AnyGame = LockstepGame

/** A disk that is full at times: it takes a chunk whole or not at all. */
export class FullSink extends MemorySink {
  everyMs = Infinity
  fullUntil = 0
  now = (): number => 0

  override write(bytes: Uint8Array): boolean {
    return this.now() >= this.fullUntil && super.write(bytes)
  }
}

/** The image of a world in which one unit has other points. */
export function otherWorld(snapshot: Uint8Array): Uint8Array {
  const { roster, image } = splitSnapshot(snapshot)!
  const world = new World(game.entities, { seed: seedOfImage(image) })
  restoreWorld(world, image)
  for (const unit of world.each(Unit)) {
    unit.hp = unit.hp === 50 ? 51 : 50
    break
  }
  return joinSnapshot(roster, encodeWorld(world)!)
}

/** The same bytes, but for one bit. */
export function flipped(bytes: Uint8Array, dice: Dice): Uint8Array {
  const copy = bytes.slice()
  copy[Math.floor(dice.fraction() * copy.length)]! ^= 1 << Math.floor(8 * dice.fraction())
  return copy
}
