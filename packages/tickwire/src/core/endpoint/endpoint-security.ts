/**
 * Security settings of an endpoint: cipher, identity and token policy. Checked once at construction.
 *
 * Without any settings an endpoint still seals every packet. It uses the provider that runs on every platform, an
 * identity that lasts as long as the process, and no tokens. That is meant for development: packets are private, but no
 * peer is authenticated.
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

/** Which clients are admitted. */
export interface TokenPolicy {
  /**
   * Public keys of the token issuers: one, or two while one key replaces the other. The array may be replaced by
   * another one at any time.
   */
  readonly issuers: readonly Uint8Array[]
  /** The game's name, as in the tokens. */
  readonly audience: string
  /** Which tokens were used. */
  readonly spent: Pick<SpentTokens, 'isSpent' | 'spend' | 'finish'>
  /** Seconds since 1970. Only token expiry uses wall clock time. */
  readonly wallSeconds: () => number
  /** Whether a client without a token is asked for nothing more here: the host decides. Default: it is refused. */
  readonly isOptional?: boolean
}

/** Security settings of an endpoint. */
export interface EndpointSecurity {
  /** Default: plain JavaScript, on every platform. `tickwire/node` finds faster ones. */
  readonly provider?: CryptoProvider
  /** Cipher suites that the endpoint accepts, best first. Default: ChaCha20-Poly1305, AES-256-GCM. */
  readonly suites?: readonly SuiteId[]
  /** 32 secret bytes: the seed of the server's identity key. Default: random, drawn at construction. */
  readonly identity?: Uint8Array
  /**
   * 32 secret bytes from which reset tokens are computed. Give a process the same bytes at every start, so that it can
   * reset the connections it had before a restart. Give different bytes to every process that shares the identity: with
   * the same bytes, an attacker could make any of them end the connections of the others. Default: random, drawn at
   * construction; clients of a restarted process then notice the restart only by timeout.
   */
  readonly resetSecret?: Uint8Array
  /** Every client must present a token, unless tokens are optional. Default: no client needs a token. */
  readonly tokens?: TokenPolicy
  /** When keys are replaced. Default: every 15 minutes or 1 GiB. */
  readonly rekey?: Partial<RekeyPolicy>
}

/** Security settings of an endpoint that only connects to others. */
export interface ClientSecurity extends Pick<EndpointSecurity, 'suites' | 'rekey'> {
  readonly provider: CryptoProvider
}

/** `ClientSecurity` with all defaults filled in. */
export interface CompleteClientSecurity {
  readonly provider: CryptoProvider
  readonly suites: readonly CryptoSuite[]
  readonly rekey: Partial<RekeyPolicy>
}

/** `EndpointSecurity` with all defaults filled in. */
export interface CompleteSecurity extends CompleteClientSecurity {
  /** Undefined on an endpoint that only connects to others. */
  readonly identity: SigningKey | undefined
  readonly tokens: (TokenPolicy & { readonly check: TokenCheck }) | undefined
  /** The key of reset tokens. Never derived from the identity alone, because processes may share an identity. */
  readonly resetKey: Uint8Array
}

const RESET = label('tickwire/v1/reset')

/** Fills in defaults for an endpoint that only connects to others; throws `ConfigError` on invalid settings. */
export function completeClientSecurity({
  provider,
  suites = [SUITE.chacha20Poly1305, SUITE.aes256Gcm],
  rekey = {},
}: ClientSecurity): CompleteClientSecurity {
  if (suites.length === 0) throw new ConfigError(
    'security.suites',
    'empty (expected at least one suite)',
    'give at least one suite.',
  )
  return { provider, rekey, suites: suites.map((id) => createSuite(id, provider)) }
}

/** Fills in defaults; throws `ConfigError` on invalid settings. */
export function completeSecurity(security: EndpointSecurity, entropy: Entropy, isServer: boolean): CompleteSecurity {
  const { provider = pureProvider, tokens } = security
  const client = completeClientSecurity({ ...security, provider })
  const seed = security.identity === undefined ? new Uint8Array(CRYPTO_BYTES.key) : Uint8Array.from(security.identity)
  if (seed.length !== CRYPTO_BYTES.key) {
    throw new ConfigError(
      'security.identity',
      `wrong size (expected ${CRYPTO_BYTES.key} bytes, got ${seed.length})`,
      `give ${CRYPTO_BYTES.key} secret bytes.`,
    )
  }
  if (tokens !== undefined && security.identity === undefined) {
    throw new ConfigError(
      'security.identity',
      'missing, and tokens are required',
      'give the server its identity: a token names the server that it is for.',
    )
  }
  if (security.identity === undefined && isServer) entropy.fill(seed)
  const resetSecret =
    security.resetSecret === undefined ? new Uint8Array(CRYPTO_BYTES.key) : Uint8Array.from(security.resetSecret)
  if (resetSecret.length !== CRYPTO_BYTES.key) {
    throw new ConfigError(
      'security.resetSecret',
      `wrong size (expected ${CRYPTO_BYTES.key} bytes, got ${resetSecret.length})`,
      `give ${CRYPTO_BYTES.key} secret bytes.`,
    )
  }
  if (security.resetSecret === undefined && isServer) entropy.fill(resetSecret)
  const identity = isServer ? provider.importSigning(seed) : undefined
  const complete: CompleteSecurity = {
    ...client, identity,
    tokens: tokens === undefined || identity === undefined ? undefined : checkedPolicy(provider, tokens, identity),
    resetKey: provider.hmacSha256(resetSecret, RESET),
  }
  wipe(seed)
  wipe(resetSecret)
  return complete
}

/** The policy with its check, which follows the keys of the policy. */
function checkedPolicy(
  provider: CryptoProvider, tokens: TokenPolicy, { publicKey }: SigningKey,
): TokenPolicy & { readonly check: TokenCheck } {
  let { issuers } = tokens
  let check = createTokenCheck(provider, issuers, tokens.audience, publicKey)
  return {
    ...tokens,
    get check() {
      if (tokens.issuers !== issuers) {
        issuers = tokens.issuers
        check = createTokenCheck(provider, issuers, tokens.audience, publicKey)
      }
      return check
    },
  }
}
