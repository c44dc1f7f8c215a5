/**
 * Seats with tokens, and rooms that are found by code: a stolen ticket gives no seat, and guessing codes takes too
 * long.
 */

import { expect, test } from 'vitest'
import { bool, defineGame, entity, u8 } from 'tickwire'
import { issueToken, SpentTokens } from 'tickwire/engine'
import { Dice, StubCrypto } from 'tickwire/testing'
import { HANDSHAKES_PER_ORIGIN_PER_SECOND } from '../../packages/tickwire/src/core/base/limits.ts'
import { RoomDirectory } from '../../packages/tickwire/src/core/rooms/room-directory.ts'
import { Party } from './rooms-party.ts'

const game = defineGame({
  tickRate: 30, input: { right: bool }, entities: [entity({ hue: u8 })], step: () => {},
})

test('[SEAT5] a stolen ticket is useless with another token; its owner resumes with a fresh token', () => {
  const provider = new StubCrypto()
  const dice = new Dice(3)
  const draw = (size: number): Uint8Array => {
    const bytes = new Uint8Array(size)
    dice.fill(bytes)
    return bytes
  }
  const issuer = provider.importSigning(draw(32))
  const identity = draw(32)
  const server = provider.importSigning(identity).publicKey
  const tokenOf = (user: number): Uint8Array =>
    issueToken(provider, issuer, {
      server,
      id: draw(16),
      issuedAt: 1000,
      expiresAt: 1600,
      audience: 'test',
      user: Uint8Array.of(user),
    })
  const party = new Party(
    { duel: { game, capacity: 4, resumeMs: 60_000 } },
    {
      security: {
        provider,
        identity,
        tokens: {
          issuers: [issuer.publicKey],
          audience: 'test',
          spent: new SpentTokens(1000),
          wallSeconds: () => 1010,
        },
      },
    },
  )
  const owner = party.ask(game, {}, { token: tokenOf(1) })
  party.run(500)
  const { ticket } = owner.host.seat!
  party.unplug(owner as never)
  const thief = party.ask(game, { resume: ticket }, { token: tokenOf(2) })
  const stranger = party.ask(game, { resume: ticket })
  party.run(500)
  expect([thief.closed?.code, stranger.closed?.code, party.host.door.tickets.stolen]).toEqual(['ticket', 'token', 1])
  const again = party.ask(game, { resume: ticket }, { token: tokenOf(1) })
  party.run(500)
  expect([again.peer, again.host.seat?.isBack, again.closed]).toEqual([owner.peer, true, undefined])
})

test('[ROOM11] an hour of guessing codes of a hundred rooms succeeds once in a hundred thousand', () => {
  const directory = new RoomDirectory(new Dice(5))
  const codes = Array.from({ length: 2000 }, () => directory.drawIdentity(true).code)
  expect(new Set(codes).size).toBe(codes.length)
  const letters = new Set(codes.join(''))
  expect([letters.size, codes.every((code) => code.length === codes[0]!.length)]).toEqual([32, true])
  const guessesAnHour = HANDSHAKES_PER_ORIGIN_PER_SECOND * 3600
  expect(guessesAnHour * 100 / letters.size ** codes[0]!.length).toBeLessThan(1e-5)
})
