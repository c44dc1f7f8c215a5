/**
 * Metrics of a service, in a registry of prom-client.
 *
 * Hot counters stay plain numbers where they are counted. A metric reads them when it is scraped: nothing is paid
 * before. Labels come from fixed lists, and no metric has an address.
 */

import { Counter, Gauge, Registry } from 'prom-client'

/** A counter or gauge that is read when it is scraped. */
export interface ReadMetric {
  readonly name: string
  readonly help: string
  /** One value, or one for each value of `label`. */
  readonly read: () => number | object
  /** The label, when there are several values. Default `what`. */
  readonly label?: string
}

/** A registry with the metrics of every service: memory, processor time, version. */
export function createRegistry(service: string, version: string): Registry {
  const registry = new Registry()
  readGauge(registry, {
    name: 'process_resident_memory_bytes', help: 'Memory of the process.', read: () => process.memoryUsage().rss,
  })
  readCounter(registry, {
    name: 'process_cpu_seconds_total', help: 'Processor time.', label: 'mode',
    read: () => {
      const { user, system } = process.cpuUsage()
      return { user: user / 1e6, system: system / 1e6 }
    },
  })
  readGauge(registry, {
    name: 'process_uptime_seconds', help: 'Time since the start of the process.', read: () => process.uptime(),
  })
  new Gauge({
    name: 'tickwire_build_info', help: 'The service and its version.', labelNames: ['service', 'version'],
    registers: [registry],
  }).set({ service, version }, 1)
  return registry
}

/** Adds a gauge that is read when it is scraped. */
export function readGauge(registry: Registry, { name, help, read, label = 'what' }: ReadMetric): void {
  const isLabelled = typeof read() === 'object'
  new Gauge({
    name, help, registers: [registry], labelNames: isLabelled ? [label] : [],
    collect() {
      each(read(), (value, key) => (key === undefined ? this.set(value) : this.set({ [label]: key }, value)))
    },
  })
}

/** Adds a counter that is read when it is scraped. The values only grow. */
export function readCounter(registry: Registry, { name, help, read, label = 'what' }: ReadMetric): void {
  const isLabelled = typeof read() === 'object'
  new Counter({
    name, help, registers: [registry], labelNames: isLabelled ? [label] : [],
    collect() {
      this.reset()
      each(read(), (value, key) => (key === undefined ? this.inc(value) : this.inc({ [label]: key }, value)))
    },
  })
}

function each(values: number | object, take: (value: number, key: string | undefined) => void): void {
  if (typeof values === 'number') take(values, undefined)
  else for (const [key, value] of Object.entries(values)) take(Number(value), key)
}
