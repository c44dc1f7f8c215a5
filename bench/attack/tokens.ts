/**
 * Attacks with tokens: used twice, too late, too early, at another server, by another client, or after a restart of the
 * server.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TokenGrant, issueToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import { SpentTokens } from '../../packages/tickwire/src/core/crypto/spent-tokens.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { openTokenJournal } from '../../packages/tickwire/src/node/token-journal.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { type AttackReport, Stage } from './stage.ts'

const NOW = 1_800_000_000
const IDENTITY = new Uint8Array(32).fill(4)

/** T9: tokens that must be refused. Each is sent by a client that does everything else correctly. */
export function tokens(count: number): AttackReport[] {
  const provider = bestProvider()
  const issuer = provider.importSigning(new Uint8Array(32).fill(3))
  const server = provider.importSigning(IDENTITY).publicKey
  const dice = new Dice(9)
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-attack-'))
  const file = join(folder, 'spent')
  let wall = NOW
  const open = (): Stage => new Stage({
    maxConnections: 4096, limits: { connections: Infinity, handshakes: Infinity },
    security: {
      identity: IDENTITY,
      tokens: {
        issuers: [issuer.publicKey], audience: 'arena', wallSeconds: () => wall,
        spent: new SpentTokens(wall, openTokenJournal(file)),
      },
    },
  })
  const issue = (grant: Partial<TokenGrant> = {}, by = issuer): Uint8Array => {
    const id = new Uint8Array(16)
    dice.fill(id)
    return issueToken(provider, by, { ...validGrant(server, id), ...grant })
  }
  try {
    const other = provider.importSigning(new Uint8Array(32).fill(5))
    let stage = open()
    let serial = 0
    const show = (token: Uint8Array): { isRefused: boolean; isOpen: boolean } => {
      const before = stage.server.admissionDrops.tokens
      // The client gets the server key separately: otherwise it would not send a token of another server.
      const { connection } = stage.join(`client ${serial++}`, { token, server })
      stage.members.pop()
      return { isRefused: stage.server.admissionDrops.tokens === before + 1, isOpen: connection.isOpen }
    }
    let [accepted, tried] = [0, 0]
    const refuse = (token: Uint8Array): void => {
      tried++
      const { isRefused, isOpen } = show(token)
      if (!isRefused || isOpen) accepted++
    }
    const used = issue()
    const isGoodTaken = show(used).isOpen
    for (let index = 0; index < count; index++) {
      refuse(used)
      refuse(issue({ issuedAt: NOW - 61, expiresAt: NOW - 1 }))
      refuse(issue({ issuedAt: NOW + 6, expiresAt: NOW + 60 }))
      refuse(issue({ audience: 'another' }))
      refuse(issue({ server: other.publicKey }))
      refuse(issue({}, other))
      const touched = issue()
      touched[42 + (index % 16)]! ^= 1 << (index & 7)
      refuse(touched)
    }
    // The server's process ends and another begins. The token is valid for half of its time still.
    stage = open()
    wall += 30
    for (let index = 0; index < count; index++) refuse(used)
    return [reportOf(tried, isGoodTaken ? accepted : NaN)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The grant of a token that the server accepts. */
function validGrant(server: Uint8Array, id: Uint8Array): TokenGrant {
  return { server, id, issuedAt: NOW, expiresAt: NOW + 60, audience: 'arena', user: new Uint8Array(4) }
}

function reportOf(count: number, value: number): AttackReport {
  const kinds = 'reused (after a restart too), expired, early, changed, of other audience, server, issuer'
  const what = `tokens: ${kinds}: accepted`
  return { threat: 'T9', what, count, value, unit: '', atMost: 0, figure: 'bad_tokens_accepted' }
}
