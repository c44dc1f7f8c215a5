/**
 * The best transport that a page can use to a server, as one datagram port: WebTransport, WebRTC, WebSocket, in this
 * order.
 *
 * All transports ("rungs") are tried at once, expensive ones slightly later. The match begins on the best one that is
 * open when the head start of the others is over. A handshake finishes on the transport it began on, because a cookie
 * is valid for one address. Once accepted, the match moves when a better transport opens. The layers above do not
 * notice: a connection is identified by an id and not by its address, so the server follows it to the new path once
 * that path is validated (`connection/path-check.ts`), and session and keys stay.
 *
 * ```
 *            opens                     a packet arrives
 * rung ────▶ ready ────▶ active, on trial ────▶ active, proven      the others are closed
 *                              │ 1 s of silence      │ closed, or 2.5 s of silence
 *                              ▼                     ▼
 *                        the previous one       climb again; after 8 s without any, the path is closed
 * ```
 *
 * During a trial beside a working path, packets alternate between both, so that a dead path costs half of them for a
 * second. Invariant: at most one path is active; every path that is neither active nor its spare is closed in the end.
 */

import { ConfigError } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import type { ClientLink, PathName } from '../core/client/client-link.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { monotonicNow as now } from './clock.ts'
import { RUNGS, type Rung } from './offers.ts'
import type { OpenRung, RungSource } from './rungs.ts'

/** How long an open transport waits for a better one before the match begins. */
const HEAD_START_MS = 250
/** WebRTC costs the server more than WebTransport, so it starts when that has failed or takes long. */
const WEBRTC_DELAY_MS = 500
const TRIAL_MS = 1000
/** The server sends at least once a second. */
const SILENT_MS = 2500
const WATCH_MS = 500
/** Slightly less than a connection's idle timeout. A server that has dropped the connection sends a reset earlier. */
const LOST_MS = 8000
const LINGER_MS = 500
/** Interval before a better transport is tried again. It doubles each time. */
const RETRY_MS_MIN = 30_000
const RETRY_MS_MAX = 480_000

interface Path extends OpenRung {
  readonly rung: Rung
  isProven: boolean
}

export class Ladder implements ClientLink {
  /** The server's address for this port, whichever transport is used. */
  readonly address: string
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  /** How many paths have been proven so far. */
  provenCount = 0
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  /** Called when another transport carries the match. */
  onSwitched: () => void = () => {}
  readonly #source: RungSource
  #query: string
  readonly #rungs: readonly Rung[]
  readonly #why: Map<Rung, string> = new Map()
  readonly #ready: Map<Rung, Path> = new Map()
  /** All open paths. */
  readonly #paths: Set<Path> = new Set()
  readonly #pending: Set<Rung> = new Set()
  readonly #folded: DatagramPortStats = createPortStats()
  readonly #gone: AbortController = new AbortController()
  readonly #timers: Set<ReturnType<typeof setTimeout>> = new Set()
  #active: Path | undefined
  #spare: Path | undefined
  #isSuspect = false
  #isHeadStartOver = false
  #isSettled = false
  #isSpareTurn = false
  #hasReceived = false
  #receivedAt = 0
  #watchedAt = 0
  #lostAt = Infinity
  #retryMs = RETRY_MS_MIN
  #isRetryDue = false
  #opened: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined

  /** `query` says which seat will be asked for. */
  constructor(source: RungSource, rungs: readonly Rung[], query: string) {
    this.#source = source
    this.#query = query
    this.#rungs = RUNGS.filter((rung) => rungs.includes(rung))
    if (this.#rungs.length === 0)
      throw new ConfigError(
        'transports',
        'empty (expected at least one transport)',
        `name some of ${RUNGS.join(', ')}, or leave it out for all.`,
      )
    this.address = source.address
  }

  /** The transport that carries the match. */
  get transport(): Rung | 'none' {
    return this.#active?.rung ?? 'none'
  }

  /** Why no better transport is used: what happened to each of them. */
  get reason(): string {
    const above = this.#rungs.slice(0, this.#active === undefined ? undefined : this.#rungs.indexOf(this.#active.rung))
    const whys = above.map(
      (rung) => `${rung}: ${this.#why.get(rung) ?? (this.#pending.has(rung) ? 'still opening' : 'not tried yet')}`,
    )
    return whys.length === 0 ? 'the best there is' : whys.join('; ')
  }

  get stats(): DatagramPortStats {
    const sum = { ...this.#folded }
    for (const { port } of this.#paths) add(sum, port.stats)
    return sum
  }

  /** Opens the first path. Rejects when there is none, with a reason for each rung. */
  async open(): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => { this.#opened = { resolve, reject } })
    this.#climb(this.#rungs)
    await opened
    const watch = setInterval(() => this.#watch(), WATCH_MS)
    this.#gone.signal.addEventListener('abort', () => clearInterval(watch))
  }

  /** The identity key that the server states, as text. */
  async identity(): Promise<string | undefined> {
    return await this.#source.identity()
  }

  /** How data reaches the server. */
  get path(): PathName {
    return this.#active === undefined ? 'none' : this.#source.pathOf(this.#active)
  }

  /** Why it is this path. */
  get pathReason(): string {
    return this.#source.pathReason ?? this.reason
  }

  /** The server has accepted the client. From now on better paths are used. */
  settle(query: string = this.#query): void {
    this.#query = query
    this.#isSettled = true
    this.#consider()
  }

  /** Tries the better transports again, now. If they fail, the current one stays. */
  climb(): void {
    const at = this.#active === undefined ? this.#rungs.length : this.#rungs.indexOf(this.#active.rung)
    this.#climb(this.#rungs.slice(0, at))
  }

  send(_to: string, bytes: Uint8Array, length: number): void {
    const isTurning = this.#spare !== undefined && this.#hasReceived && this.#active?.isProven === false
    this.#isSpareTurn = isTurning && !this.#isSpareTurn
    const path = this.#isSpareTurn ? this.#spare : this.#active
    if (path === undefined) this.#folded.unreachable++
    else path.port.send(path.address, bytes, length)
  }

  close(): void {
    this.#gone.abort()
    for (const timer of this.#timers) clearTimeout(timer)
    for (const { port } of [...this.#paths]) port.close()
    this.#source.close()
  }

  #climb(rungs: readonly Rung[]): void {
    const fresh = rungs.filter((rung) => !this.#pending.has(rung) && (this.#isSuspect || this.#active?.rung !== rung))
    if (fresh.length === 0) return
    if (fresh.some((rung) => rung !== 'websocket')) this.#source.prepare(this.#query)
    for (const rung of fresh) this.#pending.add(rung)
    const first = fresh.includes('webtransport') ? this.#attempt('webtransport') : Promise.resolve()
    if (fresh.includes('websocket')) void this.#attempt('websocket')
    if (fresh.includes('webrtc'))
      void Promise.race([first, this.#delay(WEBRTC_DELAY_MS)]).then(() => this.#attempt('webrtc'))
  }

  async #attempt(rung: Rung): Promise<void> {
    try {
      if (this.#active?.rung === 'webtransport' && this.#active.isProven && !this.#isSuspect)
        throw new Error('there is a better one')
      const open = await this.#source.open(rung, this.#query, this.#gone.signal)
      if (this.#gone.signal.aborted) open.port.close()
      else this.#arrive({ ...open, rung, isProven: false })
    } catch (error) {
      this.#why.set(rung, error instanceof Error ? error.message : String(error))
    }
    this.#pending.delete(rung)
    this.#consider()
  }

  #arrive(path: Path): void {
    this.#paths.add(path)
    this.#retire(this.#ready.get(path.rung))
    this.#ready.set(path.rung, path)
    path.port.onDatagram = (_from, bytes, length) => this.#handleDatagram(path, bytes, length)
    path.port.onPathClosed = () => this.#lose(path)
  }

  /** Takes the best transport that is ready, if it beats the current one and no better one is about to open. */
  #consider(): void {
    if (this.#gone.signal.aborted) return
    const best = this.#rungs.find((rung) => this.#ready.has(rung))
    if (best === undefined) {
      if (this.#pending.size === 0 && this.#active === undefined) this.#fail()
      return
    }
    const isBetterPending = this.#rungs.slice(0, this.#rungs.indexOf(best)).some((rung) => this.#pending.has(rung))
    if (this.#active === undefined) {
      if (!isBetterPending || this.#isHeadStartOver) this.#use(best)
      else {
        void this.#delay(HEAD_START_MS).then(() => {
          this.#isHeadStartOver = true
          this.#consider()
        })
      }
    } else if (
      this.#active.isProven
      && (this.#isSuspect || (this.#isSettled && this.#isAbove(best, this.#active.rung) && !isBetterPending))
    )
      this.#use(best)
  }

  #use(rung: Rung): void {
    const path = this.#ready.get(rung)
    if (path === undefined) return
    this.#ready.delete(rung)
    this.#spare = this.#active
    this.#active = path
    this.#lostAt = Infinity
    this.#why.delete(rung)
    this.#opened?.resolve()
    this.#opened = undefined
    void this.#delay(TRIAL_MS).then(() => {
      if (this.#active === path && !path.isProven) this.#demote(path)
    })
  }

  #handleDatagram(path: Path, bytes: Uint8Array, length: number): void {
    this.#receivedAt = now()
    this.#hasReceived = true
    if (path === this.#active) {
      this.#isSuspect = false
      if (!path.isProven) this.#prove(path)
    }
    this.onDatagram(this.address, bytes, length)
  }

  #prove(path: Path): void {
    path.isProven = true
    this.provenCount++
    // Packets that the server sent before it followed to the new path are still in flight.
    const before = this.#spare
    this.#spare = undefined
    void this.#delay(LINGER_MS).then(() => this.#retire(before))
    for (const other of this.#ready.values()) if (!this.#isAbove(other.rung, path.rung)) this.#retire(other)
    this.#retryLater()
    this.onSwitched()
    this.#consider()
  }

  /** No packet arrived on a new path. */
  #demote(path: Path): void {
    const next = this.#spare === undefined ? this.#rungs.find((rung) => this.#ready.has(rung)) : undefined
    if (this.#spare === undefined && next === undefined) return
    this.#why.set(path.rung, 'it opened, but nothing arrived on it')
    this.#active = this.#spare
    this.#spare = undefined
    this.#retire(path)
    if (next !== undefined) this.#use(next)
    else {
      this.#retryLater()
      this.#consider()
    }
  }

  #lose(path: Path): void {
    if (!this.#paths.delete(path) || this.#gone.signal.aborted) return
    add(this.#folded, path.port.stats)
    if (this.#ready.get(path.rung) === path) this.#ready.delete(path.rung)
    if (this.#spare === path) this.#spare = undefined
    if (this.#active !== path) return
    this.#why.set(path.rung, 'it was closed')
    this.#active = this.#spare
    this.#spare = undefined
    if (this.#active !== undefined) return
    this.#lostAt = now()
    this.#isHeadStartOver = false
    this.#climb(this.#rungs)
  }

  /** No transport is open, and none is opening. */
  #fail(): void {
    const error = new Error(this.#rungs.map((rung) => `${rung}: ${this.#why.get(rung) ?? 'not tried'}`).join('; '))
    this.#opened?.reject(error)
    this.#opened = undefined
    if (this.#lostAt === Infinity) return
    if (now() - this.#lostAt >= LOST_MS) this.onPathClosed(this.address)
    else void this.#delay(WATCH_MS).then(() => this.#climb(this.#rungs))
  }

  #watch(): void {
    const time = now()
    // A page that was asleep received nothing, which does not mean that the path is dead.
    if (time - this.#watchedAt > 3 * WATCH_MS) this.#receivedAt = Math.max(this.#receivedAt, time - SILENT_MS / 2)
    this.#watchedAt = time
    if (this.#active?.isProven !== true || this.#isSuspect || time - this.#receivedAt < SILENT_MS) return
    this.#isSuspect = true
    this.#why.set(this.#active.rung, 'it fell silent')
    this.#climb(this.#rungs)
    this.#consider()
  }

  /** Repeats as long as the active transport is not the best one. */
  #retryLater(): void {
    if (this.#isRetryDue || this.#active?.rung === this.#rungs[0]) return
    this.#isRetryDue = true
    void this.#delay(this.#retryMs).then(() => {
      this.#isRetryDue = false
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX)
      this.climb()
      this.#retryLater()
    })
  }

  #retire(path: Path | undefined): void {
    if (path === undefined || path === this.#active || path === this.#spare || !this.#paths.delete(path)) return
    add(this.#folded, path.port.stats)
    if (this.#ready.get(path.rung) === path) this.#ready.delete(path.rung)
    path.port.close()
  }

  #isAbove(rung: Rung, other: Rung): boolean {
    return this.#rungs.indexOf(rung) < this.#rungs.indexOf(other)
  }

  /** Never resolves once the ladder is closed. */
  #delay(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        resolve()
      }, ms)
      this.#timers.add(timer)
    })
  }
}

function add(sum: DatagramPortStats, part: DatagramPortStats): void {
  sum.sent += part.sent
  sum.received += part.received
  sum.oversized += part.oversized
  sum.unreachable += part.unreachable
  sum.congested += part.congested
  sum.refused += part.refused
  sum.errors += part.errors
}
