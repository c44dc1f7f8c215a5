/** The public list of games: `core/listing/browse-trackers.ts` with the requests of this platform. */

import {
  browseTrackers, type BrowseMachine, type BrowseOptions, type BrowseResult,
} from '../core/listing/browse-trackers.ts'
import { isMod } from '../core/listing/listing-signature.ts'
import type { RequiredMod } from '../core/listing/listing.ts'
import { pageProvider } from './crypto.ts'

const ASK_MS = 5000
/** Bytes of one answer: 200 listings of 4 KiB. */
const ANSWER_BYTES_MAX = 1_048_576

const machine: BrowseMachine = {
  get provider() {
    return pageProvider
  },
  wallMs: () => Date.now(),
  async getJson(url) {
    // Cookies stay out: a list is the same for every player.
    const response = await fetch(url, {
      signal: AbortSignal.timeout(ASK_MS), credentials: 'omit', redirect: 'error',
      headers: { accept: 'application/json' },
    })
    if (!response.ok || response.body === null) throw new Error(`the list is refused: ${response.status}`)
    return JSON.parse(await readText(response.body)) as unknown
  },
}

/**
 * The games of up to 10 trackers as one list. Every signature is checked: a listing that was altered on its way is left
 * out. To join a game, pass `game.url` and `{ server: game.server }` to `connect`. Throws ConfigError for an address
 * without https.
 */
export async function browse(options: BrowseOptions): Promise<BrowseResult> {
  return await browseTrackers(options, machine)
}

/** Whether bytes are the mod that a listing requires. Check it before you use them. */
export function isRequiredMod(mod: RequiredMod, bytes: Uint8Array): boolean {
  return isMod(pageProvider, mod, bytes)
}

async function readText(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let [text, size] = ['', 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.length
    if (size > ANSWER_BYTES_MAX) {
      await reader.cancel()
      throw new Error('the list is too long')
    }
    text += decoder.decode(value, { stream: true })
  }
}
