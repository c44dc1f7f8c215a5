/**
 * The observers of a match: recorders, and the account of where the bandwidth goes.
 *
 *   const recorder = host.record(sink)              from the next tick on, until recorder.close()
 *   host.bandwidth()                                since the match began, or since host.watch.resetBandwidth()
 *
 * The host reports events to it; it never influences the match. Without recorders it costs one check of an empty list
 * per tick. The account is always on (bench/recording.bench.ts).
 */

import type { Millis, PeerId } from '../base/time.ts'
import type { UserCode } from '../base/user-code.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { BitAccount, type BandwidthReport } from '../bandwidth/bit-account.ts'
import { recentFieldBits, type FieldBits } from '../bandwidth/bit-account-fields.ts'
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

/** Options of a host's recording, in addition to those of every recorder. */
export interface HostRecordOptions extends Omit<RecorderOptions, 'sink' | 'now'> {
  /** Whether datagrams are recorded too: encrypted, as they cross the transport. Default: false. */
  readonly hasPackets?: boolean
}

type WatchedGame = RecordableGame & { readonly messages: readonly Message[] }

/** Peer 0 in a note means all peers. */
const EVERYONE = 0
const BYTE_BITS = 8

export class HostWatch {
  readonly #game: WatchedGame
  readonly #code: UserCode
  readonly #world: World
  readonly #replicator: Replicator
  readonly #account: BitAccount
  readonly #codec: MessageCodec
  /** The connection of each player, by peer id. */
  readonly #lines: () => ReadonlyMap<PeerId, { readonly connection: Connection }>
  readonly #retraining: Pick<Retraining, 'codersInForce'>
  readonly #now: () => Millis
  #recorders: readonly Recorder[] = []
  #packetRecorders: readonly Recorder[] = []
  /** Bits that had been sent to each client when counting began. Keyed by peer id. */
  readonly #sentBefore = new Map<PeerId, number>()

  constructor(
    game: WatchedGame,
    world: World,
    replicator: Replicator,
    code: UserCode,
    lines: () => ReadonlyMap<PeerId, { readonly connection: Connection }>,
    retraining: Pick<Retraining, 'codersInForce'>,
    now: () => Millis,
  ) {
    this.#now = now
    this.#game = game
    this.#code = code
    this.#lines = lines
    this.#retraining = retraining
    this.#world = world
    this.#replicator = replicator
    this.#account = new BitAccount(world)
    this.#codec = new MessageCodec(game.messages)
    replicator.probe = this.#account
  }

  /**
   * Records the match into a sink, from the next tick on, until the recorder is closed. Without a sink, the last minute
   * is kept in memory.
   */
  record(
    sink: RecordingSink = new RecordingRing(),
    { hasPackets = false, ...options }: HostRecordOptions = {},
  ): Recorder {
    const recorder = new Recorder(this.#game, this.#world, {
      ...options,
      now: this.#now,
      sink: sink instanceof RecordingRing ? sink : this.#guard(sink),
    })
    this.#recorders = [...this.#recorders, recorder]
    if (hasPackets) this.#packetRecorders = [...this.#packetRecorders, recorder]
    return recorder
  }

  /** Wraps a sink from user code. After it throws, it receives nothing more, and the match goes on. */
  #guard(sink: RecordingSink): RecordingSink {
    let isBroken = false
    return {
      write: (bytes, chunk) => {
        if (isBroken) return false
        const isTaken = this.#code.run('record', 0, () => sink.write(bytes, chunk))
        isBroken = isTaken === undefined
        return isTaken ?? false
      },
    }
  }

  /** The bandwidth since counting began. */
  bandwidth(): BandwidthReport {
    this.#replicator.settle()
    return this.#account.report((peer) => this.#sentBits(peer) - (this.#sentBefore.get(peer) ?? 0))
  }

  /**
   * The cost of each field over the ticks in the Timeline, against baselines of this age, with the tables that most
   * clients use. Takes some milliseconds.
   */
  fieldBits(ageTicks: number): FieldBits[] {
    const { timeline, coders, strideTicks } = this.#replicator
    return recentFieldBits(this.#world, timeline, this.#retraining.codersInForce ?? coders, ageTicks, 0, strideTicks)
  }

  /** Restarts the count. */
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

  /** A message was received from a player. */
  handleMessageReceived(peer: PeerId, message: Message, values: Record<string, unknown>): void {
    this.#noteMessage('received', peer, message, values)
  }

  /** A message was sent to a player, or to all players if none is given. */
  handleMessageSent(message: Message, values: Record<string, unknown>, peer: PeerId = EVERYONE): void {
    this.#noteMessage('sent', peer, message, values)
  }

  /** Whether any recorder records datagrams. */
  get hasPacketRecorders(): boolean {
    return this.#packetRecorders.length > 0
  }

  handleDatagram(from: string, bytes: Uint8Array, length: number): void {
    for (const recorder of this.#packetRecorders) recorder.packet('received', this.#peerAt(from), bytes, length)
  }

  /** Returns the port, wrapped if datagrams are recorded. */
  tap(port: Pick<DatagramPort, 'send'>): Pick<DatagramPort, 'send'> {
    if (this.#packetRecorders.length === 0) return port
    return {
      send: (to, bytes, length) => {
        for (const recorder of this.#packetRecorders) recorder.packet('sent', this.#peerAt(to), bytes, length)
        port.send(to, bytes, length)
      },
    }
  }

  #noteMessage(kind: 'received' | 'sent', peer: PeerId, message: Message, values: Record<string, unknown>): void {
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
