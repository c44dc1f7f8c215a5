/**
 * `tickwire token keys`: a key pair for a token issuer and one for a server, as four small files.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type KeyKind, keyToText } from '../core/crypto/token-text.ts'
import { bestProvider } from '../node/crypto.ts'
import { UsageError, type Command } from './command.ts'
import { cannotBe } from './file-option.ts'

const OPTIONS = { out: { type: 'string', default: '.' }, force: { type: 'boolean', default: false } } as const

/** Makes keys. */
export const tokenKeys: Command = {
  summary: 'make the keys of an issuer and of a server',
  help: `
tickwire token keys [--out DIR] [--force]

Writes four files into DIR (default: the current directory):

  issuer.key       signs tokens. Only for the service that knows the players; never on a game server
  issuer.pub       verifies tokens. For every game server
  server.key       proves the identity of a server. Only for that server, or for a fleet with one identity
  server.pub       names the server in tokens. For the issuer

  --force          overwrite existing keys. Tokens of the old keys are refused from then on`,
  run(args, world) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const provider = bestProvider()
    const files = (['issuer', 'server'] as const).flatMap((whose) => {
      const seed = new Uint8Array(32)
      world.entropy.fill(seed)
      const kinds: readonly [string, KeyKind, Uint8Array, number][] = [
        ['key', `${whose}-secret`, seed, 0o600],
        ['pub', `${whose}-public`, provider.importSigning(seed).publicKey, 0o644],
      ]
      return kinds.map(([ending, kind, key, mode]) => ({
        path: join(values.out, `${whose}.${ending}`),
        text: keyToText(kind, key),
        mode,
      }))
    })
    const there = files.find(({ path }) => existsSync(path))
    if (there !== undefined && !values.force)
      throw new UsageError(`${there.path} exists. Fix: --force overwrites it.`)
    try {
      mkdirSync(values.out, { recursive: true })
      for (const { path, text, mode } of files) {
        writeFileSync(path, `${text}\n`, { mode })
        world.print(path)
      }
    } catch (error) {
      throw new UsageError(`--out ${values.out} ${cannotBe('written', error)}`)
    }
    return 0
  },
}
