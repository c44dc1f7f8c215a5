/**
 * `tickwire doctor`: what kind of router this machine is behind, and which ways to play together will work.
 */

import { parseArgs } from 'node:util'
import { probeNat, type NatKind, type NatReport } from '../node/nat-probe.ts'
import { type AsyncCommand, UsageError } from './command.ts'

const OPTIONS = { rendezvous: { type: 'string' }, stun: { type: 'string', multiple: true } } as const
/** Relative to the address of the rendezvous. */
const RELAYS_PATH = 'v1/relays'
const ASK_MS = 5000
const SERVERS_MAX = 8

const ROUTERS: { readonly [kind in NatKind]: string } = {
  open: 'none: this machine has a public address',
  stable: 'has one public address for a socket',
  symmetric: 'has another public address for each destination (symmetric)',
  unknown: 'there is one; a second STUN server would say which kind',
  blocked: 'UDP is blocked: no server has answered',
}
const DIRECT: { readonly [kind in NatKind]: string } = {
  open: 'yes',
  stable: 'yes, unless the other router is symmetric',
  symmetric: 'only with players that have a public address, or whose router lets all senders in',
  unknown: 'perhaps',
  blocked: 'no',
}

/** Says what will work. */
export const doctor: AsyncCommand = {
  summary: 'report what kind of router you have, and how you can play together',
  help: `
tickwire doctor --rendezvous URL
tickwire doctor --stun IP:PORT [--stun IP:PORT]

Asks STUN servers how they see this machine. Two servers are needed to recognise the kind of router.

  --rendezvous URL  ask the relays of this rendezvous, and whether it can be reached
  --stun IP:PORT    ask this server; several times for several`,
  async run(args, world) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const { rendezvous, stun = [] } = values
    if (rendezvous === undefined && stun.length === 0)
      throw new UsageError('--rendezvous: missing. Fix: give the address of a rendezvous, or --stun IP:PORT.')
    for (const server of stun) if (!isAddress(server)) throw new UsageError(`--stun ${server}: not ip:port.`)
    const relays = rendezvous === undefined ? [] : await relaysOf(rendezvous)
    if (relays === undefined) world.print(`rendezvous    ${rendezvous}: does not answer`)
    else if (rendezvous !== undefined) world.print(`rendezvous    ${rendezvous}: answers, ${relays.length} relays`)
    const report = await probeNat([...stun, ...(relays ?? [])].slice(0, SERVERS_MAX))
    for (const line of describe(report)) world.print(line)
    return relays === undefined || report.kind === 'blocked' ? 1 : 0
  },
}

function describe({ kind, keepsPort, answers }: NatReport): string[] {
  const seen = answers.find((answer) => answer.seen !== '')?.seen
  return [
    `your router   ${ROUTERS[kind]}${keepsPort && kind !== 'open' ? ', and keeps ports' : ''}`,
    ...(seen === undefined ? [] : [`seen as       ${seen}`]),
    `direct play   ${DIRECT[kind]}`,
    `by relay      ${kind === 'blocked' ? 'by WebSocket only, through TCP' : 'yes'}`,
    ...answers.map(({ server, rttMs }) =>
      `relay         ${server}: ${rttMs === Infinity ? 'no answer' : `${Math.max(1, Math.round(rttMs))} ms`}`),
  ]
}

/** The relays of a rendezvous; undefined when it does not answer. */
async function relaysOf(rendezvous: string): Promise<string[] | undefined> {
  if (!URL.canParse(rendezvous)) throw new UsageError(`--rendezvous ${rendezvous}: not a URL.`)
  try {
    const response = await fetch(new URL(RELAYS_PATH, rendezvous), { signal: AbortSignal.timeout(ASK_MS) })
    const { relays } = await response.json() as { relays?: unknown }
    if (!Array.isArray(relays)) return undefined
    return relays.map((relay: unknown) => String((relay as { address?: unknown } | null)?.address)).filter(isAddress)
  } catch {
    return undefined
  }
}

function isAddress(text: string): boolean {
  return /^(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\]):\d+$/i.test(text)
}
