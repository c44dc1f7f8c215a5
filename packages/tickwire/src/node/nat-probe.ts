/**
 * Finds out what kind of router this machine is behind, by asking STUN servers from one socket.
 *
 * ``` all report the same address, one of this machine open all say the same address stable: the router has one public
 * address for the socket they say different ones symmetric: another for each destination, so no direct path only one
 * has answered unknown none has answered blocked ```
 */

import { networkInterfaces } from 'node:os'
import { readBindingResponse, writeBindingRequest } from '../core/nat/stun.ts'
import { monotonicNow } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import { openUdp } from './udp.ts'

/** What kind of router it is. */
export type NatKind = 'open' | 'stable' | 'symmetric' | 'unknown' | 'blocked'

/** One server's answer. */
export interface NatAnswer {
  readonly server: string
  /** The address that it saw; '' when it did not answer. */
  readonly seen: string
  /** Infinity when it did not answer. */
  readonly rttMs: number
}

/** What was found out. */
export interface NatReport {
  readonly kind: NatKind
  /** Whether the router kept the number of the port. */
  readonly keepsPort: boolean
  readonly answers: readonly NatAnswer[]
}

const TRIES = 5
const TRY_MS = 300
const REQUEST_BYTES = 20

/** Asks each server (`ip:port`) a few times. */
export async function probeNat(servers: readonly string[]): Promise<NatReport> {
  const port = await openUdp()
  const asked = servers.map((server) => {
    const transaction = new Uint8Array(12)
    systemEntropy.fill(transaction)
    return { server, transaction, sentAt: 0, seen: '', rttMs: Infinity }
  })
  port.onDatagram = (_from, bytes, length) => {
    for (const each of asked) {
      const seen = each.seen === '' ? readBindingResponse(bytes, length, each.transaction) : undefined
      if (seen === undefined) continue
      each.seen = seen
      each.rttMs = monotonicNow() - each.sentAt
    }
  }
  const request = new Uint8Array(REQUEST_BYTES)
  for (let round = 0; round < TRIES && asked.some(({ seen }) => seen === ''); round++) {
    for (const each of asked) {
      if (each.seen !== '') continue
      each.sentAt = monotonicNow()
      port.send(each.server, request, writeBindingRequest(request, each.transaction))
    }
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
  const own = Number(port.localAddress.split(':').pop())
  port.close()
  const answers = asked.map(({ server, seen, rttMs }) => ({ server, seen, rttMs }))
  const seen = answers.map((answer) => answer.seen).filter((address) => address !== '')
  return { kind: kindOf(seen), keepsPort: seen.length > 0 && seen.every((each) => portIn(each) === own), answers }
}

function kindOf(seen: readonly string[]): NatKind {
  const [first] = seen
  if (first === undefined) return 'blocked'
  if (ownAddresses().has(hostIn(first))) return 'open'
  if (new Set(seen).size > 1) return 'symmetric'
  return seen.length > 1 ? 'stable' : 'unknown'
}

function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)))
}

function hostIn(address: string): string {
  return address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '')
}

function portIn(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1))
}
