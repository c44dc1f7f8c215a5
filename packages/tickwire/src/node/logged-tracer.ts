/** A tracer that also logs every step when it ends, with the id of its trace: logs and traces lead to each other. */

import type { SpanFacts, TraceSpan, Tracer } from '../core/base/tracing.ts'
import type { ServeLog } from './status-log.ts'

/** The id of the trace in a `traceparent`. */
export function traceIdOf(traceparent: string): string {
  return traceparent.split('-', 2)[1] ?? ''
}

/** Logs the steps of `tracer`. A step that failed is a warning. */
export function loggedTracer(tracer: Tracer, log: ServeLog): Tracer {
  return {
    start(name, parent, kind): TraceSpan {
      const span = tracer.start(name, parent, kind)
      let isOver = false
      return {
        traceparent: span.traceparent,
        end(facts: SpanFacts = {}) {
          span.end(facts)
          const { traceparent } = span
          if (isOver || traceparent === undefined) return
          isOver = true
          const { failed } = facts
          log({
            level: failed === undefined ? 'info' : 'warn', event: 'traced',
            message: failed === undefined ? `${name} is over` : `${name} failed: ${failed}`,
            facts: { ...facts, step: name, trace: traceIdOf(traceparent) },
          })
        },
      }
    },
  }
}
