/**
 * `tickwire token issue`: one token, as text, on standard output.
 */

import { parseArgs } from 'node:util'
import { issueToken, TOKEN_ID_BYTES } from '../core/crypto/connect-token.ts'
import { isSuiteId } from '../core/crypto/suite.ts'
import { bytesToText } from '../core/crypto/token-text.ts'
import { bestProvider } from '../node/crypto.ts'
import { UsageError, type Command } from './command.ts'
import { readKeyOption } from './key-option.ts'

const OPTIONS = {
  key: { type: 'string' },
  server: { type: 'string' },
  user: { type: 'string', default: '' },
  audience: { type: 'string', default: 'game' },
  minutes: { type: 'string', default: '5' },
  suite: { type: 'string', default: '1' },
} as const

/** Issues a token. */
export const tokenIssue: Command = {
  summary: 'sign a token for a player and a server',
  help: `
tickwire token issue --key FILE --server FILE [--user TEXT] [--audience NAME] [--minutes N] [--suite N]

Prints a token as one line of text.

  --key FILE       the issuer's secret key (issuer.key)
  --server FILE    the public key of the server it is for (server.pub)
  --user TEXT      data about the player for the server, up to 256 bytes
  --audience NAME  the game's name; the server must expect the same ("game")
  --minutes N      how long it is valid, up to 60 (5)
  --suite N        1 ChaCha20-Poly1305, 2 AES-256-GCM (1)`,
  run(args, world) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const provider = bestProvider()
    const seconds = Math.round(Number(values.minutes) * 60)
    const suite = Number(values.suite)
    if (!Number.isFinite(seconds)) throw new UsageError(`--minutes ${values.minutes} is not a number.`)
    if (!isSuiteId(suite)) throw new UsageError(`--suite: unknown suite ${values.suite}. Fix: use 1 or 2.`)
    const id = new Uint8Array(TOKEN_ID_BYTES)
    world.entropy.fill(id)
    const issuedAt = world.nowSeconds()
    const token = issueToken(provider, provider.importSigning(readKeyOption('--key', values.key, 'issuer-secret')), {
      suite, id, issuedAt,
      server: readKeyOption('--server', values.server, 'server-public'),
      expiresAt: issuedAt + seconds,
      audience: values.audience,
      user: new TextEncoder().encode(values.user),
    })
    world.print(bytesToText(token))
    return 0
  },
}
