/**
 * What the operator is told: entries with a level, a name, and a few facts; never a token, a ticket, a key or an address.
 *
 * ```ts
 * serve(game, { log: jsonLines() })         // {"time":"2026-11-16T00:45:11.021Z","level":"info","event":"drain-begun","message":…,"ms":10000}
 * ```
 */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Something the operator should know. */
export interface ServeLogEntry {
  readonly level: LogLevel
  /** Always the same for the same thing, so that it can be searched and counted. */
  readonly event: string
  readonly message: string
  readonly facts?: { readonly [name: string]: string | number | boolean }
}

export type ServeLog = (entry: ServeLogEntry) => void

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** For people: warnings and errors on the console. */
export function plainLog(least: LogLevel = 'warn'): ServeLog {
  return ({ level, message }) => {
    if (isAtLeast(level, least)) console.warn(`tickwire: ${message}`)
  }
}

/** For machines: one JSON object a line, on standard output unless said. */
export function jsonLines({ level: least = 'info', write = (line) => process.stdout.write(line) }: {
  readonly level?: LogLevel
  readonly write?: (line: string) => void
} = {}): ServeLog {
  return ({ level, event, message, facts }) => {
    if (isAtLeast(level, least)) write(`${JSON.stringify({ time: new Date().toISOString(), level, event, message, ...facts })}\n`)
  }
}

function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least)
}
