/**
 * Records every input of a client: bytes, times, randomness and the player's actions. A client is a pure function of
 * these, so replaying them into a new client reproduces it bit by bit (`replayTrace`).
 *
 *   const trace = new ClientTrace()
 *   createClientHost(game, { entropy, trace })            from its first call on
 *   replayTrace(game, trace.entries)                      the same client, offline
 *
 * A trace contains the randomness that the session keys were derived from: anyone with the trace can decrypt the
 * packets. It is for development, and off by default.
 */

import type { Entropy } from '../base/entropy.ts'
import { TRACE_BYTES_MAX } from '../base/limits.ts'
import type { Millis, ObjectId } from '../base/time.ts'
import type { ConnectPass } from '../endpoint/endpoint.ts'
import type { JoinRequest } from '../rooms/join-body.ts'

/** One input of a client. */
export type TraceEntry =
  | { readonly kind: 'entropy'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'connect'
      readonly now: Millis
      readonly to: string
      readonly pass: ConnectPass
      readonly join: JoinRequest | undefined
    }
  | { readonly kind: 'datagram'; readonly now: Millis; readonly from: string; readonly bytes: Uint8Array }
  | { readonly kind: 'path-closed'; readonly from: string }
  | { readonly kind: 'tick' | 'draw' | 'drain' | 'close'; readonly now: Millis }
  | { readonly kind: 'input'; readonly values: unknown }
  | { readonly kind: 'send'; readonly message: number; readonly values: unknown }
  | {
      readonly kind: 'call'
      readonly rpc: number
      readonly values: unknown
      readonly about: ObjectId
      readonly now: Millis | undefined
      readonly timeoutMs: Millis | undefined
    }

/** Everything that was passed to a client, so that it can be replayed. */
export class ClientTrace {
  /** The entries, in order. */
  readonly entries: TraceEntry[] = []
  /** The size limit was reached; later entries are missing. */
  isFull = false
  /** The approximate size of the entries in memory. */
  sizeBytes = 0

  /** Wraps an entropy source and records what it returns. */
  through(entropy: Entropy): Entropy {
    return {
      fill: (bytes) => {
        entropy.fill(bytes)
        this.add({ kind: 'entropy', bytes: bytes.slice() })
      },
    }
  }

  /** Appends an entry, unless the trace is full. */
  add(entry: TraceEntry): void {
    this.sizeBytes += 16 + ('bytes' in entry ? entry.bytes.length : 16)
    this.isFull ||= this.sizeBytes > TRACE_BYTES_MAX
    if (!this.isFull) this.entries.push(entry)
  }

  /** Appends a copy of a received datagram. */
  datagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    // Copied now, because the datagram is decrypted in place.
    this.add({ kind: 'datagram', now, from, bytes: bytes.slice(0, length) })
  }
}
