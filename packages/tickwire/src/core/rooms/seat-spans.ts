/**
 * The spans of clients that come with one: from their request to their seat, and from their seat to the first tick that
 * runs with them.
 *
 * ```
 * tickwire.seat ┤├ tickwire.first-tick         both are part of the span that the client sent
 * ```
 *
 * It is made only with a tracer. Spans of requests that lead to no seat end with the reason. The tables are as small as
 * those of invitations and members.
 */

import { bytesToTrace, type TraceSpan, type Tracer } from '../base/tracing.ts'
import type { HostedRoom } from './hosted-room.ts'

/** A client on its way to a seat. */
interface Coming {
  readonly parent: string
  readonly span: TraceSpan
}

export class SeatSpans<R extends HostedRoom = HostedRoom> {
  readonly #tracer: Tracer
  /** Keyed by the handle of the connection. */
  readonly #coming = new Map<number, Coming>()
  /** Seated clients whose room has not ticked since. */
  readonly #seated = new Map<R, TraceSpan[]>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  /** A client asks for a seat. `trace`: the span that it sent. */
  begin(handle: number, trace: Uint8Array): void {
    if (this.#coming.has(handle)) return
    const parent = bytesToTrace(trace)
    this.#coming.set(handle, { parent, span: this.#tracer.start('tickwire.seat', parent, 'server') })
  }

  /** The client got no seat. */
  refuse(handle: number, failed: string): void {
    this.#coming.get(handle)?.span.end({ failed })
    this.#coming.delete(handle)
  }

  /** The client has its seat. */
  sit(handle: number, room: R, isBack: boolean): void {
    const coming = this.#coming.get(handle)
    if (coming === undefined) return
    this.#coming.delete(handle)
    coming.span.end({ room: room.id, isBack })
    const waiting = this.#seated.get(room) ?? []
    waiting.push(this.#tracer.start('tickwire.first-tick', coming.parent))
    this.#seated.set(room, waiting)
  }

  /** The room has run a tick, or has ended. */
  tick(room: R, facts: { readonly failed?: string } = {}): void {
    for (const span of this.#seated.get(room) ?? []) span.end({ room: room.id, ...facts })
    this.#seated.delete(room)
  }

  /** Rooms in which a client waits for its first tick. */
  get waiting(): number {
    return this.#seated.size
  }

  /** Ends the spans of clients that are no longer expected, and of rooms that have ended. */
  expire(isExpected: (handle: number) => boolean): void {
    for (const handle of this.#coming.keys()) if (!isExpected(handle)) this.refuse(handle, 'expired')
    for (const room of this.#seated.keys()) if (room.ending !== undefined) this.tick(room, { failed: 'ended' })
  }
}
