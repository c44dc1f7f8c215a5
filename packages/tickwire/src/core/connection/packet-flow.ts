/**
 * The traffic of one open connection: numbered packets out of sources, into sinks, acknowledged both ways.
 *
 * Out: it asks the sources in the order they were added, so that order is their priority, and seals in place, the header
 * being authenticated as it stands. In: `open` looks into the replay window and opens in place; `absorb` checks everything,
 * then takes acks, then hands frames to their sinks.
 *
 * Invariant: it knows that packets hold frames and not what any frame means; a new feature is a new source and sink.
 *
 * How much it sends is for the `SendGate` to say: frames wait until the path may take them, acks never do.
 */

import { ConfigError, assert } from '../base/assert.ts'
import { FRAME_KINDS_MAX, PACKETS_PER_FLUSH_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { KeyRing } from '../crypto/key-ring.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { AckWindow } from '../delivery/ack-window.ts'
import type { InboundLimit } from '../delivery/inbound-limit.ts'
import type { RttEstimator } from '../delivery/rtt.ts'
import type { SendGate } from '../delivery/send-gate.ts'
import { SentPackets } from '../delivery/sent-packets.ts'
import { AckBlock } from '../packet/ack-block.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../packet/header.ts'
import type { PacketBuilder } from '../packet/packet-builder.ts'
import type { PacketReader } from '../packet/packet-reader.ts'
import type { PacketWatch } from '../packet/packet-watch.ts'
import { SourceOrder } from '../packet/source-order.ts'
import { CONTROL_KIND, type Control } from './control.ts'
import type { PathCheck } from './path-check.ts'
import type { ConnectionStats } from './stats.ts'
import type { Transmit } from './transmit.ts'

/** A source that wants a packet and then has nothing for it is asked again after this, not at once for ever. */
const FLUSH_GAP_MS = 1
const PATH_CHECK_KINDS = Uint8Array.of(CONTROL_KIND)
/** The place of the path's size among the sources: the first, and the only one in packets that are probes. */
const MTU_SOURCE = 0
const CONTROL_SOURCE = 1

// Imported constants as the module's own: read through an import they are loaded anew each time.
const TAG_BYTES = CRYPTO_BYTES.tag
const PAYLOAD = PACKET_TYPE.payload
const KEEPALIVE = PACKET_TYPE.keepalive
const FLUSH_PACKETS_MAX = PACKETS_PER_FLUSH_MAX

/** Packets of one connection, both ways. */
export class PacketFlow {
  /** A source has to be asked at every flush: it does not say when it has something. */
  isRestless: boolean = false
  /** Shown every packet in the clear. */
  watch: PacketWatch | undefined = undefined
  /** What `updateTimeout` found. */
  readonly timeout: Float64Array = new Float64Array(1)
  #builder: PacketBuilder
  #reader: PacketReader
  #stats: ConnectionStats
  #sources: FrameSource[] = []
  #order: SourceOrder = new SourceOrder()
  #kinds: Uint8Array = new Uint8Array(FRAME_KINDS_MAX)
  #sinks: (FrameSink | undefined)[] = new Array<FrameSink | undefined>(FRAME_KINDS_MAX).fill(undefined)
  /** Of our packets. */
  #header: PacketHeader = new PacketHeader()
  #ackBlock: AckBlock = new AckBlock()
  #acks: AckWindow = new AckWindow()
  #ring: KeyRing | undefined = undefined
  #sent: SentPackets
  #gate: SendGate
  #lastSequence: number = 0
  /** No source is asked before this. */
  readonly #fillFrom = new Float64Array([-Infinity])
  #flushPackets: number = 0
  #pathCheck: FrameSource[] = []
  #probe: readonly FrameSource[]
  #inbound: InboundLimit

  constructor(
    builder: PacketBuilder, reader: PacketReader, rtt: RttEstimator, stats: ConnectionStats, gate: SendGate, control: Control,
    inbound: InboundLimit,
  ) {
    this.#builder = builder
    this.#reader = reader
    this.#stats = stats
    this.#gate = gate
    this.#kinds[MTU_SOURCE] = CONTROL_KIND
    this.#sources.push(gate.mtu, control)
    this.#kinds[CONTROL_SOURCE] = CONTROL_KIND
    this.#sinks[CONTROL_KIND] = control
    this.#probe = [gate.mtu]
    this.#inbound = inbound
    this.#sent = new SentPackets(this.#sources, rtt, stats, gate)
  }

  /** From now on packets name this connection, and are sealed and opened with these keys. Before, there are none. */
  secure(ring: KeyRing, idLo: number, idHi: number): void {
    this.#ring = ring
    // The same bits as signed numbers: those above 2^31 are on the heap, and again for every call they are handed to.
    this.#header.idLo = idLo | 0
    this.#header.idHi = idHi | 0
  }

  addSource(kind: number, source: FrameSource, weight: number, wake: () => void): void {
    checkKind('addSource', kind)
    if (this.#sources.length === FRAME_KINDS_MAX) {
      throw new ConfigError('connection.addSource', `more than ${FRAME_KINDS_MAX} sources`, 'Let one source serve several.')
    }
    this.#order.add(this.#sources.length, weight)
    this.#kinds[this.#sources.length] = kind
    this.#sources.push(source)
    if (source.attach === undefined) this.isRestless = true
    else source.attach(wake)
  }

  /** Frames of the sources of one kind are of another from now on. */
  changeKind(from: number, to: number): void {
    checkKind('changeKind', to)
    for (let index = 0; index < this.#sources.length; index++) if (this.#kinds[index] === from) this.#kinds[index] = to
  }

  addSink(kind: number, sink: FrameSink): void {
    checkKind('addSink', kind)
    if (this.#sinks[kind] !== undefined) {
      throw new ConfigError('connection.addSink', `kind ${kind} already has a sink`, 'Give each kind one sink.')
    }
    this.#sinks[kind] = sink
  }

  /**
   * Opens a packet in place. Anything but a genuine one that is new is counted and has no other effect; 'flooding' must
   * end the connection. @hot
   */
  open(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): 'ok' | 'dropped' | 'flooding' {
    const verdict = this.#keys().open(now, header.epoch, header.sequence, bytes, header.byteLength, length)
    const share = verdict === 'ok' ? this.#inbound.take(now) : 'ok'
    if (verdict === 'ok' && share === 'ok') return 'ok'
    if (share === 'flooding') return 'flooding'
    this.#stats.drops[verdict === 'ok' ? 'flood' : verdict]++
    return 'dropped'
  }

  /** Takes in a Payload or Keepalive that was opened. 'dropped' had no effect and is counted; 'broken' must end the connection. @hot */
  absorb(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): 'ok' | 'dropped' | 'broken' {
    const drops = this.#stats.drops
    const reader = this.#reader
    if (this.watch !== undefined) this.watch.handleReceived(now, header, bytes, length - TAG_BYTES)
    const verdict = reader.read(bytes, header.byteLength, length - TAG_BYTES, this.#sinks)
    const hasFrames = reader.frameCount > 0
    if (verdict === 'unknown-frame') drops.unknownFrame++
    else if (verdict === 'malformed' || hasFrames !== (header.type === PAYLOAD)) drops.malformed++
    else if (!this.#sent.isHonest(reader.acks)) drops.dishonestAck++
    else {
      this.#sent.handleAck(now, reader.acks)
      const frames = reader.deliver(now, header.sequence, this.#sinks)
      if (frames === 'ok') this.#acks.mark(now, header.sequence, hasFrames)
      else if (frames === 'no-ack') this.#stats.packetsNotAcked++
      return frames === 'broken' ? 'broken' : 'ok'
    }
    return 'dropped'
  }

  /** The peer must hear from us at once. */
  hurry(now: Millis): void {
    this.#acks.hurry(now)
  }

  /** Writes the next packet, if one is due or `isOwed` says so. Call until false: that is one flush. @hot */
  poll(now: Millis, isOwed: boolean, out: Transmit): boolean {
    this.#sent.detectLoss(now)
    const isDue = isOwed || now >= this.#acks.dueAt
    if (this.#gate.mtu.isDue(now) && this.#sent.hasRoom) return this.#buildProbe(now, out)
    const room = this.#gate.room(now)
    const isWanted = room > 0 && now >= this.#fillFrom[0] && this.#sent.hasRoom && this.#isWanted(now)
    if (isWanted && this.#flushPackets === 0) for (let i = 0; i < this.#sources.length; i++) this.#sources[i].begin(now)
    if ((isDue || isWanted) && this.#build(now, isDue, isWanted ? room : 0, out)) return true
    this.#flushPackets = 0
    return false
  }

  /** When `poll` next has something to do, as of `now`: left in `timeout`, for a double that is returned is boxed. @hot */
  updateTimeout(now: Millis): void {
    // Without room an ack or a loss must come first, and each of them is a deadline of its own.
    const hasRoom = this.#sent.hasRoom
    let fillAt = Infinity
    for (let index = 0; hasRoom && index < this.#sources.length; index++) {
      const at = this.#sources[index].wantsAt(now)
      if (at < fillAt) fillAt = at
    }
    const { timeout } = this
    timeout[0] = Math.min(this.#acks.dueAt, Math.max(fillAt, this.#fillFrom[0], this.#gate.opensAt))
    this.#sent.lower(timeout)
    if (hasRoom) this.#gate.mtu.lower(timeout)
  }

  /** Writes a packet that checks a path and holds nothing else. */
  buildPathCheck(now: Millis, check: PathCheck, out: Transmit): void {
    const header = this.#header
    const at = this.#begin(now, this.#gate.mtu.bytes, out)
    this.#pathCheck[0] = check
    this.#builder.fill(now, header.sequence, this.#pathCheck, PATH_CHECK_KINDS)
    this.#finish(now, at, 0, out)
  }

  /** Writes a Disconnect: a number of its own, one byte, sealed. It is neither acknowledged nor awaited. */
  buildDisconnect(reason: number, out: Transmit): void {
    const header = this.#header
    const ring = this.#keys()
    header.type = PACKET_TYPE.disconnect
    header.sequence = ++this.#lastSequence
    header.epoch = ring.sealingEpoch
    const at = writeHeader(header, out.bytes)
    out.bytes[at] = reason
    out.length = ring.seal(header.sequence, out.bytes, at, 1)
  }

  /** It is over: sources hear of every open packet that it is lost. */
  abandon(now: Millis): void {
    this.#sent.abandon(now)
  }

  /** Writes a packet of padding, as large as the path is hoped to carry. */
  #buildProbe(now: Millis, out: Transmit): boolean {
    const header = this.#header
    const { mtu } = this.#gate
    const at = this.#begin(now, mtu.probeBytes, out)
    mtu.onProbe(header.sequence)
    const sourceSet = this.#builder.fill(now, header.sequence, this.#probe, PATH_CHECK_KINDS)
    this.#finish(now, at, sourceSet, out)
    this.#acks.settle()
    return true
  }

  /** `room`: bytes the packet may have if it is to carry frames; 0: it must not. */
  #build(now: Millis, isDue: boolean, room: number, out: Transmit): boolean {
    const header = this.#header
    const isWanted = room > 0
    const at = this.#begin(now, isWanted ? room : this.#gate.mtu.bytes, out)
    const sourceSet = isWanted ? this.#builder.fill(now, header.sequence, this.#sources, this.#kinds, this.#order) : 0
    this.#flushPackets++
    const isDone = sourceSet === 0 ? isWanted : this.#flushPackets >= FLUSH_PACKETS_MAX
    if (isDone) this.#fillFrom[0] = now + FLUSH_GAP_MS
    if (sourceSet === 0) {
      if (isWanted) this.#gate.onUnused(now)
      if (!isDue) return false
      header.type = KEEPALIVE
      writeHeader(header, out.bytes)
    }
    this.#finish(now, at, sourceSet, out)
    this.#acks.settle()
    return true
  }

  /** Header and acks of the next packet; returns where its body begins. */
  #begin(now: Millis, bytesMax: number, out: Transmit): number {
    const header = this.#header
    header.type = PAYLOAD
    header.sequence = this.#lastSequence + 1
    header.epoch = this.#keys().sealingEpoch
    this.#acks.fill(now, this.#ackBlock)
    const at = writeHeader(header, out.bytes)
    this.#builder.begin(out.bytes, at, bytesMax - TAG_BYTES, this.#ackBlock)
    return at
  }

  /** Closes and seals the packet that `#begin` began. */
  #finish(now: Millis, at: number, sourceSet: number, out: Transmit): void {
    const header = this.#header
    const length = this.#builder.finish()
    if (this.watch !== undefined) this.watch.handleSent(now, header, out.bytes, at, length)
    out.length = this.#keys().seal(header.sequence, out.bytes, at, length - at)
    this.#sent.add(now, header.sequence, sourceSet, sourceSet === 1 << MTU_SOURCE ? 0 : out.length)
    this.#gate.onSent(now, out.length)
    this.#lastSequence = header.sequence
  }

  #keys(): KeyRing {
    assert(this.#ring !== undefined, 'packets flow once there are keys')
    return this.#ring
  }

  #isWanted(now: Millis): boolean {
    for (let index = 0; index < this.#sources.length; index++) if (this.#sources[index].wantsAt(now) <= now) return true
    return false
  }
}

function checkKind(call: string, kind: number): void {
  if (Number.isInteger(kind) && kind >= 0 && kind < CONTROL_KIND) return
  throw new ConfigError(`connection.${call}`, `frame kind ${kind}`, `Kinds are 0 to ${CONTROL_KIND - 1}; ${CONTROL_KIND} is the connection's own.`)
}
