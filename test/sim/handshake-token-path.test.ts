/** What forged challenges cost a client, and one token with one client key, on a path that an attacker controls. */

import { describe, expect, test } from 'vitest'
import { issueToken, type CryptoProvider } from 'tickwire/engine'
import { CHALLENGE_CHECKS_PER_REQUEST } from '../../packages/tickwire/src/core/base/limits.ts'
import {
  provider,
  VICTIM,
  server,
  issuer,
  HeldPath,
  isResponse,
  isKind,
  isRequest,
  isChallenge,
  peers,
  FalseServer,
} from './held-path.ts'

describe('what forged challenges cost', () => {
  test('[SEC5] S4: at most four signatures are checked per request, however many challenges are forged', () => {
    let checked = 0
    const counting: CryptoProvider = {
      ...provider, importVerifying: (publicKey) => {
        const key = provider.importVerifying(publicKey)
        return {
          publicKey: key.publicKey, verify: (message, signature) => {
            checked++
            return key.verify(message, signature)
          },
        }
      },
    }
    const path = new HeldPath(false)
    const attacker = new FalseServer()
    const victim = path.join({}, { server }, VICTIM, counting)
    let forged = 0
    path.tamper = (flight) => {
      if (isChallenge(flight.bytes)) return []
      if (!isRequest(flight.bytes)) return [flight]
      return Array.from({ length: 200 }, () => {
        forged++
        return { to: VICTIM, from: 'server', bytes: attacker.challenge(flight.bytes, new Uint8Array(64).fill(forged)) }
      })
    }
    path.run(3000)
    const requests = path.said.filter(isRequest).length
    expect(forged).toBeGreaterThan(2000)
    expect(checked).toBeLessThanOrEqual(CHALLENGE_CHECKS_PER_REQUEST * requests)
    expect(path.said.filter(isResponse)).toEqual([])
    path.tamper = (flight) => [flight]
    path.run(1000)
    expect([victim.closed, victim.connection.isOpen]).toEqual([undefined, true])
    // One more for the genuine challenge, one for the acceptance.
    expect(checked).toBeLessThanOrEqual(CHALLENGE_CHECKS_PER_REQUEST * requests + 2)
  })
})

describe('one token, one client key', () => {
  const tokenOf = (id: number): Uint8Array => issueToken(provider, issuer, {
    server, id: new Uint8Array(16).fill(id), issuedAt: 1000, expiresAt: 1600, audience: 'test', user: Uint8Array.of(1),
  })

  test('[SEC4] S3: a client whose Accepted is lost and whose port changes joins with the same token', () => {
    const path = new HeldPath(true)
    const victim = path.join({}, { token: tokenOf(1) })
    const MOVED = '203.0.113.1:2000'
    let isMoved = false
    path.tamper = (flight) => {
      if (isKind(flight.bytes, 3)) return isMoved ? [{ ...flight, to: VICTIM }] : []
      // A router gives the client another port after it was accepted at the first.
      if (flight.from === VICTIM) return [isMoved ? { ...flight, from: MOVED } : flight]
      return [{ ...flight, to: VICTIM }]
    }
    path.run(1000)
    isMoved = true
    path.run(4000)
    expect([victim.closed, victim.connection.isOpen]).toEqual([undefined, true])
    expect(peers(path)).toEqual([MOVED])
  })

  test('[SEC4] S3: a token is refused to another client, and to its own once the connection opened', () => {
    const path = new HeldPath(true)
    const first = path.join({}, { token: tokenOf(1) })
    path.run(500)
    expect(first.connection.isOpen).toBe(true)
    const thief = path.join({}, { token: tokenOf(1) }, '198.51.100.7:7')
    path.run(500)
    expect(thief.closed?.code).toBe('token')
    expect(peers(path)).toEqual([VICTIM])
    // Copies of its Responses, sent while they are fresh, do not reopen a connection that has closed.
    const responses = path.said.filter(isResponse)
    first.host.close(path.now)
    path.run(1000)
    expect(peers(path)).toEqual([])
    for (const bytes of responses) path.inject({ to: 'server', from: VICTIM, bytes })
    path.run(500)
    expect([peers(path), path.host.endpoint.admissionDrops.tokens]).toEqual([[], expect.any(Number)])
    expect(path.host.endpoint.admissionDrops.tokens).toBeGreaterThan(1)
  })
})
