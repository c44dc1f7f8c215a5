/**
 * One visit to an R-Type server: connect, play for some seconds, send invalid packets between the valid ones, and
 * leave. It returns the record that the checks of `recorded-checks.ts` read.
 *
 * The first reliable packet is acknowledged only at its third arrival, so that its repeats can be measured. All others
 * are acknowledged each time they arrive.
 */

import { setTimeout as wait } from 'node:timers/promises'
import type { Entropy } from '../../core/base/entropy.ts'
import { read32, RTYPE_FLAG } from '../../core/rtype/header.ts'
import type { RtypePacketOf } from '../../core/rtype/packet-table.ts'
import { RTYPE } from '../../core/rtype/values.ts'
import { Wire, type Arrival, type Target } from './wire.ts'

const STEP_MS = 10
const CONNECT_MS = 500
const HEARTBEAT_MS = 1000
const PING_MS = 500
const INPUT_MS = 33
const RESEND_MS = 250
/** The client waits this long before its first HEARTBEAT, to see what an unproven address is sent. */
const UNPROVEN_MS = 400
/** The client acknowledges the packet that it holds back at this arrival. */
const HELD_ARRIVALS = 3
const AFTER_MS = 1000
/** Probes: PINGs that must have an answer or none. Each has a client timestamp of its own, which no clock reaches. */
export const MARK = {
  magic: 0xf000_0001, long: 0xf000_0002, short: 0xf000_0003, stranger: 0xf000_0004, reserved: 0xf000_0005,
  copied: 0xf000_0006, alive: 0xf000_0007,
} as const

/** What a visit brought. Times are in ms since the socket was opened. */
export interface VisitRecord {
  readonly arrivals: readonly Arrival[]
  readonly clientId: number
  readonly accepted: RtypePacketOf<'SERVER_ACCEPT'> | undefined
  readonly rejected: RtypePacketOf<'SERVER_REJECT'> | undefined
  /** The system's error code, if the socket had an error before anything arrived. */
  readonly error: string | undefined
  readonly acceptedAt: number
  readonly provenAt: number
  /** The sequence that was held back, and when it was acknowledged. */
  readonly held: { readonly sequence: number; readonly ackedAt: number } | undefined
  /** The sequence of the HEARTBEAT that was sent twice with RELIABLE. */
  readonly reliableSequence: number
  /** When CLIENT_DISCONNECT was sent without RELIABLE. */
  readonly unreliableGoodbyeAt: number
  /** The sequence of the CLIENT_DISCONNECT with RELIABLE, and when it was sent first. */
  readonly goodbye: { readonly sequence: number; readonly at: number }
}

/** How a visit goes. */
export interface VisitOptions {
  readonly name: string
  readonly clientId: number
  /** How long it plays, in ms. */
  readonly playMs: number
  /** The bits of `RTYPE.INPUT` at a time of the play, in ms. */
  readonly inputAt: (ms: number) => number
  readonly onArrival?: (arrival: Arrival) => void
  /** Whether invalid packets are sent and acknowledgements held back. */
  readonly isProbing: boolean
  /** Called every few milliseconds while it plays. */
  readonly onStep?: (ms: number) => void
  /** Whether to leave before `playMs`. */
  readonly isOver?: () => boolean
}

/** Visits a server once. */
export class Visit {
  readonly #wire: Wire
  readonly #options: VisitOptions
  #accepted: RtypePacketOf<'SERVER_ACCEPT'> | undefined = undefined
  #rejected: RtypePacketOf<'SERVER_REJECT'> | undefined = undefined
  #acceptedAt: number = 0
  #provenAt: number = 0
  #heldSequence: number | undefined = undefined
  #heldCount: number = 0
  #heldAckedAt: number = Infinity
  #reliableSequence: number = 0
  #unreliableGoodbyeAt: number = Infinity
  #goodbye: { sequence: number; at: number } = { sequence: 0, at: Infinity }
  #goodbyeAcks: number = 0
  #hasEnded: boolean = false

  constructor(wire: Wire, options: VisitOptions) {
    this.#wire = wire
    this.#options = options
    wire.onArrival = (arrival) => this.#handle(arrival)
  }

  static async run(target: Target, options: VisitOptions): Promise<VisitRecord> {
    const wire = await Wire.open(target)
    try {
      const visit = new Visit(wire, options)
      if (await visit.#connect(target.answerMs)) {
        if (options.isProbing) await wait(UNPROVEN_MS)
        visit.#provenAt = wire.now
        await visit.#play()
        await visit.#leave(target.answerMs)
      }
      return visit.#record()
    } finally {
      wire.close()
    }
  }

  async #connect(answerMs: number): Promise<boolean> {
    const { name, clientId, isProbing } = this.#options
    for (let nextAt = 0; this.#wire.now < answerMs && this.#accepted === undefined;) {
      if (this.#rejected !== undefined || this.#wire.error !== undefined) return false
      if (this.#wire.now >= nextAt) {
        this.#wire.connect(name, clientId)
        nextAt = this.#wire.now + CONNECT_MS
      }
      await wait(STEP_MS)
    }
    // The SERVER_ACCEPT may have been lost: a client repeats its request, and must get the same answer.
    if (this.#accepted !== undefined && isProbing) this.#wire.connect(name, clientId)
    return this.#accepted !== undefined
  }

  async #play(): Promise<void> {
    const { playMs, inputAt, isProbing, onStep, isOver } = this.#options
    const next = { heartbeat: 0, ping: 0, input: 0 }
    const startedAt = this.#wire.now
    const probes = isProbing ? this.#probes() : []
    const playerId = this.#accepted?.assignedPlayerId ?? 0
    for (let ms = 0; ms < playMs && !this.#hasEnded && isOver?.() !== true; ms = this.#wire.now - startedAt) {
      if (ms >= next.heartbeat) {
        this.#wire.send({ type: 'HEARTBEAT', playerId })
        next.heartbeat = ms + HEARTBEAT_MS
      }
      if (ms >= next.ping) {
        this.#ping(this.#wire.timestamp)
        next.ping = ms + PING_MS
      }
      if (ms >= next.input) {
        this.#wire.send({ type: 'PLAYER_INPUT', playerId, inputState: inputAt(ms), aimX: 1000, aimY: 0 })
        next.input = ms + INPUT_MS
      }
      while (probes[0] !== undefined && ms >= probes[0].at) probes.shift()?.run()
      onStep?.(ms)
      await wait(STEP_MS)
    }
  }

  #ping(clientTimestamp: number, flags: number = 0): void {
    this.#wire.send({ type: 'PING', clientTimestamp, clientId: this.#options.clientId }, flags)
  }

  /** A PING with a mark, as bytes that can be changed. */
  #marked(mark: number, clientId: number = this.#options.clientId): Uint8Array {
    return this.#wire.write({ type: 'PING', clientTimestamp: mark, clientId }).bytes
  }

  /** Packets that a server must ignore, and some that it must not, in the order of their times. */
  #probes(): { readonly at: number; run(): void }[] {
    const wire = this.#wire
    const patched = (mark: number, at: number, value: number): Uint8Array => {
      const bytes = this.#marked(mark)
      bytes[at] = value
      return bytes
    }
    const long = (): Uint8Array => Uint8Array.from([...this.#marked(MARK.long), 0])
    return [
      () => wire.sendRaw(patched(MARK.magic, 0, 0x53)),
      () => wire.sendRaw(long()),
      () => wire.sendRaw(this.#marked(MARK.short).subarray(0, -1)),
      () => { for (const type of [0x00, 0x20, 0x80, 0xff]) wire.sendRaw(patched(MARK.alive + 1, 2, type)) },
      () => wire.sendRaw(this.#marked(MARK.stranger, this.#options.clientId ^ 0x5555)),
      () => wire.sendRaw(patched(MARK.reserved, 3, 0xe0)),
      () => this.#sendTwice(this.#marked(MARK.copied)),
      () => this.#sendReliable(),
      () => this.#sendUnreliableGoodbye(),
      () => this.#ping(MARK.alive),
    ].map((run, index) => ({ at: 500 + index * 100, run }))
  }

  #sendTwice(bytes: Uint8Array): void {
    this.#wire.sendRaw(bytes)
    this.#wire.sendRaw(bytes)
  }

  #sendReliable(): void {
    const playerId = this.#accepted?.assignedPlayerId ?? 0
    const { bytes, sequence } = this.#wire.write({ type: 'HEARTBEAT', playerId }, RTYPE_FLAG.RELIABLE)
    this.#reliableSequence = sequence
    this.#sendTwice(bytes)
  }

  #sendUnreliableGoodbye(): void {
    const { clientId } = this.#options
    const { bytes } = this.#wire.write({ type: 'CLIENT_DISCONNECT', clientId, reason: RTYPE.DISCONNECT.NORMAL })
    bytes[3] = 0
    this.#unreliableGoodbyeAt = this.#wire.now
    this.#wire.sendRaw(bytes)
  }

  async #leave(answerMs: number): Promise<void> {
    const { clientId, isProbing } = this.#options
    const { bytes, sequence } = this.#wire.write({ type: 'CLIENT_DISCONNECT', clientId, reason: 0 })
    const at = this.#wire.now
    this.#goodbye = { sequence, at }
    while (this.#goodbyeAcks === 0 && this.#wire.now < at + answerMs) {
      this.#wire.sendRaw(bytes)
      for (let step = 0; step < RESEND_MS && this.#goodbyeAcks === 0; step += STEP_MS) await wait(STEP_MS)
    }
    if (isProbing) await wait(AFTER_MS)
  }

  #handle(arrival: Arrival): void {
    const { read } = arrival
    this.#options.onArrival?.(arrival)
    if (typeof read === 'string') return
    const { packet, header } = read
    if (packet.type === 'SERVER_ACCEPT' && this.#accepted === undefined) {
      this.#accepted = packet
      this.#acceptedAt = arrival.at
      this.#wire.accept()
    }
    if (packet.type === 'SERVER_REJECT') this.#rejected = packet
    if (packet.type === 'CLIENT_DISCONNECT') this.#hasEnded = true
    if (packet.type === 'ACKNOWLEDGMENT' && packet.ackedSequence === this.#goodbye.sequence) this.#goodbyeAcks++
    if ((header.flags & RTYPE_FLAG.RELIABLE) !== 0) this.#acknowledge(header.sequence)
  }

  #acknowledge(sequence: number): void {
    if (this.#options.isProbing) this.#heldSequence ??= sequence
    if (sequence === this.#heldSequence) {
      if (++this.#heldCount < HELD_ARRIVALS) return
      this.#heldAckedAt = Math.min(this.#heldAckedAt, this.#wire.now)
    }
    const { clientId } = this.#options
    const receivedTimestamp = this.#wire.timestamp
    this.#wire.send({ type: 'ACKNOWLEDGMENT', ackedSequence: sequence, receivedTimestamp, clientId })
  }

  #record(): VisitRecord {
    const { arrivals, error } = this.#wire
    const held = this.#heldSequence === undefined
      ? undefined
      : { sequence: this.#heldSequence, ackedAt: this.#heldAckedAt }
    return {
      arrivals, clientId: this.#options.clientId, accepted: this.#accepted, rejected: this.#rejected,
      error: arrivals.length === 0 ? error : undefined, acceptedAt: this.#acceptedAt, provenAt: this.#provenAt, held,
      reliableSequence: this.#reliableSequence, unreliableGoodbyeAt: this.#unreliableGoodbyeAt, goodbye: this.#goodbye,
    }
  }
}

/** A random client id. */
export function drawClientId(entropy: Entropy): number {
  const bytes = new Uint8Array(4)
  entropy.fill(bytes)
  return read32(bytes, 0)
}
