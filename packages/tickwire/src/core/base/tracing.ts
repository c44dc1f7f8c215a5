/**
 * What the engine needs of a library for distributed traces, such as OpenTelemetry. It imports none. Without a tracer
 * nothing is recorded, and nothing is sent.
 *
 * A span is named by a text of W3C Trace Context, the header `traceparent`. It travels in the headers of requests to
 * services, and as 24 bytes in the request for a seat (`rooms/join-body.ts`):
 *
 *     00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
 *        trace id, 16 bytes               span id, 8       1: recorded
 */

/** Short values about a step: never an address, a token or a name of a player. */
export type SpanFacts = { readonly [name: string]: string | number | boolean }

/** One timed step of a trace. */
export interface TraceSpan {
  /** The span as the header `traceparent`. Undefined: it is not recorded. */
  readonly traceparent: string | undefined
  /** The step is over. `facts.failed` is the reason of a step that failed. Only the first call counts. */
  end(facts?: SpanFacts): void
}

/** Records spans. `openTraces` of `@tickwire/services` makes one that sends them to an OpenTelemetry collector. */
export interface Tracer {
  /**
   * A step begins. `parent`: the `traceparent` of the span that it is part of. Undefined: a new trace begins. `kind`:
   * whether it asks another program, or answers one. Default: neither.
   */
  start(name: string, parent: string | undefined, kind?: 'client' | 'server'): TraceSpan
}

/** Bytes of a span in a request for a seat. */
export const TRACE_BYTES = 24

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f][13579bdf]$/

/** A recorded span as bytes. Undefined: the text is no `traceparent`, or the span is not recorded. */
export function traceToBytes(traceparent: string | undefined): Uint8Array | undefined {
  const [, trace = '', span = ''] = TRACEPARENT.exec(traceparent ?? '') ?? []
  const digits = trace + span
  if (digits === '') return undefined
  return Uint8Array.from({ length: TRACE_BYTES }, (_, at) => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16))
}

/** The bytes as the header `traceparent`. */
export function bytesToTrace(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `00-${digits.slice(0, 32)}-${digits.slice(32)}-01`
}
