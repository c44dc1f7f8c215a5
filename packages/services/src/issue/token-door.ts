/**
 * A door that a token opens: which requests may publish games, or act for a fleet.
 *
 * A token is shown as `Authorization: Bearer TOKEN`. It is for one purpose, one audience and the identity of one host.
 * A token of another purpose has another signature, so it is refused here.
 */

import { createTokenCheck, textToToken, verifyToken, type TokenCheck, type TokenPurpose } from 'tickwire/engine'
import { bestProvider } from 'tickwire/node'
import { HttpRefusal } from '../http/site.ts'

/** The audience of tokens, unless another name is chosen. */
export const AUDIENCES: { readonly [purpose in Exclude<TokenPurpose, 'connect'> | 'relay']: string } = {
  publish: 'tracker', fleet: 'fleet', relay: 'relay',
}

const BEARER = /^Bearer ([\w-]{1,2048})$/

/** The text after `Bearer`; undefined when there is none. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}

export class TokenDoor {
  readonly #check: TokenCheck
  readonly #nowSeconds: () => number

  /** `issuers`: public keys; one, or two while one key replaces the other. */
  constructor(
    purpose: Exclude<TokenPurpose, 'connect'>, issuers: readonly Uint8Array[], audience: string = AUDIENCES[purpose],
    nowSeconds: () => number = () => Math.floor(Date.now() / 1000),
  ) {
    this.#check = createTokenCheck(bestProvider(), issuers, audience, new Uint8Array(32), purpose)
    this.#nowSeconds = nowSeconds
  }

  /**
   * Throws a refusal unless the header has a token for this identity (64 hexadecimal digits). Returns what the issuer
   * wrote into it.
   */
  check(authorization: string | undefined, identity: string): Uint8Array {
    const { purpose } = this.#check
    const bytes = textToToken(bearerOf(authorization) ?? '')
    const fix = `Get a ${purpose} token from the issuer.`
    if (bytes === undefined || bytes.length === 0)
      throw new HttpRefusal(401, 'token-missing', `A ${purpose} token is needed.`, fix)
    const found = verifyToken({ ...this.#check, server: Buffer.from(identity, 'hex') }, bytes, this.#nowSeconds())
    if (typeof found !== 'string') return found.user
    if (found === 'not-yet' || found === 'expired')
      throw new HttpRefusal(401, found === 'expired' ? 'token-expired' : 'clock', `The token is ${found}.`, fix)
    throw new HttpRefusal(403, `token-${found}`, `The token is refused: ${found}.`, fix)
  }
}
