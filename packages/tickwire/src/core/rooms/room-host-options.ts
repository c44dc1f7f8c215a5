/**
 * Options of a room host, apart from its room types.
 */

import type { Entropy } from '../base/entropy.ts'
import type { Millis, PeerId } from '../base/time.ts'
import type { Tracer } from '../base/tracing.ts'
import type { CodeFault } from '../base/user-code.ts'
import type { RuleCode } from '../connection/close-reason.ts'
import type { FragmentPool } from '../delivery/fragment-pool.ts'
import type { EndpointConfig } from '../endpoint/endpoint-config.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { OriginLimits } from '../endpoint/origin-limits.ts'
import type { HostedRoom, RoomIdentity, RoomWiring } from './hosted-room.ts'
import type { RoomPlace } from './room-place.ts'

/** Options of a room host, apart from its room types. */
export interface RoomHostOptions<R extends HostedRoom = HostedRoom> {
  /** The source of random bytes for keys, ids and seeds. */
  readonly entropy: Entropy
  /**
   * The cryptography, the server's identity, and which tokens are valid. Default: encrypted, a random identity, no
   * tokens.
   */
  readonly security?: EndpointSecurity
  /** Rate limits per origin. Default: `ORIGIN_LIMITS` (`endpoint/origin-limits.ts`). */
  readonly limits?: Partial<OriginLimits>
  /** The memory for incomplete large messages. Hosts may share one pool. Default: a new pool. */
  readonly fragments?: FragmentPool
  /** Maximum number of rooms at once. Default: 256. */
  readonly maxRooms?: number
  /** Maximum number of connections, over all rooms. At most 4096, which is the default. */
  readonly maxConnections?: number
  /** The ticket key of the previous process, whose rooms will be restored. Default: a random key. */
  readonly ticketKey?: Uint8Array
  /** Which of several processes behind one address this is. Default: the only one. */
  readonly place?: RoomPlace
  /**
   * Whether rooms move between this host and others. Then a new client needs a reserved seat (`reserve`), and numbers
   * of rooms are random. Default: false.
   */
  readonly isInFleet?: boolean
  /** Measures ticks, in milliseconds from any origin. Without it, ticks are not measured. */
  readonly stopwatch?: () => Millis
  /**
   * A callback threw. If `fault.isFatal`, the room ends. Without this option, `tick` or `drain` throws the error at its
   * end.
   */
  readonly onError?: (fault: CodeFault, room: R | undefined) => void
  /** A client was refused, with the reason. Default: refusals are only counted. */
  readonly onRefused?: (from: string, code: RuleCode) => void
  /** Records the ways of clients that come with a span to their seats and first ticks. Default: nothing does. */
  readonly tracer?: Tracer
  /** There is something to send that the last `drain` did not know about: drain again soon. */
  readonly onWake?: () => void
}

/** A seat of a match that began at another server. */
export interface SeatClaim<R extends HostedRoom = HostedRoom> {
  /** The name of the match: the id of its room here. */
  readonly match: string
  /** The name of the room type. */
  readonly typeName: string
  readonly seed: number
  readonly peer: PeerId
  readonly isSpectator: boolean
  /** The client has an invitation to its seat in this room. */
  note(room: R): void
}

/** What a room host needs to know about its matches. `game/match-host.ts` is the one of matches with a world. */
export interface RoomHostParts<R extends HostedRoom> {
  /** The settings of the endpoint that follow from the games. */
  readonly endpoint: Pick<EndpointConfig, 'tickRate' | 'timers' | 'maxDatagramBytes' | 'congestion'>
  /** Creates a room. May throw an error of the game's code. */
  build(identity: RoomIdentity, type: R['type'], wiring: RoomWiring): R
  /** Reads the claim to a seat of a match that began at another server. Undefined: it is invalid. Default: all are. */
  readClaim?(fingerprint: Uint8Array, data: Uint8Array): SeatClaim<R> | undefined
  /** The seed of a new room, from the one that was asked for or drawn. Default: the same. */
  seedOf?(type: R['type'], seed: number): number
}
