/**
 * Signalling within one process: for tests, and for several players in one page.
 */

import { type Signal, SignalBox, type Signaling, encodeSignal } from './signaling.ts'

/** Every member can reach every other by name. */
export class MemorySignaling implements Signaling {
  onArrival: () => void = () => {}
  readonly #members: Map<string, MemorySignaling>
  readonly #name: string
  readonly #box: SignalBox = new SignalBox()

  /** `members` is shared by all members. */
  constructor(members: Map<string, MemorySignaling>, name: string) {
    this.#members = members
    this.#name = name
    members.set(name, this)
  }

  send(peer: string, signal: Signal): void {
    if (this.#members.get(this.#name) !== this) return
    const member = this.#members.get(peer)
    if (member !== undefined && member.#box.put(this.#name, encodeSignal(signal), true)) member.onArrival()
  }

  poll(): readonly [string, Signal] | undefined {
    return this.#box.poll()
  }

  close(): void {
    if (this.#members.get(this.#name) === this) this.#members.delete(this.#name)
    this.#box.clear()
  }
}
