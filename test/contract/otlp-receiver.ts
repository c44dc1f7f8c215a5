/** A receiver of OTLP/HTTP: decodes what OpenTelemetry's exporters send in the JSON encoding, and keeps the spans. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as it arrived. */
export interface ReceivedSpan {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** In ns since 1970. */
  readonly from: bigint
  readonly to: bigint
  readonly facts: { readonly [name: string]: unknown }
}

interface Value {
  readonly key: string
  readonly value: { readonly [type: string]: unknown }
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Value[] }
    readonly scopeSpans: readonly { readonly spans: readonly {
      readonly name: string
      readonly traceId: string
      readonly spanId: string
      readonly parentSpanId?: string
      readonly startTimeUnixNano: string
      readonly endTimeUnixNano: string
      readonly attributes: readonly Value[]
    }[] }[]
  }[]
}

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = []
  /** Every body, as it arrived. */
  readonly bodies: Buffer[] = []
  readonly types = new Set<string>()
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(): Promise<OtlpReceiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const type = String(request.headers['content-type'])
        receiver.#take(type, Buffer.concat(chunks), String(request.url))
        response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '')
      })
    })
    const receiver = new OtlpReceiver(server)
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The spans of one trace, the first first. */
  of(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId).toSorted((a, b) => Number(a.from - b.from))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #take(type: string, bytes: Buffer, url: string): void {
    this.bodies.push(bytes)
    this.types.add(type)
    if (url !== '/v1/traces' || type !== 'application/json') return
    for (const { resource, scopeSpans } of (JSON.parse(String(bytes)) as Body).resourceSpans) {
      const service = String(factsOf(resource.attributes)['service.name'])
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const { name, traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano, attributes } = span
        this.spans.push({
          service, name, traceId, spanId, parentSpanId, from: BigInt(startTimeUnixNano), to: BigInt(endTimeUnixNano),
          facts: factsOf(attributes),
        })
      }
    }
  }
}

function factsOf(values: readonly Value[]): { readonly [name: string]: unknown } {
  return Object.fromEntries(values.map(({ key, value }) => [key, Object.values(value)[0]]))
}
