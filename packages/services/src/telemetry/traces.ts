/**
 * Traces by OpenTelemetry: from the code or the click of a player, through the services, to the first tick at the
 * server.
 *
 * The SDK is loaded only when an address for traces is given: it costs 0.2 s of start and 25 MB of memory. It reads all
 * of its settings from the environment (`OTEL_…`): protocol, headers, sampling, attributes of the resource. Detectors
 * of hosts and processes are off: command lines have addresses, and a span never has one.
 */

import { createRequire } from 'node:module'
import { ConfigError, type SpanFacts, type TraceSpan, type Tracer } from 'tickwire'
import type { Option } from '../cli/options.ts'

/** The option of services that send traces. Its environment variable is that of OpenTelemetry. */
export const OTLP_OPTION = {
  kind: 'text', value: 'URL',
  help: 'send traces to this collector of OpenTelemetry; other OTEL_ variables apply too (none)',
} as const satisfies Option

/** Where traces are sent, and what is said about this process. */
export interface TracesOptions {
  /** The name of this program in traces: `service.name`, unless OTEL_SERVICE_NAME is set. */
  readonly service: string
  /** The collector: `http://127.0.0.1:4318`. Default: OTEL_EXPORTER_OTLP_ENDPOINT; without it, nothing is loaded. */
  readonly endpoint?: string | undefined
}

/** Traces that are being sent. */
export interface Traces {
  /** For `connect`, `serve`, `serveRooms` and the services of this package. */
  readonly tracer: Tracer
  /** Sends what waits, and ends. */
  close(): Promise<void>
}

const open = new Set<Traces>()

/** Begins to send traces. Undefined when no address is given. Throws `ConfigError` when OpenTelemetry is missing. */
export function openTraces({ service, endpoint }: TracesOptions): Traces | undefined {
  const { env } = process
  // The SDK reads its settings from there, and from nowhere else.
  if (endpoint !== undefined) env['OTEL_EXPORTER_OTLP_ENDPOINT'] = endpoint
  const isWanted = (env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? '') !== ''
  if (!isWanted || env['OTEL_SDK_DISABLED'] === 'true') return undefined
  const { NodeSDK, resources, api } = load()
  const sdk = new NodeSDK({
    serviceName: env['OTEL_SERVICE_NAME'] ?? service, instrumentations: [],
    resourceDetectors: [resources.envDetector],
  })
  sdk.start()
  const traces: Traces = {
    tracer: tracerOf(api),
    close: async () => {
      open.delete(traces)
      // A collector that is away must not keep the process.
      await sdk.shutdown().catch((error: unknown) => console.error(`tickwire: traces were not sent: ${String(error)}`))
    },
  }
  open.add(traces)
  return traces
}

/** Sends the traces of this process that wait: it ends. */
export async function closeTraces(): Promise<void> {
  await Promise.all([...open].map(async (traces) => await traces.close()))
}

type Api = typeof import('@opentelemetry/api')
type Sdk = Pick<typeof import('@opentelemetry/sdk-node'), 'NodeSDK' | 'resources'>

/** By `require`, as the SDK loads the API: a second copy of the API would record nothing. */
function load(): Sdk & { readonly api: Api } {
  const require = createRequire(import.meta.url)
  try {
    const { NodeSDK, resources } = require('@opentelemetry/sdk-node') as Sdk
    return { NodeSDK, resources, api: require('@opentelemetry/api') as Api }
  } catch (error) {
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_ENDPOINT', `OpenTelemetry is not installed (${(error as Error).message.split('\n', 1)[0]})`,
      'run "npm install @opentelemetry/api @opentelemetry/sdk-node", or do not set it.',
    )
  }
}

function tracerOf({ trace, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode }: Api): Tracer {
  const tracer = trace.getTracer('tickwire')
  const kinds = { client: SpanKind.CLIENT, server: SpanKind.SERVER } as const
  return {
    start(name, parent, kind) {
      const context = parent === undefined
        ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent: parent })
      const span = tracer.startSpan(name, { kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind] }, context)
      const carrier: { traceparent?: string } = {}
      propagation.inject(trace.setSpan(context, span), carrier)
      const { traceparent } = carrier
      return {
        traceparent,
        end(facts: SpanFacts = {}) {
          if (!span.isRecording()) return
          span.setAttributes({ ...facts })
          if (facts['failed'] !== undefined)
            span.setStatus({ code: SpanStatusCode.ERROR, message: String(facts['failed']) })
          span.end()
        },
      } satisfies TraceSpan
    },
  }
}
