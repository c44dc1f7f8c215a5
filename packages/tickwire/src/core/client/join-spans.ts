/**
 * The spans of one join, from the call of `connect` to the first state that the player sees. Each step begins where the
 * step before it ends.
 *
 * ```
 * tickwire.join ├ tickwire.open ┤├ tickwire.handshake ┤├ tickwire.first-state ┤
 *                    └ requests to services   └ the seat at the server
 * ```
 *
 * It is made only with a tracer. After the end of the join it does nothing: returns to a seat are not traced.
 */

import { type SpanFacts, traceToBytes, type TraceSpan, type Tracer } from '../base/tracing.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { SentRequest } from '../rooms/join-body.ts'
import type { ClientLink } from './client-link.ts'
import { ConnectError } from './connect-error.ts'

/** Options of a traced join. */
export interface JoinTracing {
  /**
   * Records the steps of joining as spans of one trace, with those of the services and the server. In Node:
   * `openTraces` of `@tickwire/services`. Default: nothing is recorded or sent.
   */
  readonly tracer?: Tracer
  /** The `traceparent` of the span that the join is part of, such as a click in the list of games. Default: none. */
  readonly traceparent?: string
}

/** The steps of a join. */
type JoinStep = 'open' | 'handshake' | 'first-state'

/** What is needed of the line of a join. */
interface TracedLine {
  readonly link: ClientLink
  readonly closed: Promise<CloseReason>
  onState: (() => void) | undefined
}

export class JoinSpans {
  readonly #tracer: Tracer
  readonly #join: TraceSpan
  #step: TraceSpan | undefined
  #isOver = false

  constructor(tracer: Tracer, parent: string | undefined) {
    this.#tracer = tracer
    this.#join = tracer.start('tickwire.join', parent)
  }

  /** The spans of `connect`. Undefined: it is not traced. */
  static of({ tracer, traceparent }: JoinTracing): JoinSpans | undefined {
    return tracer && new JoinSpans(tracer, traceparent)
  }

  /** The current step, as the header `traceparent`. Undefined when the join is over. */
  get traceparent(): string | undefined {
    return this.#isOver ? undefined : this.#step?.traceparent
  }

  /** A step begins. */
  begin(step: JoinStep): void {
    if (this.#isOver) return
    this.#step?.end()
    this.#step = this.#tracer.start(`tickwire.${step}`, this.#join.traceparent, 'client')
  }

  end(facts: SpanFacts = {}): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#step?.end(facts)
    this.#join.end(facts)
  }

  /** The handshake begins. Returns the request for a seat, with the step in it. */
  ask(asked: SentRequest | undefined): SentRequest | undefined {
    this.begin('handshake')
    const trace = traceToBytes(this.traceparent)
    return trace === undefined ? asked : { ...asked, trace }
  }

  /** The line is open. The join is over with its first state, or with the line. */
  watchState(line: TracedLine): void {
    if (this.#isOver) return
    this.begin('first-state')
    const { link } = line
    line.onState = () => this.end({ transport: link.transport, path: link.path ?? 'direct' })
    void line.closed.then(({ code }) => this.end({ failed: code }))
  }

  /** If `joining` fails, the join is over. */
  watch(joining: Promise<unknown>): void {
    joining.catch((error: unknown) => this.end({ failed: error instanceof ConnectError ? error.code : 'error' }))
  }
}

/** The headers of a request to a service. */
export function traceHeaders(traceparent: string | undefined): { readonly traceparent?: string } {
  return traceparent === undefined ? {} : { traceparent }
}
