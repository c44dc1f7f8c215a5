/**
 * What a page's host is made of: an endpoint that connects to others and lets nobody in, so that a page does not carry a server's door.
 */

import type { CryptoProvider } from '../core/crypto/provider.ts'
import { createClientEndpoint } from '../core/endpoint/endpoint.ts'
import { ClientAuthority } from '../core/game/client-authority.ts'
import type { ClientParts } from '../core/index.ts'
import { suitesOf } from './crypto.ts'

/** The parts of a page that seals with `provider`. */
export function pageParts(provider: CryptoProvider): ClientParts {
  return {
    createEndpoint: (config) => createClientEndpoint({ ...config, security: { provider, suites: suitesOf(provider) } }),
    createAuthority: (game, listener) => new ClientAuthority(game, listener),
  }
}
