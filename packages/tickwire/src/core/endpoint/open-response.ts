/**
 * Opens the response of a client: derives the keys of the handshake, decrypts the hello in place and reads it.
 *
 * The caller has verified the cookie, so the address is proven. It decides nothing about the content of the hello.
 */

import { type HandshakeMessage } from '../connection/handshake.ts'
import { type Hello, readHello } from '../connection/handshake-body.ts'
import { type HandshakeWords, deriveHello } from '../connection/session-keys.ts'
import type { ChallengeEra } from '../crypto/challenge-keys.ts'
import { wipe } from '../crypto/constant-time.ts'
import { OpeningKey } from '../crypto/packet-key.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import type { CompleteEndpointConfig } from './endpoint-config.ts'

/** A response that has opened. */
export interface OpenedResponse {
  readonly from: string
  readonly saltLo: number
  readonly saltHi: number
  readonly bucket: number
  readonly words: HandshakeWords
  readonly shared: Uint8Array
  readonly hello: Hello
}

type Security = CompleteEndpointConfig['security']

/** The first offered suite that this server supports; 0: none. A Response must give the same result as its Request. */
export function chooseSuite(security: Security, { suites }: HandshakeMessage): number {
  return suites.find((id) => security.suites.some((suite) => suite.id === id)) ?? 0
}

/** The content of a response, or undefined when it does not decrypt. */
export function openResponse(
  security: Security, from: string, message: HandshakeMessage, { bucket, key }: ChallengeEra, bytes: Uint8Array,
  length: number,
): OpenedResponse | undefined {
  const chosen = chooseSuite(security, message)
  const suite = chosen === message.suite ? security.suites.find(({ id }) => id === chosen) : undefined
  const shared = suite === undefined ? undefined : key.agree(message.clientKey)
  if (suite === undefined || shared === undefined) return undefined
  const words: HandshakeWords = {
    suite,
    clientKey: message.clientKey.slice(),
    cookie: message.cookie.slice(),
    serverKey: key.publicKey,
    offered: message.offered,
  }
  const material = deriveHello(security.provider, words, shared)
  const opening = new OpeningKey(suite, 0, material)
  wipe(material)
  const isOpen = opening.open(0, bytes, message.sealedAt, length)
  opening.wipe()
  const hello = isOpen ? readHello(bytes, message.sealedAt, length - CRYPTO_BYTES.tag) : undefined
  if (hello !== undefined) return { from, saltLo: message.saltLo, saltHi: message.saltHi, bucket, words, shared, hello }
  wipe(shared)
  return undefined
}
