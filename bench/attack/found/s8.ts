/**
 * S8: an SDP offer must not make the server send to any address in it.
 *
 * It runs in a network namespace where the machine allows that, with a sink at a separate address; otherwise on
 * loopback.
 */

import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { AttackReport } from '../stage.ts'

const [SERVER, SINK] = ['203.0.113.7', '203.0.113.9']
const NETWORK = `ip link set lo up && ip addr add ${SERVER}/24 dev lo && ip addr add ${SINK}/24 dev lo`
const PROGRAM = fileURLToPath(new URL('./s8-process.ts', import.meta.url))

/**
 * The effect of one offer: datagrams that the sink received from `serve`, and from the provider when it gets the
 * unchanged offer.
 */
export interface SinkCount {
  readonly provider: string
  readonly served: number
  readonly alone: number
}

/** Whether this machine lets us make a network namespace. */
export function canSeparate(): boolean {
  return spawnSync('unshare', ['-Urn', 'sh', '-c', NETWORK]).status === 0
}

/** Plays it with every provider that is installed. */
export async function offerToSink(isSeparate: boolean): Promise<SinkCount[]> {
  const node = [process.execPath, '--conditions=tickwire-source', '--import', 'tsx', PROGRAM]
  const child = isSeparate
    ? spawn('unshare', ['-Urn', 'sh', '-c', `${NETWORK} && exec "$@"`, 'sh', ...node, SERVER, SINK])
    : spawn(process.execPath, [...node.slice(1), '127.0.0.1', '127.1.8.9'])
  let [out, errors] = ['', '']
  child.stdout.on('data', (bytes) => { out += String(bytes) })
  child.stderr.on('data', (bytes) => { errors += String(bytes) })
  const code = await new Promise((resolve) => { child.once('exit', resolve) })
  if (code !== 0) throw new Error(`the process with the sink ended with ${code}: ${errors}`)
  return JSON.parse(out) as SinkCount[]
}

export async function foreignCandidates(): Promise<AttackReport[]> {
  const counts = await offerToSink(canSeparate())
  const sum = (pick: (count: SinkCount) => number): number => counts.reduce((total, count) => total + pick(count), 0)
  return [
    {
      threat: 'S8',
      what: 'offers with foreign candidates: datagrams sent there',
      count: counts.length,
      value: sum(({ served }) => served),
      unit: '',
      atMost: 0,
    },
    // The same offers to the providers alone. Without this control, the sink might receive nothing for another reason.
    {
      threat: 'S8',
      what: 'the same offers, not reduced',
      count: counts.length,
      value: sum(({ alone }) => alone),
      unit: '',
      atLeast: counts.length,
    },
  ]
}
