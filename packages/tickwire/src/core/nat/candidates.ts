/**
 * Candidates: the addresses at which a peer may be reached, as it announces them by signalling.
 *
 * They come from another player, so they are checked: a candidate makes this machine send probes, and must not make it
 * send to addresses that no player has (this machine, multicast, broadcast), nor to many.
 */

import { CANDIDATES_MAX } from '../base/limits.ts'
import { OriginKey, originKey } from '../endpoint/origin-key.ts'
import { portOf } from './net-address.ts'

/** How a peer wants to be reached. */
export type PathMode = 'race' | 'relay-only' | 'direct-only'

/** One address of a peer. */
export type Candidate =
  | {
      /** `host`: an address of the machine itself. `seen`: as a STUN server or relay saw it. */
      readonly kind: 'host' | 'seen'
      /** `ip:port`. */
      readonly address: string
    }
  | {
      readonly kind: 'relay'
      /** The address of the relay. */
      readonly address: string
      /** The peer's allocation on that relay: 16 hexadecimal digits. */
      readonly allocation: string
    }

const key = new OriginKey()
const ALLOCATION = /^[0-9a-f]{16}$/

/**
 * The candidates in a value from another peer: valid ones, each once, at most CANDIDATES_MAX. `isLoopbackAllowed`: for
 * tests on one machine. Never throws.
 */
export function checkCandidates(value: unknown, isLoopbackAllowed: boolean = false): Candidate[] {
  if (!Array.isArray(value)) return []
  const found = new Map<string, Candidate>()
  for (const item of value.slice(0, 4 * CANDIDATES_MAX)) {
    const candidate = checkCandidate(item, isLoopbackAllowed)
    if (candidate === undefined || found.size >= CANDIDATES_MAX) continue
    found.set(`${candidate.kind} ${candidate.address}`, candidate)
  }
  return [...found.values()]
}

function checkCandidate(item: unknown, isLoopbackAllowed: boolean): Candidate | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { kind, address, allocation } = item as { kind?: unknown; address?: unknown; allocation?: unknown }
  if (typeof address !== 'string' || !isReachable(address, isLoopbackAllowed)) return undefined
  if (kind === 'host' || kind === 'seen') return { kind, address }
  if (kind !== 'relay' || typeof allocation !== 'string' || !ALLOCATION.test(allocation)) return undefined
  return { kind, address, allocation }
}

/** Whether a player may have this address. Tunnelled forms of other addresses are refused. */
export function isReachable(address: string, isLoopbackAllowed: boolean = false): boolean {
  if (address.length > 64 || portOf(address) === 0 || originKey(address, key) === undefined) return false
  if (key.isEmbedded) return false
  switch (key.scope) {
    case 'public': case 'private': case 'shared': return true
    case 'loopback': return isLoopbackAllowed
    default: return false
  }
}

/** The candidates of one's own that are announced. `relay-only` hides every address but those of relays. */
export function announced(candidates: readonly Candidate[], mode: PathMode): Candidate[] {
  if (mode === 'relay-only') return candidates.filter(({ kind }) => kind === 'relay')
  return mode === 'direct-only' ? candidates.filter(({ kind }) => kind !== 'relay') : [...candidates]
}
