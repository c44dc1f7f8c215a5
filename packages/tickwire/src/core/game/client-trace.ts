/**
 * Everything that was ever handed to a client: bytes, times, chance and what its player did. A client is a function of these, so
 * played into a fresh one they make the same client again, to the last bit (`replayTrace`).
 *
 *   const trace = new ClientTrace()
 *   createClientHost(game, { entropy, trace })            from its first call on
 *   replayTrace(game, trace.entries)                      the same client, offline
 *
 * It holds the randomness that the session's keys were made of: whoever has a trace can read its packets. It is for development,
 * and off unless asked for.
 */

import type { Entropy } from '../base/entropy.ts'
import { TRACE_BYTES_MAX } from '../base/limits.ts'
import type { Millis, ObjectId } from '../base/time.ts'
import type { ConnectPass } from '../endpoint/endpoint.ts'
import type { JoinRequest } from './rooms/join-body.ts'

/** One thing that was handed to a client. */
export type TraceEntry =
  | { readonly kind: 'entropy'; readonly bytes: Uint8Array }
  | { readonly kind: 'connect'; readonly now: Millis; readonly to: string; readonly pass: ConnectPass; readonly join: JoinRequest | undefined }
  | { readonly kind: 'datagram'; readonly now: Millis; readonly from: string; readonly bytes: Uint8Array }
  | { readonly kind: 'path-closed'; readonly from: string }
  | { readonly kind: 'tick' | 'draw' | 'drain' | 'close'; readonly now: Millis }
  | { readonly kind: 'input'; readonly values: unknown }
  | { readonly kind: 'send'; readonly message: number; readonly values: unknown }
  | { readonly kind: 'call'; readonly rpc: number; readonly values: unknown; readonly about: ObjectId; readonly now: Millis | undefined; readonly timeoutMs: Millis | undefined }

export class ClientTrace {
  readonly entries: TraceEntry[] = []
  /** It grew too large, and what came after is not in it. */
  isFull = false
  sizeBytes = 0

  /** Chance that is remembered. */
  through(entropy: Entropy): Entropy {
    return {
      fill: (bytes) => {
        entropy.fill(bytes)
        this.add({ kind: 'entropy', bytes: bytes.slice() })
      },
    }
  }

  add(entry: TraceEntry): void {
    this.sizeBytes += 16 + ('bytes' in entry ? entry.bytes.length : 16)
    this.isFull ||= this.sizeBytes > TRACE_BYTES_MAX
    if (!this.isFull) this.entries.push(entry)
  }

  datagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    // It is opened in place: this is the last moment that it is as it came.
    this.add({ kind: 'datagram', now, from, bytes: bytes.slice(0, length) })
  }
}
