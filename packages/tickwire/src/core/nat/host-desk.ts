/**
 * A host's side of signalling: it answers the offers of guests, each once, and repeats an answer when the offer is
 * repeated.
 *
 * Offers come from players that know the code: their number is bounded, and the resources of one are released when the
 * place is needed.
 */

import { GUEST_OFFERS_MAX } from '../base/limits.ts'
import type { Candidate } from './candidates.ts'
import type { Signal, SignalOffer } from './signaling.ts'

/** The functions of the machine for a guest. */
export interface HostPaths {
  /** Where this host can be reached now. */
  candidates(): readonly Candidate[]
  /** A guest has made itself known: its candidates, and the key of probes. */
  introduce(guest: string, offer: SignalOffer): void
  /** More candidates of a guest. */
  addCandidates(guest: string, candidates: readonly Candidate[]): void
  /** Answers a WebRTC offer. Undefined: this host has no WebRTC, or the offer is invalid. Never rejects. */
  answer(guest: string, sdp: string): Promise<string | undefined>
  /** Releases the resources of a guest. */
  forget(guest: string): void
}

interface Guest {
  readonly key: string
  readonly sdp: string | undefined
  answer: Signal | undefined
}

/** Answers the offers of guests. */
export class HostDesk {
  readonly #identity: string
  readonly #paths: HostPaths
  readonly #send: (guest: string, signal: Signal) => void
  readonly #guests: Map<string, Guest> = new Map()

  /** `identity`: the public identity key of this host, 64 hexadecimal digits. */
  constructor(identity: string, paths: HostPaths, send: (guest: string, signal: Signal) => void) {
    this.#identity = identity
    this.#paths = paths
    this.#send = send
  }

  /** The guests that are known. */
  get guests(): readonly string[] {
    return [...this.#guests.keys()]
  }

  /** Handles a message of a guest. */
  handle(name: string, signal: Signal): void {
    if (signal.kind === 'candidate' && this.#guests.has(name)) this.#paths.addCandidates(name, signal.candidates)
    if (signal.kind !== 'offer') return
    const known = this.#guests.get(name)
    if (known !== undefined && known.key === signal.key && known.sdp === signal.sdp) {
      this.#paths.addCandidates(name, signal.candidates)
      if (known.answer !== undefined) this.#send(name, known.answer)
      return
    }
    if (known === undefined && this.#guests.size >= GUEST_OFFERS_MAX) this.#forgetOldest()
    const guest: Guest = { key: signal.key, sdp: signal.sdp, answer: undefined }
    this.#guests.set(name, guest)
    if (known?.key !== signal.key) this.#paths.introduce(name, signal)
    else this.#paths.addCandidates(name, signal.candidates)
    void this.#answer(name, guest, signal)
  }

  /** A guest has left. */
  forget(name: string): void {
    if (this.#guests.delete(name)) this.#paths.forget(name)
  }

  /** Sends every guest the current candidates of this host. */
  announce(): void {
    const candidates = this.#paths.candidates()
    for (const [name, guest] of this.#guests) {
      if (guest.answer?.kind === 'answer') guest.answer = { ...guest.answer, candidates }
      this.#send(name, { kind: 'candidate', candidates })
    }
  }

  async #answer(name: string, guest: Guest, { key, sdp: offer }: SignalOffer): Promise<void> {
    const sdp = offer === undefined ? undefined : await this.#paths.answer(name, offer)
    if (this.#guests.get(name) !== guest) return
    guest.answer = {
      kind: 'answer', identity: this.#identity, key, candidates: this.#paths.candidates(),
      ...(sdp !== undefined && { sdp }),
    }
    this.#send(name, guest.answer)
  }

  #forgetOldest(): void {
    for (const name of this.#guests.keys()) return this.forget(name)
  }
}
