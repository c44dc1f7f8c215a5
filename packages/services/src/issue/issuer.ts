/**
 * Signs tokens: connect tokens for players, publish tokens for hosts that list games, fleet tokens for game servers,
 * and relay tokens.
 *
 * One or two keys are live. The first signs; both are published, so that servers know the next key before it is used.
 */

import { randomBytes } from 'node:crypto'
import { ConfigError } from 'tickwire'
import { issuerKeyId, issueToken, tokenToText, type TokenPurpose } from 'tickwire/engine'
import { issueRelayToken } from 'tickwire/nat'
import { bestProvider } from 'tickwire/node'
import { AUDIENCES } from './token-door.ts'

type SigningKey = ReturnType<ReturnType<typeof bestProvider>['importSigning']>

/** What a token is for. */
export type IssuedPurpose = TokenPurpose | 'relay'

/** How long a token is valid, in seconds, unless the request says less: joining takes seconds, a deploy minutes. */
const SECONDS_DEFAULT: { readonly [purpose in IssuedPurpose]: number } = {
  connect: 300, publish: 3600, fleet: 3600, relay: 3600,
}

/** What a token is asked for with. Keys, sessions and user data are hexadecimal digits. */
export interface TokenRequest {
  readonly purpose: IssuedPurpose
  /** The identity of the server or host that it is for. Not for relay tokens. */
  readonly server?: string
  readonly audience?: string
  readonly user?: string
  readonly seconds?: number
  /** The session of a relay token. */
  readonly session?: string
}

/** A public key of the issuer. */
export interface PublicKey {
  /** 16 hexadecimal digits: a token names its key by it. */
  readonly id: string
  /** 64 hexadecimal digits. */
  readonly publicKey: string
  /** Whether it signs. */
  readonly isCurrent: boolean
}

export class Issuer {
  readonly #keys: readonly SigningKey[]
  readonly #nowSeconds: () => number

  /** `secrets`: one or two secret keys, 32 bytes each. */
  constructor(secrets: readonly Uint8Array[], nowSeconds: () => number = () => Math.floor(Date.now() / 1000)) {
    if (secrets.length < 1 || secrets.length > 2)
      throw new ConfigError('--key', `wrong number of keys (got ${secrets.length})`, 'give one, or two at a rotation.')
    this.#keys = secrets.map((secret) => bestProvider().importSigning(Uint8Array.from(secret)))
    this.#nowSeconds = nowSeconds
  }

  get publicKeys(): readonly Uint8Array[] {
    return this.#keys.map(({ publicKey }) => publicKey)
  }

  keys(): PublicKey[] {
    return this.#keys.map(({ publicKey }, at) => ({
      id: hex(issuerKeyId(bestProvider(), publicKey)), publicKey: hex(publicKey), isCurrent: at === 0,
    }))
  }

  /** Signs a token. Undefined: the request lacks the server, the audience or the session that its purpose needs. */
  issue(request: TokenRequest): { readonly token: string; readonly expiresAt: number } | undefined {
    const { purpose, server, user = '', session, seconds = SECONDS_DEFAULT[purpose] } = request
    const [key] = this.#keys
    const issuedAt = this.#nowSeconds()
    const grant = { id: randomBytes(16), issuedAt, expiresAt: issuedAt + seconds }
    const { audience = purpose === 'connect' ? undefined : AUDIENCES[purpose] } = request
    if (key === undefined || audience === undefined) return undefined
    if (purpose === 'relay') {
      if (session === undefined) return undefined
      const token = issueRelayToken(bestProvider(), key, { ...grant, audience, session: Buffer.from(session, 'hex') })
      return { token: tokenToText(token), expiresAt: grant.expiresAt }
    }
    if (server === undefined) return undefined
    const full = { ...grant, audience, server: Buffer.from(server, 'hex'), user: Buffer.from(user, 'hex') }
    return { token: tokenToText(issueToken(bestProvider(), key, full, purpose)), expiresAt: grant.expiresAt }
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
