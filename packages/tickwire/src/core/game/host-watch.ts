/**
 * Who looks on at a match: recorders, and the account of where the bits go.
 *
 *   const recorder = host.record(sink)              from the next tick on, until recorder.close()
 *   host.bandwidth()                                since the match began, or since host.watch.resetBandwidth()
 *
 * The host tells it what happens; it never has a say. With nobody recording a tick costs it a look at an empty list; the
 * account is always on (bench/recording.bench.ts).
 */

import type { Millis, PeerId } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { BitAccount, type BandwidthReport } from '../replication/bit-account.ts'
import { recentFieldBits, type FieldBits } from '../replication/bit-account-fields.ts'
import type { Replicator } from '../replication/replicator.ts'
import { Recorder, type RecordableGame, type RecorderOptions } from '../replay/recorder.ts'
import { RecordingRing } from '../replay/recording-ring.ts'
import type { RecordingSink } from '../replay/recording-writer.ts'
import type { Message } from '../schema/definition.ts'
import type { ValueStore } from '../schema/values.ts'
import type { World } from '../world/world.ts'
import type { HeldInput } from './input-table.ts'
import { MessageCodec } from './message-codec.ts'
import type { Retraining } from './retraining.ts'

/** What a host's recording may be told beside what every recorder is. */
export interface HostRecordOptions extends Omit<RecorderOptions, 'sink'> {
  /** Whether datagrams are recorded too: sealed, as they cross the transport. Default: no. */
  readonly hasPackets?: boolean
}

type WatchedGame = RecordableGame & { readonly messages: readonly Message[] }

/** Peer 0 in a note: everyone. */
const EVERYONE = 0
const BYTE_BITS = 8

export class HostWatch {
  readonly #game: WatchedGame
  readonly #world: World
  readonly #replicator: Replicator
  readonly #account: BitAccount
  readonly #codec: MessageCodec
  /** Who is reached by which connection. */
  readonly #lines: () => ReadonlyMap<PeerId, { readonly connection: Connection }>
  readonly #retraining: Pick<Retraining, 'codersInForce'>
  #recorders: readonly Recorder[] = []
  #packetRecorders: readonly Recorder[] = []
  /** Bits that had been sent to a client when counting began. */
  readonly #sentBefore = new Map<PeerId, number>()

  constructor(
    game: WatchedGame, world: World, replicator: Replicator, lines: () => ReadonlyMap<PeerId, { readonly connection: Connection }>, retraining: Pick<Retraining, 'codersInForce'>,
  ) {
    this.#game = game
    this.#lines = lines
    this.#retraining = retraining
    this.#world = world
    this.#replicator = replicator
    this.#account = new BitAccount(world)
    this.#codec = new MessageCodec(game.messages)
    replicator.probe = this.#account
  }

  /** Records the match into a sink, from the next tick on, until the recorder is closed. Without one, the last minute is kept. */
  record(sink: RecordingSink = new RecordingRing(), { hasPackets = false, ...options }: HostRecordOptions = {}): Recorder {
    const recorder = new Recorder(this.#game, this.#world, { ...options, sink })
    this.#recorders = [...this.#recorders, recorder]
    if (hasPackets) this.#packetRecorders = [...this.#packetRecorders, recorder]
    return recorder
  }

  /** Where the bits went. */
  bandwidth(): BandwidthReport {
    this.#replicator.settle()
    return this.#account.report((peer) => this.#sentBits(peer) - (this.#sentBefore.get(peer) ?? 0))
  }

  /** What each field cost over the ticks that are remembered, against rows so old, by the tables that most are told by: a look of some milliseconds. */
  fieldBits(ageTicks: number): FieldBits[] {
    const { timeline, coders, strideTicks } = this.#replicator
    return recentFieldBits(this.#world, timeline, this.#retraining.codersInForce ?? coders, ageTicks, 0, strideTicks)
  }

  /** Begins to count anew. */
  resetBandwidth(): void {
    this.#replicator.settle()
    this.#account.reset()
    this.#sentBefore.clear()
    for (const id of this.#lines().keys()) this.#sentBefore.set(id, this.#sentBits(id))
  }

  handleInput(peer: PeerId, input: HeldInput, heap: ValueStore): void {
    for (const recorder of this.#recorders) recorder.input(peer, input.current, 0, heap, input.isHeld)
  }

  handleTick(): void {
    if (this.#recorders.length === 0) return
    for (const recorder of this.#recorders) recorder.tick()
    if (!this.#recorders.some(({ isClosed }) => isClosed)) return
    this.#recorders = this.#recorders.filter(({ isClosed }) => !isClosed)
    this.#packetRecorders = this.#packetRecorders.filter(({ isClosed }) => !isClosed)
  }

  handleJoined(peer: PeerId): void {
    for (const recorder of this.#recorders) recorder.note('joined', peer)
  }

  handleLeft(peer: PeerId, { by, code }: CloseReason): void {
    for (const recorder of this.#recorders) recorder.note('left', peer, `${by}: ${code}`)
  }

  /** A message that came from a player. */
  handleHeard(peer: PeerId, message: Message, values: Record<string, unknown>): void {
    this.#noteMessage('heard', peer, message, values)
  }

  /** A message that goes to a player; without one, to everyone. */
  handleTold(message: Message, values: Record<string, unknown>, peer: PeerId = EVERYONE): void {
    this.#noteMessage('told', peer, message, values)
  }

  /** Somebody records datagrams. */
  get hasPacketRecorders(): boolean {
    return this.#packetRecorders.length > 0
  }

  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    for (const recorder of this.#packetRecorders) recorder.packet(now, 'received', this.#peerAt(from), bytes, length)
  }

  /** The port itself, or one that shows what is sent to who records it. */
  tap(now: Millis, port: Pick<DatagramPort, 'send'>): Pick<DatagramPort, 'send'> {
    if (this.#packetRecorders.length === 0) return port
    return {
      send: (to, bytes, length) => {
        for (const recorder of this.#packetRecorders) recorder.packet(now, 'sent', this.#peerAt(to), bytes, length)
        port.send(to, bytes, length)
      },
    }
  }

  #noteMessage(kind: 'heard' | 'told', peer: PeerId, message: Message, values: Record<string, unknown>): void {
    if (this.#recorders.length === 0) return
    const bytes = this.#codec.encode(message, values)
    if (bytes !== undefined) for (const recorder of this.#recorders) recorder.note(kind, peer, bytes)
  }

  #peerAt(address: string): PeerId {
    for (const [id, { connection }] of this.#lines()) if (connection.address === address) return id
    return 0
  }

  #sentBits(peer: PeerId): number {
    return (this.#lines().get(peer)?.connection.stats.bytesSent ?? 0) * BYTE_BITS
  }
}
