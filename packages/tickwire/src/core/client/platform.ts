/**
 * What a room needs of the machine that it runs on: a page or Node. Core has no clock, no timers and no sockets, so
 * they are handed in. `browser/page-platform.ts` and `node/node-platform.ts` are the two platforms.
 */

import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import type { FaultListener } from '../base/user-code.ts'
import type { ClientParts } from '../game/client-host-options.ts'
import type { JoinRequest } from '../rooms/join-body.ts'
import type { ClientLink } from './client-link.ts'
import type { CodeProblem } from './connect-error.ts'
import type { JoinSpans } from './join-spans.ts'
import type { Room } from './room.ts'

/** A page, or a process of Node. */
export interface ClientPlatform {
  /** Monotonic time. */
  now(): Millis
  readonly entropy: Entropy
  /** Calls `run` once, after `ms`. The returned function cancels it. */
  later(ms: Millis, run: () => void): () => void
  /** Calls `draw` before the next repaint. */
  repaint(draw: () => void): void
  /** Whether the player cannot see the game now. A hidden game sends neutral input. */
  isHidden(): boolean
  /** Calls `listener` when the network or the page is back. The returned function removes it. */
  onWake(listener: () => void): () => void
  /** Calls `listener` when the program ends. The returned function removes it. */
  onGone(listener: () => void): () => void
  /** How long ago this program was loaded. */
  ageMs(): Millis
  /** Reports an error of a callback, if the room has no `onError` listener. */
  readonly reportFault: FaultListener
  /** A room was opened or has ended. Tools look for rooms here. */
  noteRoom(room: Room, isOpen: boolean): void
  /** Keeps tickets for the program that follows this one, such as a reloaded page. Undefined: it keeps none. */
  readonly seats: SeatStore | undefined
}

/** Tickets that outlive the program. */
export interface SeatStore {
  /** The ticket of the program before, for this place. It is removed from the store. */
  take(place: string): Uint8Array | undefined
  /**
   * Keeps a ticket until the returned function is called with how the match ended: whether the connection was lost, so
   * that the seat can still be resumed.
   */
  keep(place: string, ticket: Uint8Array): (isLost: boolean) => void
}

/** What answers at the address of a server. */
export type Diagnosis =
  | { readonly kind: 'down' }
  /** A Tickwire server, which refuses pages of this origin. */
  | { readonly kind: 'origin'; readonly origin: string }
  | { readonly kind: 'other-service' }
  /** A rendezvous, which does not lead to a match. */
  | { readonly kind: 'code'; readonly problem: CodeProblem }
  /** A Tickwire server, running for `upMs`. */
  | { readonly kind: 'server'; readonly upMs: Millis }

/** A server that a room is joined at. */
export interface ServerSite {
  /** Its address, for messages and for the store of tickets. */
  readonly place: string
  /** Whether it is on this machine, as in development. */
  readonly isLocal: boolean
  /** Whether the identity that it states may be trusted, because the request for it was encrypted (https). */
  readonly isSecure: boolean
  /** Whether it leads to one of several servers, so that another attempt may find another one. Default: no. */
  readonly isFleet?: boolean
  readonly parts: ClientParts
  /** Records the steps of the first join. Default: nothing does. */
  readonly spans?: JoinSpans | undefined
  /**
   * Opens a transport. `query` says which seat will be asked for (`rooms/room-place.ts`), `asked` is the request
   * itself. Rejects with the reason.
   */
  open(query: string, asked?: JoinRequest): Promise<ClientLink>
  /** Asks what answers there, after a failure. Never rejects. */
  diagnose(): Promise<Diagnosis>
}
