/** The requests of `browse`, with what pages and Node both have: `fetch`, which core does not. */

import { LIST_ANSWER_BYTES_MAX, LIST_ASK_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import type { BrowseMachine } from './browse-trackers.ts'

/** The part of a response of `fetch` that a list needs. */
export interface ListResponse {
  readonly ok: boolean
  readonly status: number
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
      cancel(): Promise<void>
    }
  } | null
}

/** What a page or a process of Node brings. */
export interface BrowseParts {
  provider(): CryptoProvider
  /** `fetch` without redirects, which gives up after `ms`. */
  fetch(url: string, headers: Readonly<Record<string, string>>, ms: Millis): Promise<ListResponse>
  /** Whole UTF-8 to text. */
  decode(bytes: Uint8Array): string
  /** Ms since 1970. */
  wallMs(): number
}

/** Makes the machine of `browse`. */
export function browseMachine({ provider, fetch, decode, wallMs }: BrowseParts): BrowseMachine {
  return {
    get provider() {
      return provider()
    },
    wallMs,
    async getJson(url, traceparent) {
      const headers = { accept: 'application/json', ...(traceparent !== undefined && { traceparent }) }
      const response = await fetch(url, headers, LIST_ASK_MS)
      if (!response.ok || response.body === null) throw new Error(`the list is refused: ${response.status}`)
      return JSON.parse(decode(await readAll(response.body))) as unknown
    },
  }
}

async function readAll(body: NonNullable<ListResponse['body']>): Promise<Uint8Array> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { value } = await reader.read()
    if (value === undefined) break
    size += value.length
    if (size > LIST_ANSWER_BYTES_MAX) {
      await reader.cancel()
      throw new Error('the list is too long')
    }
    chunks.push(value)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
