/** The public list of games: `core/listing/browse-trackers.ts` with the requests of this platform. */

import { browseMachine } from '../core/listing/browse-machine.ts'
import { browseTrackers, type BrowseOptions, type BrowseResult } from '../core/listing/browse-trackers.ts'
import { isMod } from '../core/listing/listing-signature.ts'
import type { RequiredMod } from '../core/listing/listing.ts'
import { pageProvider } from './crypto.ts'

const machine = browseMachine({
  provider: () => pageProvider,
  // Cookies stay out: a list is the same for every player.
  fetch: (url, headers, ms) =>
    fetch(url, { headers, signal: AbortSignal.timeout(ms), credentials: 'omit', redirect: 'error' }),
  decode: (bytes) => new TextDecoder().decode(bytes),
  wallMs: () => Date.now(),
})

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
