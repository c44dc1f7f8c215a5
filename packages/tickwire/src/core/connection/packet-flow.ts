/**
 * The packets of one open connection: numbered packets built from sources, delivered to sinks, acknowledged both ways.
 *
 * Sending: sources are asked in the order they were added, so that order is their priority. Packets are sealed in
 * place, with the header authenticated. Receiving: `open` checks the replay window and decrypts in place. `absorb`
 * checks the whole packet, then processes acks, then delivers frames to their sinks.
 *
 * Invariant: this class knows that packets contain frames, but not what a frame means. A new feature is a new source
 * and sink.
 *
 * The `SendGate` decides how much is sent: frames wait until the path may take them, acks never wait.
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

/** A source that wanted a packet but wrote nothing is asked again after this time, not at once in an endless loop. */
const FLUSH_GAP_MS = 1
const PATH_CHECK_KINDS = Uint8Array.of(CONTROL_KIND)
/** Index of the path MTU source: the first source, and the only one in probe packets. */
const MTU_SOURCE = 0
const CONTROL_SOURCE = 1

// Imported constants as module constants: a constant read through an import is loaded again at every use.
const TAG_BYTES = CRYPTO_BYTES.tag
const PAYLOAD = PACKET_TYPE.payload
const KEEPALIVE = PACKET_TYPE.keepalive

/** Packets of one connection, both directions. `#kinds` is indexed by source, `#sinks` by frame kind. */
export class PacketFlow {
  /** A source must be asked at every flush, because it does not announce when it has data. */
  isRestless: boolean = false
  /** Receives a decrypted copy of every packet. */
  watch: PacketWatch | undefined = undefined
  /** Result of `updateTimeout`. */
  readonly timeout: Float64Array = new Float64Array(1)
  #builder: PacketBuilder
  #reader: PacketReader
  #stats: ConnectionStats
  #sources: FrameSource[] = []
  #order: SourceOrder = new SourceOrder()
  #kinds: Uint8Array = new Uint8Array(FRAME_KINDS_MAX)
  #sinks: (FrameSink | undefined)[] = new Array<FrameSink | undefined>(FRAME_KINDS_MAX).fill(undefined)
  /** Header of outgoing packets. */
  #header: PacketHeader = new PacketHeader()
  #ackBlock: AckBlock = new AckBlock()
  #acks: AckWindow = new AckWindow()
  #ring: KeyRing | undefined = undefined
  #sent: SentPackets
  #gate: SendGate
  #lastSequence: number = 0
  /** No source is asked before this time. */
  readonly #fillFrom = new Float64Array([-Infinity])
  #flushPackets: number = 0
  #pathCheck: FrameSource[] = []
  #probe: readonly FrameSource[]
  #inbound: InboundLimit

  constructor(
    builder: PacketBuilder,
    reader: PacketReader,
    rtt: RttEstimator,
    stats: ConnectionStats,
    gate: SendGate,
    control: Control,
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

  /** Sets the connection id and the keys of all packets. Must be called before the first packet. */
  secure(ring: KeyRing, idLo: number, idHi: number): void {
    this.#ring = ring
    // Stored as signed numbers: values above 2^31 would be allocated on the heap, again at every call they are passed
    // to.
    this.#header.idLo = idLo | 0
    this.#header.idHi = idHi | 0
  }

  addSource(kind: number, source: FrameSource, weight: number, wake: () => void): void {
    checkKind('addSource', kind)
    if (this.#sources.length === FRAME_KINDS_MAX) {
      throw new ConfigError(
        'connection.addSource',
        `too many sources (expected at most ${FRAME_KINDS_MAX})`,
        'combine several sources into one.',
      )
    }
    this.#order.add(this.#sources.length, weight)
    this.#kinds[this.#sources.length] = kind
    this.#sources.push(source)
    if (source.attach === undefined) this.isRestless = true
    else source.attach(wake)
  }

  /** Sources that made frames of kind `from` make frames of kind `to` from now on. */
  changeKind(from: number, to: number): void {
    checkKind('changeKind', to)
    for (let index = 0; index < this.#sources.length; index++) if (this.#kinds[index] === from) this.#kinds[index] = to
  }

  addSink(kind: number, sink: FrameSink): void {
    checkKind('addSink', kind)
    if (this.#sinks[kind] !== undefined) {
      throw new ConfigError('connection.addSink', `frame kind ${kind} already has a sink`, 'add one sink per kind.')
    }
    this.#sinks[kind] = sink
  }

  /**
   * Decrypts a packet in place. A packet that is not authentic or not new is counted and has no other effect. After
   * 'flooding' the connection must be closed. @hot
   */
  open(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): 'ok' | 'dropped' | 'flooding' {
    const verdict = this.#keys().open(now, header.epoch, header.sequence, bytes, header.byteLength, length)
    const share = verdict === 'ok' ? this.#inbound.take(now) : 'ok'
    if (verdict === 'ok' && share === 'ok') return 'ok'
    if (share === 'flooding') return 'flooding'
    this.#stats.drops[verdict === 'ok' ? 'flood' : verdict]++
    return 'dropped'
  }

  /**
   * Processes a decrypted Payload or Keepalive. 'dropped': it was counted and had no other effect. After 'broken' the
   * connection must be closed. @hot
   */
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

  /** The next packet must be sent at once. */
  hurry(now: Millis): void {
    this.#acks.hurry(now)
  }

  /** Writes the next packet, if one is due or `isOwed` is true. Call until false: that is one flush. @hot */
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

  /** Computes when `poll` is next due, as of `now`. Stored in `timeout`, because a returned double is boxed. @hot */
  updateTimeout(now: Millis): void {
    // Without room an ack or a loss must come first. Each of them has its own deadline.
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

  /** Writes a packet that contains only a path check. */
  buildPathCheck(now: Millis, check: PathCheck, out: Transmit): void {
    const header = this.#header
    const at = this.#begin(now, this.#gate.mtu.bytes, out)
    this.#pathCheck[0] = check
    this.#builder.fill(now, header.sequence, this.#pathCheck, PATH_CHECK_KINDS)
    this.#finish(now, at, 0, out)
  }

  /** Writes a Disconnect: its own sequence number, one sealed byte. It is not acknowledged and not tracked. */
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

  /** The connection is over: every packet in flight is reported to its sources as lost. */
  abandon(now: Millis): void {
    this.#sent.abandon(now)
  }

  /** Writes a packet of padding, of the size that is probed. */
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

  /** `room`: the maximum size of the packet if it may carry frames; 0: it must not. */
  #build(now: Millis, isDue: boolean, room: number, out: Transmit): boolean {
    const header = this.#header
    const isWanted = room > 0
    const at = this.#begin(now, isWanted ? room : this.#gate.mtu.bytes, out)
    const sourceSet = isWanted ? this.#builder.fill(now, header.sequence, this.#sources, this.#kinds, this.#order) : 0
    this.#flushPackets++
    const isDone = sourceSet === 0 ? isWanted : this.#flushPackets >= PACKETS_PER_FLUSH_MAX
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

  /** Writes the header and acks of the next packet; returns the offset of its body. */
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

  /** Finishes and seals the packet that `#begin` started. */
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
  throw new ConfigError(
    `connection.${call}`,
    `invalid frame kind (expected 0 to ${CONTROL_KIND - 1}, got ${kind})`,
    `use another kind; ${CONTROL_KIND} belongs to the connection.`,
  )
}
