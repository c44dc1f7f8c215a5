/**
 * Who looks on at a match: recorders, and the account of where the bits go.
 *
 *   const recorder = host.watch.record(sink)        from the next tick on, until recorder.close()
 *   host.watch.bandwidth()                          since the match began, or since resetBandwidth()
 *
 * The host tells it what happens; it never has a say. With nobody recording a tick costs it one look at an empty list; the
 * account is always on (bench/recording.bench.ts).
 */

import type { PeerId } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import { BitAccount, type BandwidthReport } from '../replication/bit-account.ts'
import { recentFieldBits, type FieldBits } from '../replication/bit-account-fields.ts'
import type { Replicator } from '../replication/replicator.ts'
import { Recorder, type RecordableGame, type RecorderOptions } from '../replay/recorder.ts'
import type { RecordingSink } from '../replay/recording-writer.ts'
import type { ValueStore } from '../schema/values.ts'
import type { World } from '../world/world.ts'
import type { HeldInput } from './input-table.ts'

export class HostWatch {
  readonly #game: RecordableGame
  readonly #world: World
  readonly #replicator: Replicator
  readonly #account: BitAccount
  #recorders: readonly Recorder[] = []

  constructor(game: RecordableGame, world: World, replicator: Replicator) {
    this.#game = game
    this.#world = world
    this.#replicator = replicator
    this.#account = new BitAccount(world)
    replicator.probe = this.#account
  }

  /** Records the match into a sink, from the next tick on, until the recorder is closed. */
  record(sink: RecordingSink, options: Omit<RecorderOptions, 'sink'> = {}): Recorder {
    const recorder = new Recorder(this.#game, this.#world, { ...options, sink })
    this.#recorders = [...this.#recorders, recorder]
    return recorder
  }

  /** Where the bits of snapshots went. */
  bandwidth(): BandwidthReport {
    return this.#account.report()
  }

  /** What each field cost over the ticks that are remembered, against rows so old: a look of some milliseconds. */
  fieldBits(ageTicks: number): FieldBits[] {
    const { timeline, coders } = this.#replicator
    return recentFieldBits(this.#world, timeline, coders, ageTicks)
  }

  resetBandwidth(): void {
    this.#account.reset()
  }

  handleInput(peer: PeerId, input: HeldInput, heap: ValueStore): void {
    for (const recorder of this.#recorders) recorder.input(peer, input.current, 0, heap, input.isHeld)
  }

  handleTick(): void {
    for (const recorder of this.#recorders) recorder.tick()
    if (this.#recorders.some(({ isClosed }) => isClosed)) this.#recorders = this.#recorders.filter(({ isClosed }) => !isClosed)
  }

  handleJoined(peer: PeerId): void {
    for (const recorder of this.#recorders) recorder.note('joined', peer)
  }

  handleLeft(peer: PeerId, { by, code }: CloseReason): void {
    for (const recorder of this.#recorders) recorder.note('left', peer, `${by}: ${code}`)
  }
}
