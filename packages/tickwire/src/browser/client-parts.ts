/**
 * The parts of a page's client host: an endpoint that only connects and accepts no connections, so that a page does not
 * include server code. Code that writes shared objects is included only if the page passes it.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import { createClientEndpoint } from '../core/endpoint/endpoint.ts'
import type { ClientParts } from '../core/game/client-host-options.ts'
import { suitesOf } from './crypto.ts'

/** The parts of a page that seals with `provider` and writes shared objects with `authority`. */
export function pageParts(provider: CryptoProvider, authority: ClientParts['createAuthority'] = refuse): ClientParts {
  return {
    createEndpoint: (config) => createClientEndpoint({ ...config, security: { provider, suites: suitesOf(provider) } }),
    createAuthority: authority,
  }
}

function refuse(): never {
  throw new ConfigError(
    'connect.authority',
    'missing, and this game has shared objects',
    "pass { authority: sharedAuthority }, from 'tickwire'.",
  )
}
