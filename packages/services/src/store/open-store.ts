/**
 * Opens the stores that the options of a service name: `--store redis://…` (or `STORE`) and `--records FILE`. Without
 * them, everything is in the memory of the process.
 */

import type { Registry } from 'prom-client'
import { ConfigError } from 'tickwire'
import type { Option } from '../cli/options.ts'
import type { Leases } from './leases.ts'
import { MemoryLeases } from './memory-leases.ts'
import { MemoryRecords } from './memory-records.ts'
import type { Records } from './records.ts'
import { addRecordMetrics, meterLeases } from './store-metrics.ts'

/** The option of every service that shares state. */
export const STORE_OPTION = {
  kind: 'text', value: 'URL', help: 'redis:// address of a store that several instances share (memory)',
} as const satisfies Option

/** The option of every service that keeps records. */
export const RECORDS_OPTION = {
  kind: 'text', value: 'FILE', help: 'a file of SQLite that keeps records (memory)',
} as const satisfies Option

/** Opens leases, with their metrics. Throws `ConfigError` when the address is invalid. */
export async function openLeases(store: string | undefined, registry?: Registry): Promise<Leases> {
  const leases = await openPlain(store)
  return registry === undefined ? leases : meterLeases(leases, registry)
}

/** Opens records, with their metrics. `isDurable`: they survive a loss of power. */
export async function openRecords(
  file: string | undefined, { isDurable = false, registry }: { isDurable?: boolean; registry?: Registry } = {},
): Promise<Records> {
  const records = file === undefined
    ? new MemoryRecords() : (await import('./sqlite-records.ts')).openSqliteRecords({ path: file, isDurable })
  if (registry !== undefined) addRecordMetrics(records, registry)
  return records
}

async function openPlain(store: string | undefined): Promise<Leases> {
  if (store === undefined || store === 'memory') return new MemoryLeases()
  if (/^rediss?:/.test(store)) return await (await import('./redis-leases.ts')).openRedisLeases(store)
  throw new ConfigError('--store', 'not a store', 'write redis://host:6379, or leave it out.')
}
