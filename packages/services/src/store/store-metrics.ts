/** Metrics of the stores: calls by what was asked and answered, their time, and whether the store answers. */

import { Counter, Histogram, type Registry } from 'prom-client'
import { monotonicNow } from 'tickwire/node'
import { readCounter, readGauge } from '../telemetry/metrics.ts'
import type { Leases } from './leases.ts'
import type { Records } from './records.ts'

const CALLS = ['put', 'touch', 'drop', 'get', 'page', 'take', 'count', 'send'] as const

/** The same leases, whose calls are counted and timed. */
export function meterLeases(leases: Leases, registry: Registry): Leases {
  const calls = new Counter({
    name: 'tickwire_store_calls_total', help: 'Calls of the store of leases, by result.',
    labelNames: ['op', 'result'], registers: [registry],
  })
  const seconds = new Histogram({
    name: 'tickwire_store_seconds', help: 'Time of calls of the store.', labelNames: ['op'], registers: [registry],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  })
  readGauge(registry, {
    name: 'tickwire_store_degraded', help: '1 while the store does not answer.',
    read: () => (leases.isDegraded ? 1 : 0),
  })
  const metered: Leases = Object.create(leases, {
    isShared: { get: () => leases.isShared },
    isDegraded: { get: () => leases.isDegraded },
    onMessage: { value: leases.onMessage.bind(leases) },
    close: { value: leases.close.bind(leases) },
  })
  for (const op of CALLS) {
    // reason: the wrapper passes arguments and answer through, whatever their types are.
    const call = leases[op].bind(leases) as (...args: unknown[]) => Promise<unknown>
    Object.defineProperty(metered, op, {
      value: async (...args: unknown[]) => {
        const startedAt = monotonicNow()
        const answer = await call(...args)
        calls.inc({ op, result: typeof answer === 'string' ? answer : answer === undefined ? 'none' : 'ok' })
        seconds.observe({ op }, (monotonicNow() - startedAt) / 1000)
        return answer
      },
    })
  }
  return metered
}

/** Adds the metrics of records. */
export function addRecordMetrics(records: Records, registry: Registry): void {
  readCounter(registry, {
    name: 'tickwire_records_total', help: 'Records, by what happened to them.', label: 'result',
    read: () => records.counts,
  })
  readGauge(registry, {
    name: 'tickwire_records_waiting', help: 'Records that wait in memory for the disk.', read: () => records.waiting,
  })
}
