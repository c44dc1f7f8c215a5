/**
 * `tickwire token inspect`: every field of a token, and whether it is valid.
 */

import { parseArgs } from 'node:util'
import { TOKEN_SKEW_SECONDS } from '../core/base/limits.ts'
import { createTokenCheck, parseToken, verifyToken, type ConnectToken } from '../core/crypto/connect-token.ts'
import { SUITE } from '../core/crypto/provider.ts'
import { bytesToText, keyToText, textToBytes } from '../core/crypto/token-text.ts'
import { bestProvider } from '../node/crypto.ts'
import { UsageError, type Command, type CommandWorld } from './command.ts'
import { readKeyOption } from './key-option.ts'

const OPTIONS = {
  issuer: { type: 'string' },
  server: { type: 'string' },
  audience: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** Shows a token. */
export const tokenInspect: Command = {
  summary: 'show every field of a token, and whether it is valid',
  help: `
tickwire token inspect TOKEN [--issuer FILE] [--server FILE] [--audience NAME] [--json]

Prints the fields of a token. Its signature can be checked only with the issuer's public key.

  --issuer FILE    the issuer's public key (issuer.pub): check the signature
  --server FILE    a server's public key (server.pub): would that server accept it?
  --audience NAME  a game's name: is it for that game?
  --json           print one line of JSON

Exit code: 0 valid as far as it was checked, 1 invalid.`,
  run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const [text] = positionals
    if (text === undefined || positionals.length > 1)
      throw new UsageError('Give one token, as "tickwire token issue" prints it.')
    const bytes = textToBytes(text.trim())
    const token = bytes === undefined ? undefined : parseToken(bytes)
    if (bytes === undefined || token === undefined) {
      world.print('malformed: not a token, or only a part of one')
      return 1
    }
    const issuer = values.issuer === undefined ? undefined : readKeyOption('--issuer', values.issuer, 'issuer-public')
    const server = values.server === undefined ? undefined : readKeyOption('--server', values.server, 'server-public')
    const fields = fieldsOf(token, world)
    const verdict = judge(bytes, token, issuer, server, values.audience, world.nowSeconds())
    if (values.json) world.print(JSON.stringify({ ...fields, verdict }))
    else for (const [name, value] of Object.entries({ ...fields, verdict })) world.print(`${name.padEnd(11)}${value}`)
    return verdict.startsWith('good') ? 0 : 1
  },
}

/** The verdict of a server with these keys. Checks whose key is not given are skipped. */
function judge(
  bytes: Uint8Array, token: ConnectToken, issuer: Uint8Array | undefined, server: Uint8Array | undefined,
  audience: string | undefined, now: number,
): string {
  const provider = bestProvider()
  if (issuer !== undefined) {
    const check = createTokenCheck(provider, [issuer], audience ?? token.audience, server ?? token.server)
    const said = verifyToken(check, bytes, now)
    return typeof said === 'string' ? `refused: ${said}` : 'good'
  }
  if (audience !== undefined && audience !== token.audience) return 'refused: audience'
  if (server !== undefined && bytesToText(server) !== bytesToText(token.server)) return 'refused: server'
  if (now < token.issuedAt - TOKEN_SKEW_SECONDS) return 'refused: not-yet'
  if (now >= token.expiresAt) return 'refused: expired'
  return 'good, as far as can be seen without --issuer: the signature was not checked'
}

function fieldsOf(token: ConnectToken, world: CommandWorld): Record<string, string> {
  const left = token.expiresAt - world.nowSeconds()
  return {
    version: '1',
    suite: token.suite === SUITE.aes256Gcm ? '2, AES-256-GCM' : '1, ChaCha20-Poly1305',
    issuer: `key ${bytesToText(token.issuer)}`,
    server: keyToText('server-public', token.server),
    id: bytesToText(token.id),
    issued: timeOf(token.issuedAt),
    expires: `${timeOf(token.expiresAt)} (${left > 0 ? `in ${left} s` : `${-left} s ago`})`,
    audience: token.audience,
    user: userOf(token.user),
  }
}

function timeOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? `${seconds} s after 1970` : date.toISOString().replace('.000Z', 'Z')
}

/** As text if it is printable, otherwise as bytes. */
function userOf(user: Uint8Array): string {
  const text = new TextDecoder().decode(user)
  const isPrintable = !/[\p{C}\ufffd]/u.test(text)
  return isPrintable ? JSON.stringify(text) : `bytes ${Buffer.from(user).toString('hex')}`
}
