/**
 * An attacker on the path between a client and the room host that `serve` runs: it reads, drops, alters and adds
 * datagrams. It must not obtain the secrets that admit the client: its connect token, its resume ticket, the code of
 * its room. Real cryptography, real hosts.
 */

import { describe, expect, test } from 'vitest'
import type { JoinRequest } from 'tickwire'
import { issueToken, type ConnectPass } from 'tickwire/engine'
import {
  provider,
  VICTIM,
  ATTACKER,
  server,
  issuer,
  HeldPath,
  isResponse,
  isRequest,
  isChallenge,
  peers,
  messageOf,
  FalseServer,
} from './held-path.ts'

/** The secrets that admit a client, each with how a client that has it joins. */
const SECRETS = ['token', 'ticket', 'room code'] as const
type Secret = (typeof SECRETS)[number]

/** A path on which a client is about to join by such a secret. */
function scene(secret: Secret): { path: HeldPath; join: JoinRequest; pass: ConnectPass; bytes: Uint8Array } {
  const path = new HeldPath(secret === 'token')
  if (secret === 'token') {
    const id = Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index)
    const token = issueToken(provider, issuer, {
      server,
      id,
      issuedAt: 1000,
      expiresAt: 1600,
      audience: 'test',
      user: Uint8Array.of(1),
    })
    return { path, join: {}, pass: { token }, bytes: id }
  }
  if (secret === 'room code') {
    const { code } = path.host.create('duel', { isPrivate: true })
    return { path, join: { code }, pass: { server }, bytes: Uint8Array.from(Buffer.from(code)) }
  }
  const before = path.join({}, { server })
  path.run(300)
  const { ticket } = before.host.seat!
  path.unplug(before)
  path.said.length = 0
  return { path, join: { resume: ticket }, pass: { server }, bytes: ticket }
}
const has = (bytes: Uint8Array, part: Uint8Array): boolean => Buffer.from(bytes).includes(Buffer.from(part))

describe.each(SECRETS)('on the path of a client with a %s', (secret) => {
  test('[SEC14] S3: an attacker that takes a Response gets no seat, and no packet shows the secret', () => {
    const { path, join, pass, bytes } = scene(secret)
    const seated = peers(path).length
    const victim = path.join(join, pass)
    // The attacker keeps the Responses of the first second to itself.
    path.tamper = (flight) => (isResponse(flight.bytes) ? [] : [flight])
    path.run(1000)
    const stolen = path.said.filter(isResponse)
    expect(stolen.length).toBeGreaterThan(2)
    for (const response of stolen) {
      path.inject({ to: 'server', from: ATTACKER, bytes: response })
      const mine = response.slice()
      // The same with a client key of the attacker: the server can open none of it.
      mine.set(new FalseServer().key.publicKey, 15 + 9)
      path.inject({ to: 'server', from: ATTACKER, bytes: mine })
      path.inject({ to: 'server', from: VICTIM, bytes: mine })
    }
    path.run(100)
    expect(path.toAttacker).toEqual([])
    expect(peers(path).length).toBe(seated)
    expect(path.said.filter((said) => has(said, bytes))).toEqual([])
    // The client still joins.
    path.tamper = (flight) => [flight]
    path.run(1000)
    expect([victim.closed, victim.connection.isOpen]).toEqual([undefined, true])
    expect(victim.host.security).toMatchObject({ identity: 'verified' })
    expect(peers(path)).toContain(VICTIM)
    expect(peers(path)).not.toContain(ATTACKER)
  })

  test('[SEC5] S4: a false Challenge gets no hello, and does not end the attempt', () => {
    const { path, join, pass } = scene(secret)
    const attacker = new FalseServer()
    let genuine = new Uint8Array(64)
    let forged = 0
    const victim = path.join(join, pass)
    path.tamper = (flight) => {
      if (isChallenge(flight.bytes)) genuine = messageOf(flight.bytes).signature.slice()
      if (!isRequest(flight.bytes)) return isChallenge(flight.bytes) ? [] : [flight]
      const signatures = [undefined, genuine, new Uint8Array(64)]
      const challenge = attacker.challenge(flight.bytes, signatures[forged++ % signatures.length])
      return [flight, { to: VICTIM, from: 'server', bytes: challenge }]
    }
    path.run(2000)
    expect(forged).toBeGreaterThan(5)
    expect(path.said.filter(isResponse), 'the client has sent nothing sealed').toEqual([])
    expect(path.said.every(isRequest)).toBe(true)
    expect(victim.connection.stats.drops.handshake).toBe(forged)
    expect(victim.closed).toBe(undefined)
    // False challenges still arrive first, and genuine ones after them.
    const { tamper } = path
    path.tamper = (flight) => (isChallenge(flight.bytes) ? [flight] : tamper(flight))
    path.run(1000)
    expect([victim.closed, victim.connection.isOpen, victim.host.security?.identity]).toEqual([
      undefined,
      true,
      'verified',
    ])
  })

})

describe.each(SECRETS)(
  'a client with a %s, that does not know the server, or whose list of suites is cut',
  (secret) => {
    test('[SEC5] a client that does not know the server says so: then a false Challenge does get the hello', () => {
      const { path, join, pass, bytes } = scene(secret)
      if (pass.token !== undefined) return // A token names its server: such a client always knows.
      const attacker = new FalseServer()
      path.tamper = (flight) =>
        isRequest(flight.bytes) ? [{ to: VICTIM, from: 'server', bytes: attacker.challenge(flight.bytes) }] : []
      path.join(join, {})
      path.run(500)
      const hello = attacker.read(path.said.find(isResponse)!)
      expect(has(hello!.user, bytes)).toBe(true)
      const honest = scene(secret)
      const client = honest.path.join(honest.join, {})
      honest.path.run(500)
      expect([client.connection.isOpen, client.host.security?.identity]).toEqual([true, 'unverified'])
    })

    test('[HS11] S10: a list of suites that is cut on the path opens no connection, in any packet', () => {
      for (const cuts of [[isRequest], [isRequest, isResponse], [isResponse]]) {
        const { path, join, pass } = scene(secret)
        const seated = peers(path).length
        path.tamper = (flight) => {
          if (!cuts.some((isCut) => isCut(flight.bytes))) return [flight]
          const bytes = flight.bytes.slice()
          const at = isRequest(bytes) ? 15 + 41 : 15 + 57
          const count = bytes[at]!
          // A token names its suite, so its client offers only that one. The attacker replaces it by another.
          bytes.set(count === 2 ? [1, bytes[at + 2]!] : [1, 2], at)
          if (isRequest(bytes) && count === 2) bytes[at + 2] = 0
          return [{ ...flight, bytes }]
        }
        const victim = path.join(join, pass)
        path.run(4000)
        expect(victim.connection.isOpen, `${cuts.length} cuts`).toBe(false)
        expect(peers(path).length).toBe(seated)
        path.tamper = (flight) => [flight]
        path.run(5000)
        expect([victim.closed, victim.connection.isOpen, victim.connection.security.suite]).toEqual([
          undefined,
          true,
          expect.stringContaining('ChaCha20'),
        ])
      }
    })
  },
)
