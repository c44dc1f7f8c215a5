/**
 * `tickwire conformance`: uses the wire protocol with a server, from the standard's tables alone, and reports for each
 * rule whether the server follows it.
 */

import { lookup } from 'node:dns/promises'
import { parseArgs } from 'node:util'
import { UsageError, type AsyncCommand } from './command.ts'
import { askPage } from './conformance-target.ts'
import { codeOf } from './file-option.ts'
import { readKeyOption } from './key-option.ts'
import { ASKING_CHECKS } from './conformance/checks-asking.ts'
import { CONNECTED_CHECKS } from './conformance/checks-connected.ts'
import { LEAVING_CHECKS } from './conformance/checks-leaving.ts'
import { LOCKSTEP_CHECKS } from './conformance/checks-lockstep.ts'
import { RELAY_CHECKS } from './conformance/checks-relay.ts'
import { Lab, NotLetIn, type Check } from './conformance/check.ts'
import type { Target } from './conformance/line.ts'

const OPTIONS = {
  fingerprint: { type: 'string' },
  user: { type: 'string', default: '' },
  token: { type: 'string', default: '' },
  identity: { type: 'string' },
  lockstep: { type: 'boolean', default: false },
  relay: { type: 'string' },
  issuer: { type: 'string' },
  only: { type: 'string', multiple: true },
  quick: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  patience: { type: 'string', default: '700' },
  json: { type: 'boolean', default: false },
} as const

/** Silence for this share of the maximum answer time counts as no answer. */
const SILENCE_SHARE = 0.6
const PORT_MAX = 65_535
const NO_FINGERPRINT = '0000000000000000'

type Outcome = 'kept' | 'broken' | 'not tried'

interface Line {
  readonly id: string
  readonly outcome: Outcome
  readonly section: string
  readonly says: string
  readonly seen: string
}

/** The checks of every server. */
export const CHECKS: readonly Check[] = [...ASKING_CHECKS, ...CONNECTED_CHECKS, ...LEAVING_CHECKS]

/** With those of relays of lockstep matches, and of packet relays. */
export const ALL_CHECKS: readonly Check[] = [...CHECKS, ...LOCKSTEP_CHECKS, ...RELAY_CHECKS]

/** Checks a server. */
export const conformance: AsyncCommand = {
  summary: 'check a server of any implementation against the wire standard',
  help: `
tickwire conformance HOST:PORT [options]

Connects to a server over UDP as docs/wire/STANDARD.md and STATE-MACHINE.md say, with a separate implementation, and
prints for each check whether the server passes it. Takes about a minute. The server receives invalid packets. PORT may
be the port of the server's page: the page says the UDP port and the fingerprint. Relays of lockstep matches and packet
relays have checks of their own: docs/wire/LOCKSTEP.md and RELAY.md.

  --fingerprint HEX  the 8 bytes of the schema's fingerprint, as in a response. Needed with a UDP port: without it
                     most servers accept no connection, and only the checks before a connection run
  --user HEX         data of the game in a response, at most 64 bytes
  --token HEX        a token that can be used several times; for ordinary tokens, disable tokens on the server
  --identity HEX     the server's identity key: also check its signature
  --lockstep         the server relays lockstep matches: also check its ticks and what it does with orders
  --relay NAME       it is a packet relay, and NAME is the name in its tokens: check docs/wire/RELAY.md instead
  --issuer FILE      with --relay: the secret key that signs relay tokens (issuer.key)
  --only ID          run this check only; may be repeated
  --quick            skip the checks that wait for 10 s
  --list             print the checks and run none; without --lockstep and --relay all of them
  --patience MS      how long an answer may take (default 700)
  --json             print one line of JSON

Exit code: 0 all checks passed; 1 a check failed, or no connection was accepted.`,
  async run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const checks = chosen(values)
    if (values.list) {
      for (const { id, says, section } of checks) world.print(`${id.padEnd(20)}${says}  [${section}]`)
      return 0
    }
    const [address] = positionals
    if (address === undefined || positionals.length > 1) throw new UsageError('Give one server, as HOST:PORT.')
    const given = targetOf(address, values)
    await lookup(given.host).catch((error: unknown) => {
      throw new UsageError(`${given.host}: host not found (${codeOf(error)}). Fix: give a host name or an address.`)
    })
    const page = given.relay === undefined ? await askPage(given.host, given.port) : undefined
    const target: Target = page === undefined ? given : {
      ...given, port: page.udpPort,
      ...(values.fingerprint === undefined && page.fingerprint !== undefined && { fingerprint: page.fingerprint }),
    }
    if (page !== undefined && !values.json) world.print(`${page.url} is a page: its UDP port is ${page.udpPort}\n`)
    const lines: Line[] = []
    for (const check of checks) {
      const line = await tryCheck(check, target)
      lines.push(line)
      if (values.json) continue
      world.print(`${line.outcome.padEnd(11)}${line.id.padEnd(20)}${line.says}`)
      if (line.seen !== '')
        world.print(`${' '.repeat(31)}${line.outcome === 'broken' ? 'but: ' : ''}${line.seen}  [${line.section}]`)
    }
    const count = (outcome: Outcome): number => lines.filter((line) => line.outcome === outcome).length
    if (values.json)
      world.print(
        JSON.stringify({ kept: count('kept'), broken: count('broken'), notTried: count('not tried'), checks: lines }),
      )
    else
      world.print(
        `PASS: ${count('kept')} FAIL: ${count('broken')} NOT TRIED: ${count('not tried')} TOTAL: ${lines.length}`,
      )
    return count('broken') + count('not tried') === 0 ? 0 : 1
  },
}

async function tryCheck(check: Check, target: Target): Promise<Line> {
  const { id, section, says } = check
  const lab = new Lab(target)
  try {
    const seen = await check.run(lab)
    return { id, section, says, outcome: seen === undefined ? 'kept' : 'broken', seen: seen ?? '' }
  } catch (error) {
    if (!(error instanceof NotLetIn)) throw error
    return { id, section, says, outcome: check.needsEntry === true ? 'not tried' : 'broken', seen: error.message }
  } finally {
    await lab.close()
  }
}

interface Values {
  readonly only?: readonly string[]
  readonly quick: boolean
  readonly list: boolean
  readonly lockstep: boolean
  readonly relay?: string
}

function chosen({ only, quick, list, lockstep, relay }: Values): readonly Check[] {
  const all = relay !== undefined ? RELAY_CHECKS
    : lockstep ? [...CHECKS, ...LOCKSTEP_CHECKS]
    : list ? ALL_CHECKS : CHECKS
  const unknown = only?.find((id) => !all.some((check) => check.id === id))
  if (unknown !== undefined)
    throw new UsageError(`--only: unknown check "${unknown}". Fix: --list prints all checks; some need an option.`)
  return all.filter(({ id, isSlow }) => only === undefined ? !quick || isSlow !== true : only.includes(id))
}

function targetOf(
  address: string,
  values: {
    fingerprint?: string; user: string; token: string; identity?: string; patience: string; relay?: string
    issuer?: string
  },
): Target {
  const match = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(address)
  const port = Number(match?.[2])
  if (match === null || port < 1 || port > PORT_MAX)
    throw new UsageError(`"${address}" is not HOST:PORT. Fix: write localhost:4001, with a port from 1 to ${PORT_MAX}.`)
  const answerMs = Number(values.patience)
  if (!(answerMs >= 50 && answerMs <= 10_000))
    throw new UsageError('--patience: expected milliseconds from 50 to 10000.')
  return {
    host: match[1] ?? '', port,
    fingerprint: bytesOption('--fingerprint', values.fingerprint ?? NO_FINGERPRINT, 8, 8),
    user: bytesOption('--user', values.user, 0, 64),
    token: bytesOption('--token', values.token, 0, 429),
    identity: values.identity === undefined ? undefined : bytesOption('--identity', values.identity, 32, 32),
    relay: values.relay === undefined ? undefined
      : { audience: values.relay, secret: readKeyOption('--issuer', values.issuer, 'issuer-secret') },
    answerMs, silenceMs: answerMs * SILENCE_SHARE,
  }
}

function bytesOption(name: string, hex: string, least: number, most: number): Buffer {
  const bytes = Buffer.from(hex, 'hex')
  if (bytes.length * 2 !== hex.length || bytes.length < least || bytes.length > most) {
    throw new UsageError(`${name}: expected ${least === most ? least : `at most ${most}`} bytes in hexadecimal.`)
  }
  return bytes
}
