/**
 * Log entries for the operator: a level, an event name, and a few facts; never a token, a ticket, a key or an address.
 *
 * ```ts
 * serve(game, { log: jsonLines() })         //
 * {"time":"2026-11-16T00:45:11.021Z","level":"info","event":"drain-begun","message":…,"ms":10000}
 * ```
 */

import { LOG_LINES_PER_MINUTE } from '../core/base/limits.ts'
import { monotonicNow } from './clock.ts'

/** How important a log entry is. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One log entry. */
export interface ServeLogEntry {
  /** How important it is. */
  readonly level: LogLevel
  /** Constant per kind of event, so that logs can be searched and counted. */
  readonly event: string
  /** One sentence for people. */
  readonly message: string
  /** The values that it is about, by name. */
  readonly facts?: { readonly [name: string]: string | number | boolean }
}

/** Receives every log entry of a server. */
export type ServeLog = (entry: ServeLogEntry) => void

const MINUTE_MS = 60_000
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** For people: warnings and errors on the console. */
export function plainLog(least: LogLevel = 'warn'): ServeLog {
  return ({ level, message }) => {
    if (isAtLeast(level, least)) console.warn(`tickwire: ${message}`)
  }
}

/** For machines: one JSON object per line, on standard output by default. */
export function jsonLines({ level: least = 'info', write = (line) => process.stdout.write(line) }: {
  readonly level?: LogLevel
  readonly write?: (line: string) => void
} = {}): ServeLog {
  return ({ level, event, message, facts }) => {
    if (isAtLeast(level, least))
      write(`${JSON.stringify({ time: new Date().toISOString(), level, event, message, ...facts })}\n`)
  }
}

/** Limits a log to LOG_LINES_PER_MINUTE entries per event: peers can trigger some events at will. */
export function limitLines(log: ServeLog, clock: () => number = monotonicNow): ServeLog {
  const counts = new Map<string, { from: number; count: number }>()
  return (entry) => {
    const now = clock()
    const kind = counts.get(entry.event) ?? { from: now, count: 0 }
    const leftOut = now - kind.from >= MINUTE_MS ? kind.count - LOG_LINES_PER_MINUTE : 0
    if (now - kind.from >= MINUTE_MS) Object.assign(kind, { from: now, count: 0 })
    counts.set(entry.event, kind)
    if (++kind.count > LOG_LINES_PER_MINUTE) return
    log(leftOut > 0 ? { ...entry, facts: { ...entry.facts, leftOut } } : entry)
  }
}

function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least)
}
