/**
 * The relay of a hosted match, in a Worker of the host's page. Timers of a Worker are not throttled when the page is
 * hidden, so the match goes on for the others.
 *
 * ```ts
 * import { runRelay } from 'tickwire/worker'
 * runRelay()
 * ```
 */

import { pureProvider } from '../core/crypto/pure-provider.ts'
import { MessagePorts } from '../core/endpoint/message-ports.ts'
import type { LockstepCard } from '../core/order/lockstep-card.ts'
import { createRelayHost } from '../core/relaying/relay-host.ts'
import type { RelayMatch } from '../core/relaying/relay-match.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { RelayCommand, RelayRules } from '../browser/relay-command.ts'
import { monotonicNow as now } from '../browser/clock.ts'
import { systemEntropy } from '../browser/entropy.ts'

const RESUME_MS = 60_000
const CLOSE_MS = 500

/** Runs the relay of one match, as the page commands. Call it once, in the script of a Worker. */
export function runRelay(): void {
  let relay: WorkerRelay | undefined
  globalThis.addEventListener('message', ({ data }: MessageEvent<RelayCommand>) => {
    if (data.name === 'open') {
      relay = new WorkerRelay(data.card, data.rules)
      globalThis.postMessage('open')
    } else if (data.name === 'admit') relay?.admit(data.port)
    else relay?.close(() => globalThis.postMessage('closed'))
  })
}

class WorkerRelay {
  readonly #host: RoomHost<RelayMatch>
  readonly #ports = new MessagePorts()
  #timer: ReturnType<typeof setTimeout> | undefined
  #closeBy = Infinity
  #onClosed: () => void = () => {}

  constructor(game: LockstepCard, { relay, seed, resumeMs = RESUME_MS, observers = 0 }: RelayRules) {
    const [, capacity] = game.players
    const type = { game, capacity, resumeMs, spectators: observers, emptyMs: Infinity, ...(relay && { relay }) }
    this.#host = createRelayHost({ match: type }, {
      entropy: systemEntropy, maxRooms: 1, security: { provider: pureProvider },
      // Every way in was opened by the page.
      limits: { originOf: (address) => address }, onError: () => {}, onWake: () => this.#wakeSoon(),
    })
    this.#host.create('match', seed === undefined ? {} : { seed })
    this.#ports.onDatagram = (from, bytes, length) => {
      this.#host.handleDatagram(now(), from, bytes, length)
      this.#wake()
    }
    this.#ports.onPathClosed = (address) => {
      this.#host.handlePathClosed(address)
      this.#wakeSoon()
    }
    this.#wake()
  }

  admit(port: MessagePort): void {
    this.#ports.admit(port)
  }

  /** Ends the match for all, and calls `onClosed` when the clients know, or after half a second. */
  close(onClosed: () => void): void {
    this.#onClosed = onClosed
    this.#closeBy = now() + CLOSE_MS
    this.#host.close(now())
    this.#wake()
  }

  #wakeSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#wake(), 0)
  }

  #wake(): void {
    clearTimeout(this.#timer)
    const time = now()
    this.#host.tick(time)
    const wakeAt = this.#host.drain(time, this.#ports)
    const isOver = this.#closeBy !== Infinity && (this.#host.endpoint.connections.length === 0 || time > this.#closeBy)
    if (isOver) return this.#onClosed()
    const next = Math.min(wakeAt, this.#closeBy)
    if (next !== Infinity) this.#timer = setTimeout(() => this.#wake(), Math.max(0, next - now()))
  }
}
