/**
 * What an endpoint seals with, who it is, and whom it lets in: checked once at construction.
 *
 * Without any of it an endpoint still seals every packet: with the provider that runs everywhere, an identity that lasts as
 * long as the process, and no tokens. That is play in development: private, but with strangers.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { type TokenCheck, createTokenCheck } from '../crypto/connect-token.ts'
import { wipe } from '../crypto/constant-time.ts'
import type { RekeyPolicy } from '../crypto/key-ring.ts'
import { label } from '../crypto/label.ts'
import { CRYPTO_BYTES, SUITE, type CryptoProvider, type SigningKey, type SuiteId } from '../crypto/provider.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import type { SpentTokens } from '../crypto/spent-tokens.ts'
import { type CryptoSuite, createSuite } from '../crypto/suite.ts'

/** Who may come in. */
export interface TokenPolicy {
  /** Public keys of whoever issues tokens: one, or two while one replaces the other. */
  readonly issuers: readonly Uint8Array[]
  /** The game's name, as in the tokens. */
  readonly audience: string
  /** Which tokens were used. */
  readonly spent: SpentTokens
  /** Seconds since 1970: the one place where the day matters. */
  readonly wallSeconds: () => number
}

/** What an endpoint seals with, who it is, and whom it lets in. */
export interface EndpointSecurity {
  /** Default: plain JavaScript, on every platform. `tickwire/node` finds faster ones. */
  readonly provider?: CryptoProvider
  /** Ciphers it takes, best first. Default: ChaCha20-Poly1305, AES-256-GCM. */
  readonly suites?: readonly SuiteId[]
  /** 32 secret bytes that make a server who it is. Default: drawn at construction. */
  readonly identity?: Uint8Array
  /** Whoever comes must bring a token. Default: nobody needs one. */
  readonly tokens?: TokenPolicy
  /** When keys are replaced, where it differs from every 15 minutes or 1 GiB. */
  readonly rekey?: Partial<RekeyPolicy>
}

/** What who only connects seals with. */
export interface ClientSecurity extends Pick<EndpointSecurity, 'suites' | 'rekey'> {
  readonly provider: CryptoProvider
}

/** The same, with nothing left out. */
export interface CompleteClientSecurity {
  readonly provider: CryptoProvider
  readonly suites: readonly CryptoSuite[]
  readonly rekey: Partial<RekeyPolicy>
}

/** The same, with nothing left out. */
export interface CompleteSecurity extends CompleteClientSecurity {
  /** Of a server. */
  readonly identity: SigningKey | undefined
  readonly tokens: (TokenPolicy & { readonly check: TokenCheck }) | undefined
  /** What reset tokens are made with: the same for the same identity, so that a server that starts anew can still reset. */
  readonly resetKey: Uint8Array
}

const RESET = label('tickwire/v1/reset')

/** Fills in defaults for who only connects; throws `ConfigError` on what cannot work. */
export function completeClientSecurity({ provider, suites = [SUITE.chacha20Poly1305, SUITE.aes256Gcm], rekey = {} }: ClientSecurity): CompleteClientSecurity {
  if (suites.length === 0) throw new ConfigError('security.suites', 'there are none', 'Give at least one.')
  return { provider, rekey, suites: suites.map((id) => createSuite(id, provider)) }
}

/** Fills in defaults; throws `ConfigError` on what cannot work. */
export function completeSecurity(security: EndpointSecurity, entropy: Entropy, isServer: boolean): CompleteSecurity {
  const { provider = pureProvider, tokens } = security
  const client = completeClientSecurity({ ...security, provider })
  const seed = security.identity === undefined ? new Uint8Array(CRYPTO_BYTES.key) : Uint8Array.from(security.identity)
  if (seed.length !== CRYPTO_BYTES.key) {
    throw new ConfigError('security.identity', `has ${seed.length} bytes`, `Give ${CRYPTO_BYTES.key} secret ones.`)
  }
  if (tokens !== undefined && security.identity === undefined) {
    throw new ConfigError('security.identity', 'is missing', 'A token names the server it is for: give the server its identity.')
  }
  if (security.identity === undefined && isServer) entropy.fill(seed)
  const identity = isServer ? provider.importSigning(seed) : undefined
  const complete: CompleteSecurity = {
    ...client, identity,
    tokens: tokens === undefined || identity === undefined ? undefined
      : { ...tokens, check: createTokenCheck(provider, tokens.issuers, tokens.audience, identity.publicKey) },
    resetKey: provider.hmacSha256(seed, RESET),
  }
  wipe(seed)
  return complete
}
