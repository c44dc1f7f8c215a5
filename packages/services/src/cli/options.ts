/**
 * Options of the services: a flag (`--max-games 5`), else an environment variable (`MAX_GAMES=5`), else a key of the
 * JSON file that `--config` names (`{ "max-games": 5 }`), else the default. An empty environment variable counts as
 * missing.
 *
 * An unknown flag or key is refused, with the nearest name. Durations are `500ms`, `30s`, `10min`, `2h`; a plain number
 * is seconds.
 */

import { readFileSync } from 'node:fs'
import { ConfigError } from 'tickwire'
import { nearestName } from './nearest-name.ts'

/** How the text of an option is read. */
export type OptionKind = 'text' | 'whole' | 'duration' | 'flag' | 'list'

/** One option. */
export interface Option {
  readonly kind: OptionKind
  /** One line of help, without its default. */
  readonly help: string
  /** The placeholder of the value in the help text: `N`, `FILE`. */
  readonly value?: string
  /** Undefined: the option may be missing. */
  readonly default?: string | number | boolean
}

/** Options by name, in kebab-case. */
export type OptionTable = { readonly [name: string]: Option }

interface ValueOf {
  readonly text: string
  readonly whole: number
  readonly duration: number
  readonly flag: boolean
  readonly list: readonly string[]
}

/** The values that a table of options leads to. Durations are in ms; a list is never missing. */
export type OptionValues<Table extends OptionTable> = {
  readonly [name in keyof Table]: Table[name]['kind'] extends 'list' | 'flag'
    ? ValueOf[Table[name]['kind']]
    : Table[name] extends { readonly default: string | number }
      ? ValueOf[Table[name]['kind']]
      : ValueOf[Table[name]['kind']] | undefined
}

const CONFIG: Option = { kind: 'text', value: 'FILE', help: 'a JSON file with options by name' }
const UNITS_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, '': 1000, min: 60_000, h: 3_600_000 }
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|min|h|)$/
const WHOLE = /^\d{1,15}$/

/** Where option texts come from. */
export interface OptionSources {
  readonly args: readonly string[]
  readonly env: { readonly [name: string]: string | undefined }
}

/** Reads all options of a table. Throws `ConfigError` for the first that is unknown or invalid. */
export function readOptions<Table extends OptionTable>(
  table: Table, { args, env }: OptionSources,
): OptionValues<Table> {
  const known: OptionTable = { ...table, config: CONFIG }
  const flags = readFlags(known, args)
  const file = flags.get('config')?.at(-1) ?? (env['CONFIG'] || undefined)
  const config = file === undefined ? new Map<string, string[]>() : readConfig(known, file)
  const values: { [name: string]: unknown } = {}
  for (const [name, option] of Object.entries(table)) {
    const variable = envName(name)
    // Compose files pass variables that are not set as empty ones.
    const inEnv = env[variable] === undefined || env[variable] === '' ? undefined : splitList(option, env[variable])
    const [texts, place] = flags.has(name)
      ? [flags.get(name), `--${name}`]
      : inEnv !== undefined ? [inEnv, variable] : [config.get(name), `${file}: ${name}`]
    values[name] = texts === undefined ? defaultOf(option) : valueOf(option, texts, place)
  }
  // reason: each value was read by the kind that its type comes from.
  return values as OptionValues<Table>
}

/** The environment variable of an option. */
export function envName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_')
}

/** The lines of help for a table of options. */
export function optionHelp(table: OptionTable): string[] {
  const rows = Object.entries({ ...table, config: CONFIG }).map(([name, option]) => {
    const value = option.kind === 'flag' ? '' : ` ${option.value ?? (option.kind === 'duration' ? 'TIME' : 'N')}`
    const otherwise = option.default === undefined || option.kind === 'flag' ? '' : ` (${option.default})`
    return [`--${name}${value}`, `${option.help}${otherwise}`] as const
  })
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`)
}

/** Texts by option. A list may be given several times. */
function readFlags(table: OptionTable, args: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    if (!word.startsWith('--'))
      throw new ConfigError(JSON.stringify(word), 'not an option', 'write options as --name value.')
    const [name = '', attached] = word.slice(2).split(/=(.*)/s, 2)
    const option = knownOption(table, name, `--${name}`)
    if (option.kind === 'flag' && attached === undefined) {
      found.set(name, ['true'])
      continue
    }
    const text = attached ?? args[++at]
    if (text === undefined) throw new ConfigError(`--${name}`, 'has no value', `write --${name} and its value.`)
    found.set(name, [...(found.get(name) ?? []), text])
  }
  return found
}

function readConfig(table: OptionTable, file: string): Map<string, string[]> {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError('--config', `${file}: ${(error as Error).message}`, 'give a JSON file that can be read.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError('--config', `${file}: not an object`, 'write { "option": value }.')
  const found = new Map<string, string[]>()
  for (const [name, item] of Object.entries(value)) {
    knownOption(table, name, `${file}: ${name}`)
    found.set(name, (Array.isArray(item) ? item : [item]).map(String))
  }
  return found
}

function knownOption(table: OptionTable, name: string, place: string): Option {
  const option = Object.hasOwn(table, name) ? table[name] : undefined
  if (option !== undefined) return option
  const near = nearestName(name, Object.keys(table))
  throw new ConfigError(place, 'unknown option', near === undefined ? 'see --help.' : `Did you mean --${near}?`)
}

function splitList(option: Option, text: string): string[] {
  return option.kind === 'list' ? text.split(',').map((each) => each.trim()).filter((each) => each !== '') : [text]
}

function defaultOf(option: Option): unknown {
  if (option.kind === 'list') return []
  if (option.kind === 'flag') return option.default ?? false
  return option.kind === 'duration' && option.default !== undefined
    ? readDuration(String(option.default)) : option.default
}

function valueOf(option: Option, texts: readonly string[], place: string): unknown {
  const text = texts.at(-1) ?? ''
  const refuse = (expected: string, fix: string): never => {
    throw new ConfigError(`${place} ${text}`, `not ${expected}`, fix)
  }
  switch (option.kind) {
    case 'list': return texts
    case 'text': return text
    case 'whole': return WHOLE.test(text) ? Number(text) : refuse('a number', 'give a whole number from 0.')
    case 'duration': return readDuration(text) ?? refuse('a duration', 'write one such as 500ms, 30s, 10min or 2h.')
    case 'flag': return text === 'true' || text === '1' ? true
      : text === 'false' || text === '0' ? false : refuse('true or false', 'write true or false.')
  }
}

/** A duration in ms; undefined when the text is not a duration. */
export function readDuration(text: string): number | undefined {
  const [, number, unit = ''] = DURATION.exec(text) ?? []
  return number === undefined ? undefined : Number(number) * (UNITS_MS[unit] ?? 0)
}
