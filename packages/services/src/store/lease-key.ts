/**
 * Ids and keys of leases. An id is checked before a key is made of it, so that no request can name a key of another
 * kind, and no id can have a separator in it.
 *
 * ```
 * tw:{listing}:lease:0f3a…        a lease; the braces keep a kind in one slot of a cluster
 * tw:{listing}:ids                its ids in order
 * tw:{listing}:expiries           its ids by the time at which they expire
 * tw:{listing}:number             the last number that was given
 * tw:{origin}:count:0f3a…         a counter
 * tw:instance:0f3a…               the channel of an instance
 * ```
 */

import { createHash, randomBytes } from 'node:crypto'
import { LEASE_KINDS, type LeaseKind } from './leases.ts'

/** Characters of join codes and of names that people type, or hexadecimal digits. */
const ID = /^(?:[A-Z2-9]{8,26}|[0-9a-f]{8,64})$/

/** Owners are chosen by services: ids, keys in hexadecimal digits, random texts. */
const OWNER = /^[A-Za-z0-9_-]{1,128}$/

/** Whether a text may be the id of a lease, or of an instance. */
export function isLeaseId(text: string): boolean {
  return ID.test(text)
}

/** Whether a text may be the owner of a lease. */
export function isLeaseOwner(text: string): boolean {
  return OWNER.test(text)
}

/** An id for any text, such as a name of a user or an address: the first 128 bits of its SHA-256. */
export function leaseIdOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** A random id of 128 bits. */
export function newLeaseId(): string {
  return randomBytes(16).toString('hex')
}

/** The keys of Redis for one id. Undefined: the kind or the id is invalid. */
export function leaseKeys(kind: LeaseKind, id: string): LeaseKeys | undefined {
  if (!Object.hasOwn(LEASE_KINDS, kind) || !isLeaseId(id)) return undefined
  return { lease: `tw:{${kind}}:lease:${id}`, count: `tw:{${kind}}:count:${id}`, ...kindKeys(kind) }
}

/** The keys of Redis that all leases of a kind share. */
export function kindKeys(kind: LeaseKind): Pick<LeaseKeys, 'ids' | 'expiries' | 'number'> {
  return { ids: `tw:{${kind}}:ids`, expiries: `tw:{${kind}}:expiries`, number: `tw:{${kind}}:number` }
}

/** The channel of an instance. Undefined: the id is invalid. */
export function instanceChannel(instance: string): string | undefined {
  return isLeaseId(instance) ? `tw:instance:${instance}` : undefined
}

interface LeaseKeys {
  readonly lease: string
  readonly count: string
  readonly ids: string
  readonly expiries: string
  readonly number: string
}
