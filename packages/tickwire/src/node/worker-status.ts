/**
 * The status of several processes as one. Counters and gauges are summed; quantiles are computed from all ticks.
 *
 * Counters of a worker that has died stay in the sum, as of the last time that they were read, so that they never fall.
 */

import { DurationHistogram } from '../core/rooms/duration-histogram.ts'
import { tickSeconds, type Metric, type Sample } from './metrics.ts'
import { ROOMS_SHOWN, type Status } from './status.ts'

/** Metrics for which the largest value of a process counts. */
const LARGEST: readonly string[] = ['tickwire_draining', 'process_uptime_seconds']

/** One status of many. `extra` are metrics of the first process, `ended` counters of processes that have ended. */
export function mergeStatus(parts: readonly Status[], extra: readonly Metric[], ended: readonly Metric[]): Status {
  const ticks = new DurationHistogram()
  for (const part of parts) ticks.add(part.ticks)
  const sum = (value: (part: Status) => number): number => parts.reduce((total, part) => total + value(part), 0)
  const metrics = mergeMetrics([...parts.map((part) => part.metrics), extra, ended])
  return {
    isDraining: parts.some(({ isDraining }) => isDraining),
    players: sum(({ players }) => players),
    connections: sum(({ connections }) => connections),
    residentBytes: sum(({ residentBytes }) => residentBytes) + process.memoryUsage.rss(),
    ticks: ticks.image(),
    roomCount: sum(({ roomCount }) => roomCount),
    rooms: parts.flatMap(({ rooms }) => rooms).slice(0, ROOMS_SHOWN),
    metrics: metrics.map((metric) => (metric.kind === 'summary' ? tickSeconds(ticks) : metric)),
  }
}

/** Metrics with the same name as one, label by label. */
export function mergeMetrics(parts: readonly (readonly Metric[])[]): Metric[] {
  const merged = new Map<string, { readonly metric: Metric; readonly samples: Map<string, Sample> }>()
  for (const metric of parts.flat()) {
    const known = merged.get(metric.name) ?? { metric, samples: new Map<string, Sample>() }
    merged.set(metric.name, known)
    for (const sample of metric.samples) {
      const key = JSON.stringify([sample.labels, sample.suffix])
      const value = known.samples.get(key)?.value ?? 0
      const total = LARGEST.includes(metric.name) ? Math.max(value, sample.value) : value + sample.value
      known.samples.set(key, { ...sample, value: total })
    }
  }
  return [...merged.values()].map(({ metric, samples }) => ({ ...metric, samples: [...samples.values()] }))
}

/** The counters of a process. */
export function countersOf({ metrics }: Status): readonly Metric[] {
  return metrics.filter(({ kind }) => kind === 'counter')
}
