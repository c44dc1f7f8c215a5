/** docs/guide/operations.md: a tracer of one's own, which notes each step. A page can send the notes anywhere. */

// #region tracer
import type { SpanFacts, Tracer, TraceSpan } from 'tickwire'

export class OwnTracer implements Tracer {
  readonly #trace = drawHex(16)
  /** Steps that are over: name, parent, duration in ms, facts. */
  readonly steps: (readonly [name: string, parent: string | undefined, ms: number, facts: SpanFacts])[] = []

  start(name: string, parent: string | undefined): TraceSpan {
    const startedAt = performance.now()
    const trace = parent?.split('-')[1] ?? this.#trace
    return {
      traceparent: `00-${trace}-${drawHex(8)}-01`,
      end: (facts = {}) => void this.steps.push([name, parent, performance.now() - startedAt, facts]),
    }
  }
}

function drawHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
// #endregion
