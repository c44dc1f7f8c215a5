/**
 * What a page's host is made of: an endpoint that connects to others and lets nobody in, so that a page does not carry a server's door; and
 * what writes shared objects only where the page brings it.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import { createClientEndpoint } from '../core/endpoint/endpoint.ts'
import type { ClientParts } from '../core/index.ts'
import { suitesOf } from './crypto.ts'

/** The parts of a page that seals with `provider` and writes shared objects with `authority`. */
export function pageParts(provider: CryptoProvider, authority: ClientParts['createAuthority'] = refuse): ClientParts {
  return {
    createEndpoint: (config) => createClientEndpoint({ ...config, security: { provider, suites: suitesOf(provider) } }),
    createAuthority: authority,
  }
}

function refuse(): never {
  throw new ConfigError('connect.authority', 'is missing, and this game has shared objects', "Give { authority: sharedAuthority }, from 'tickwire'.")
}
