/** Connect tokens for a match of the swarm: an authority that requires them, and their issuer. */

import { issueToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { SpentTokens } from '../../packages/tickwire/src/core/crypto/spent-tokens.ts'
import type { ConnectPass } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import type { SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

const AUDIENCE = 'swarm'

/** The security of an authority that requires tokens, and a function that issues one per call. */
export function makeTokens(
  crypto: CryptoProvider,
  clock: SimClock,
  common: EndpointSecurity,
  dice: Dice,
): { readonly security: EndpointSecurity; readonly pass: () => ConnectPass } {
  const draw = (bytes: number): Uint8Array => {
    const drawn = new Uint8Array(bytes)
    dice.fill(drawn)
    return drawn
  }
  const wallSeconds = (): number => 1_700_000_000 + Math.floor(clock.now / 1000)
  const issuer = crypto.importSigning(draw(32))
  const identity = draw(32)
  const server = crypto.importSigning(identity).publicKey
  const ids = new Dice(dice.word())
  return {
    security: {
      ...common,
      identity,
      resetSecret: identity,
      tokens: { issuers: [issuer.publicKey], audience: AUDIENCE, spent: new SpentTokens(wallSeconds()), wallSeconds },
    },
    pass: () => {
      const id = new Uint8Array(16)
      ids.fill(id)
      const issuedAt = wallSeconds()
      return {
        token: issueToken(crypto, issuer, {
          server,
          id,
          issuedAt,
          expiresAt: issuedAt + 60,
          audience: AUDIENCE,
          user: new Uint8Array(0),
        }),
      }
    },
  }
}
