/**
 * The race for a direct path to one peer: probes go to every candidate while data already goes by relay.
 *
 * ```
 *             start            answered
 *   idle ─────────▶ racing ─────────────▶ direct
 *                   │   ▲  ◀───────────── │        silent, moved
 *          over     ▼   │ again, moved
 *                  relayed
 * ```
 *
 * A probe proves that the peer sent it (a mac under a key from signalling). Its source becomes a candidate: behind some
 * routers a peer sends from a port that it could not announce. A reply from the address that was probed proves that the
 * path carries data both ways.
 *
 * Invariants: at most CANDIDATES_MAX + CANDIDATES_LEARNT_MAX addresses are probed, for PROBE_RACE_MS at a time. An
 * answer goes only to the address that a valid probe came from, and has its length.
 */

import {
  CANDIDATES_LEARNT_MAX, CANDIDATES_MAX, PATH_SILENCE_MS, PATH_WATCH_MS, PROBE_AGAIN_MS, PROBE_MS, PROBE_RACE_MS,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { Transmit } from '../connection/transmit.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import type { Candidate, PathMode } from './candidates.ts'
import { RELAY_KIND, RelayMessage, isMacValid, readRelay, sealRelay } from './relay-wire.ts'

/** The state of a race. */
export type PathState = 'idle' | 'racing' | 'relayed' | 'direct'

/** The events of a race. */
export type PathEvent = 'start' | 'answered' | 'over' | 'silent' | 'moved' | 'again'

/** Why this path is used. */
export type PathReason =
  | 'not-started' | 'race-runs' | 'probe-answered' | 'no-answer' | 'direct-path-silent' | 'network-changed'
  | 'relay-only'

/** The next state and its reason, by state and event. An event that is not listed changes nothing. */
export const PATH_TABLE: {
  readonly [state in PathState]: { readonly [event in PathEvent]?: readonly [PathState, PathReason] }
} = {
  idle: { start: ['racing', 'race-runs'] },
  racing: { answered: ['direct', 'probe-answered'], over: ['relayed', 'no-answer'] },
  relayed: {
    answered: ['direct', 'probe-answered'], again: ['racing', 'race-runs'], moved: ['racing', 'network-changed'],
  },
  direct: { silent: ['racing', 'direct-path-silent'], moved: ['racing', 'network-changed'] },
}

/** The transactions of this many probes are remembered. */
const TRANSACTIONS_KEPT = 64
/** An answer from another address must be faster by this much, in ms, to win over the first. */
const FASTER_MS = 5

/** One address that is probed. */
interface Target {
  readonly address: string
  sendAt: Millis
}

/** Configuration of a race. */
export interface PathRaceConfig {
  /** The crypto library. */
  readonly provider: CryptoProvider
  /** 16 bytes that both peers share by signalling. */
  readonly key: Uint8Array
  /** `relay-only` neither probes nor answers. Default `race`. */
  readonly mode?: PathMode
}

/** The race for a path to one peer. */
export class PathRace {
  /** The state of the race. */
  state: PathState = 'idle'
  /** The reason of the state. */
  reason: PathReason = 'not-started'
  /** The address of the direct path; '' while there is none. */
  direct: string = ''
  /** Its round trip in ms. */
  rttMs: number = Infinity
  #config: PathRaceConfig
  #targets: Target[] = []
  #learnt: number = 0
  /** Addresses from which the peer has sent. */
  #proven: string[] = []
  #message: RelayMessage = new RelayMessage()
  #transaction: number = 0
  /** When a probe was sent, and to which address. Both indexed by transaction % TRANSACTIONS_KEPT. */
  #sentAt: Float64Array = new Float64Array(TRANSACTIONS_KEPT).fill(-Infinity)
  #sentTo: string[] = new Array<string>(TRANSACTIONS_KEPT).fill('')
  #replies: { readonly to: string; readonly transaction: number }[] = []
  #endsAt: Millis = -Infinity
  #againAt: Millis = Infinity
  #watchAt: Millis = Infinity
  #answeredAt: Millis = -Infinity
  #hurryAt: Millis = -Infinity

  constructor(config: PathRaceConfig) {
    this.#config = config
    if (config.mode === 'relay-only') this.reason = 'relay-only'
  }

  /** Probes these candidates of the peer, besides those that are known. The first call starts the race. */
  start(now: Millis, candidates: readonly Candidate[]): void {
    if (this.#config.mode === 'relay-only') return
    const before = this.#targets.length
    for (const { kind, address } of candidates) if (kind !== 'relay') this.#addTarget(now, address)
    this.#apply(now, this.state === 'relayed' && this.#targets.length > before ? 'again' : 'start')
  }

  /** The network of this machine changed: all paths are in doubt. */
  handleNetworkChange(now: Millis): void {
    this.#apply(now, 'moved')
  }

  /** Whether the peer has sent a valid probe or reply from this address. */
  hasProven(address: string): boolean {
    return this.#proven.includes(address)
  }

  /** Handles a probe or a reply of this peer. False when the datagram is neither. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): boolean {
    const message = this.#message
    if (this.#config.mode === 'relay-only' || !readRelay(bytes, length, message)) return false
    if (message.kind !== RELAY_KIND.probe && message.kind !== RELAY_KIND.probeReply) return false
    if (!isMacValid(this.#config.provider, this.#config.key, bytes, length)) return false
    this.#prove(from)
    if (message.kind === RELAY_KIND.probe) this.#handleProbe(now, from, message.transaction)
    else this.#handleReply(now, from, message.transaction)
    return true
  }

  /** The next probe or reply. */
  pollTransmit(now: Millis, out: Transmit): boolean {
    const reply = this.#replies.shift()
    if (reply !== undefined) return this.#send(out, RELAY_KIND.probeReply, reply.to, reply.transaction)
    if (now >= this.#againAt) this.#apply(now, 'again')
    if (this.state === 'direct') return this.#watch(now, out)
    if (this.state !== 'racing') return false
    if (now >= this.#endsAt) {
      this.#apply(now, 'over')
      return false
    }
    const due = this.#targets.find(({ sendAt }) => now >= sendAt)
    if (due === undefined) return false
    due.sendAt = now + PROBE_MS
    return this.#probe(now, out, due.address)
  }

  /** When `pollTransmit` must be called next. */
  pollTimeout(now: Millis): Millis {
    if (this.#replies.length > 0) return now
    let next = this.#againAt
    if (this.state === 'direct') next = Math.min(next, this.#watchAt, this.#answeredAt + PATH_SILENCE_MS)
    if (this.state === 'racing') {
      next = Math.min(next, this.#endsAt)
      for (const { sendAt } of this.#targets) next = Math.min(next, sendAt)
    }
    return Math.max(now, next)
  }

  #handleProbe(now: Millis, from: string, transaction: number): void {
    if (this.#replies.length < CANDIDATES_LEARNT_MAX) this.#replies.push({ to: from, transaction })
    const known = this.#targets.find(({ address }) => address === from)
    // The peer's router lets this address through now: a probe at once saves a probe interval.
    if (known !== undefined && this.state === 'racing') known.sendAt = Math.min(known.sendAt, this.#hurriedAt(now))
    if (known !== undefined || this.#learnt >= CANDIDATES_LEARNT_MAX) return
    this.#learnt++
    this.#addTarget(now, from)
    // The peer sends from here now: answer its race with one of our own.
    if (this.state === 'relayed') this.#apply(now, 'again')
  }

  /** When a probe may be sent out of turn: not more often than in turn. */
  #hurriedAt(now: Millis): Millis {
    if (now < this.#hurryAt) return Infinity
    this.#hurryAt = now + PROBE_MS
    return now
  }

  #handleReply(now: Millis, from: string, transaction: number): void {
    const sentAt = this.#sentAt[transaction % TRANSACTIONS_KEPT]
    const isKnown = transaction > this.#transaction - TRANSACTIONS_KEPT && transaction <= this.#transaction
    // Between two symmetric routers every answer comes from a new port: such a path would carry no data.
    if (!isKnown || this.#sentTo[transaction % TRANSACTIONS_KEPT] !== from) return
    const rttMs = now - sentAt
    if (from === this.direct) this.#answeredAt = now
    if (this.state === 'direct' && (from === this.direct || rttMs + FASTER_MS >= this.rttMs)) return
    this.direct = from
    this.rttMs = rttMs
    this.#answeredAt = now
    this.#watchAt = now + PATH_WATCH_MS
    this.#apply(now, 'answered')
  }

  /** Probes the path in use, so that silence means failure. */
  #watch(now: Millis, out: Transmit): boolean {
    if (now >= this.#answeredAt + PATH_SILENCE_MS) {
      this.#apply(now, 'silent')
      return this.pollTransmit(now, out)
    }
    if (now < this.#watchAt) return false
    this.#watchAt = now + PATH_WATCH_MS
    return this.#probe(now, out, this.direct)
  }

  #apply(now: Millis, event: PathEvent): void {
    const next = PATH_TABLE[this.state][event]
    if (next === undefined) return
    ;[this.state, this.reason] = next
    this.#againAt = this.state === 'relayed' ? now + PROBE_AGAIN_MS - PROBE_RACE_MS : Infinity
    if (this.state !== 'direct') {
      this.direct = ''
      this.rttMs = Infinity
    }
    if (this.state !== 'racing') return
    this.#endsAt = now + PROBE_RACE_MS
    for (const target of this.#targets) target.sendAt = now
  }

  /** The oldest address gives way. */
  #prove(address: string): void {
    if (this.#proven.includes(address)) return
    if (this.#proven.length >= CANDIDATES_MAX + CANDIDATES_LEARNT_MAX) this.#proven.shift()
    this.#proven.push(address)
  }

  #addTarget(now: Millis, address: string): void {
    if (this.#targets.some((target) => target.address === address)) return
    // The oldest gives way: a peer that changes its network often must not make this one probe ever more addresses.
    if (this.#targets.length >= CANDIDATES_MAX + CANDIDATES_LEARNT_MAX) this.#targets.shift()
    this.#targets.push({ address, sendAt: now })
  }

  #probe(now: Millis, out: Transmit, to: string): boolean {
    this.#transaction++
    this.#sentAt[this.#transaction % TRANSACTIONS_KEPT] = now
    this.#sentTo[this.#transaction % TRANSACTIONS_KEPT] = to
    return this.#send(out, RELAY_KIND.probe, to, this.#transaction)
  }

  #send(out: Transmit, kind: number, to: string, transaction: number): boolean {
    const message = this.#message
    message.kind = kind
    message.idLo = 0
    message.idHi = 0
    message.transaction = transaction
    out.to = to
    out.length = sealRelay(this.#config.provider, this.#config.key, message, out.bytes)
    return true
  }
}
