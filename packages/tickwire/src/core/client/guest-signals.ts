/**
 * A guest's side of a rendezvous: signalling that comes back after its socket was lost, under the same name, so that
 * new candidates reach the host. The match never depends on it.
 */

import type { Millis } from '../base/time.ts'
import { RendezvousSignaling, type SignalPass, type TextSocket } from '../nat/rendezvous-signaling.ts'
import type { Signal, Signaling } from '../nat/signaling.ts'
import type { JoinedSession, Rendezvous } from './rendezvous.ts'

const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 5000

/** What a guest's signalling needs. */
export interface GuestSignalsParts {
  readonly rendezvous: Pick<Rendezvous, 'openSignals' | 'traceparent'>
  /** Whether candidates on this machine are kept. */
  readonly isLoopbackAllowed: boolean
  later(ms: Millis, run: () => void): () => void
}

/** Signalling that outlives its socket. */
export class GuestSignals implements Signaling {
  onArrival: () => void = () => {}
  /** Called when the rendezvous has accepted this guest for the first time. */
  onWelcome: () => void = () => {}
  /** Called when it has accepted this guest again: what was sent meanwhile is lost. */
  onBack: () => void = () => {}
  /** Called when the socket is lost and the rendezvous does not let this guest in again. */
  onLost: () => void = () => {}
  readonly #parts: GuestSignalsParts
  readonly #session: string
  #signals: RendezvousSignaling
  #name: string = ''
  #again: string = ''
  #pauseMs: Millis = PAUSE_MS_MIN
  #isClosed: boolean = false
  #cancel: () => void = () => {}

  /** `socket`: the first one, which is open. */
  constructor(parts: GuestSignalsParts, { session, ticket }: JoinedSession, socket: TextSocket) {
    this.#parts = parts
    this.#session = session
    const { traceparent } = parts.rendezvous
    this.#signals = this.#attach(socket, { session, ticket, ...(traceparent !== undefined && { traceparent }) })
  }

  send(peer: string, signal: Signal): void {
    this.#signals.send(peer, signal)
  }

  poll(): readonly [string, Signal] | undefined {
    return this.#signals.poll()
  }

  /** The network of this machine changed: the socket may be dead without a sign of it. */
  renew(): void {
    if (this.#isClosed || this.#again === '') return
    this.#signals.close()
    this.#pauseMs = PAUSE_MS_MIN
    this.#comeBackIn(0)
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#signals.close()
  }

  #attach(socket: TextSocket, pass: SignalPass): RendezvousSignaling {
    const signals = new RendezvousSignaling(socket, pass, this.#parts.isLoopbackAllowed)
    signals.onArrival = () => this.onArrival()
    signals.onWelcome = () => {
      const isBack = this.#name !== ''
      this.#name = signals.name
      this.#again = signals.again
      this.#pauseMs = PAUSE_MS_MIN
      if (isBack) this.onBack()
      else this.onWelcome()
    }
    signals.onLost = () => {
      if (this.#isClosed || signals !== this.#signals) return
      // A socket that closes before its welcome was refused.
      if (signals.name === '' || this.#again === '') this.#end()
      else this.#comeBackIn(this.#pauseMs)
    }
    return signals
  }

  #comeBackIn(ms: Millis): void {
    this.#cancel()
    this.#cancel = this.#parts.later(ms, () => {
      this.#comeBack().catch(() => {
        this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX)
        if (!this.#isClosed) this.#comeBackIn(this.#pauseMs)
      })
    })
  }

  async #comeBack(): Promise<void> {
    const socket = await this.#parts.rendezvous.openSignals()
    if (this.#isClosed) return socket.close()
    this.#signals = this.#attach(socket, { session: this.#session, name: this.#name, again: this.#again })
  }

  #end(): void {
    this.#isClosed = true
    this.onLost()
  }
}
