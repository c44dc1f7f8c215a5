/**
 * A host's side of a rendezvous: it gets a code, listens for guests, and takes the code back when the rendezvous was
 * gone. The match does not depend on it: while the rendezvous is away, only new guests cannot join.
 *
 * ```
 *            lost                      answered
 * open ─────────────▶ coming back ─────────────────▶ open, same code
 *                     1, 2, 4, 5 s … │ the secret is refused
 *                                    └─────────────▶ open, another code
 * ```
 */

import type { Millis } from '../base/time.ts'
import { RendezvousSignaling } from '../nat/rendezvous-signaling.ts'
import type { Signal } from '../nat/signaling.ts'
import type { OwnSession, Rendezvous, SessionFacts } from './rendezvous.ts'

const PAUSE_MS_MIN = 1000
const PAUSE_MS_MAX = 5000

/** What a session does with its guests, and the timers it needs. */
export interface HostedSessionParts {
  readonly rendezvous: Rendezvous
  readonly facts: SessionFacts
  readonly isStrong: boolean
  /** Whether candidates on this machine are kept. */
  readonly isLoopbackAllowed: boolean
  later(ms: Millis, run: () => void): () => void
}

/** A session that its host keeps. */
export class HostedSession {
  /** Called for every message of a guest. */
  onSignal: (guest: string, signal: Signal) => void = () => {}
  /** Called when a guest has closed its signalling. It may still play. */
  onGuestGone: (guest: string) => void = () => {}
  /** Called when the code has changed: the rendezvous did not accept the old one. */
  onCode: () => void = () => {}
  /** Called when guests reach this host again. What was sent to them meanwhile is lost. */
  onBack: () => void = () => {}
  own: OwnSession
  readonly #parts: HostedSessionParts
  #signals: RendezvousSignaling | undefined
  #isClosed: boolean = false
  #cancel: () => void = () => {}

  constructor(own: OwnSession, parts: HostedSessionParts) {
    this.own = own
    this.#parts = parts
  }

  /** Makes a session. Guests are let in after `listen`. Rejects when the rendezvous does not answer. */
  static async create(parts: HostedSessionParts): Promise<HostedSession> {
    return new HostedSession(await parts.rendezvous.create(parts.facts, parts.isStrong), parts)
  }

  /** Whether the rendezvous is connected, so that guests can join. */
  get isListening(): boolean {
    return this.#signals !== undefined && this.#signals.name !== ''
  }

  /** Lets guests in. Resolves when the rendezvous has accepted this host. */
  async listen(): Promise<void> {
    const { session, code, key, secret } = this.own
    const socket = await this.#parts.rendezvous.openSignals()
    if (this.#isClosed) return socket.close()
    const signals = new RendezvousSignaling(socket, { session, code, key, secret }, this.#parts.isLoopbackAllowed)
    this.#signals = signals
    signals.onArrival = () => {
      for (let next = signals.poll(); next !== undefined; next = signals.poll()) this.onSignal(...next)
    }
    signals.onLeft = (guest) => this.onGuestGone(guest)
    await new Promise<void>((resolve, reject) => {
      signals.onWelcome = resolve
      signals.onLost = () => {
        reject(new Error('the rendezvous closed the connection'))
        if (this.#signals === signals) this.#handleLost()
      }
    })
  }

  /** Sends a message to a guest. It may be lost. */
  send(guest: string, signal: Signal): void {
    this.#signals?.send(guest, signal)
  }

  /** The network of this machine changed: the socket may be dead without a sign of it. */
  renew(): void {
    const signals = this.#signals
    if (this.#isClosed || signals === undefined) return
    this.#signals = undefined
    signals.close()
    this.#comeBackIn(0)
  }

  /** Ends the session: the code is not valid any longer. */
  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#signals?.end()
  }

  #handleLost(): void {
    this.#signals = undefined
    this.#comeBackIn(PAUSE_MS_MIN)
  }

  #comeBackIn(ms: Millis): void {
    if (this.#isClosed) return
    this.#cancel()
    this.#cancel = this.#parts.later(ms, () => {
      this.#comeBack().catch(() => this.#comeBackIn(Math.min(Math.max(2 * ms, PAUSE_MS_MIN), PAUSE_MS_MAX)))
    })
  }

  async #comeBack(): Promise<void> {
    const { rendezvous, facts, isStrong } = this.#parts
    const before = this.own
    const resumed = await rendezvous.resume(before, facts)
    this.own = resumed ?? await rendezvous.create(facts, isStrong)
    if (this.own.code !== before.code) this.onCode()
    if (this.#isClosed) return
    await this.listen().catch(() => {
      // `onLost` has begun to reconnect already, unless the socket never opened.
      if (this.#signals === undefined) throw new Error('no signalling')
    })
    if (this.isListening) this.onBack()
  }
}
