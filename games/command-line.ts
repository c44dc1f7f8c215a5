/**
 * The common parts of the games' command lines: parsing options, checking the range of numbers, and showing help.
 *
 * Exit codes are those of every command: 0 success, 1 it cannot be served, 2 invalid command line.
 */

import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T; args: string[] }>>['values']
type Bounds = readonly [min: number, max: number]

/** Why a command line is invalid. */
export interface Misuse {
  readonly problem: string
}

/** Valid ports; 0 selects any free port. */
export const PORTS: Bounds = [0, 65_535]

/** Parses `args` by `options` (as in `node:util` parseArgs). `--help` takes precedence over everything else. */
export function readOptions<const T extends Options>(args: readonly string[], options: T): Values<T> | 'help' | Misuse {
  if (args.includes('--help') || args.includes('-h')) return 'help'
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    // Only the first sentence: the rest is unrelated advice about positional arguments.
    return { problem: String(error instanceof Error ? error.message : error).replace(/\. To specify .*$/s, '') }
  }
}

/** The first value that is not a whole number within its bounds; undefined when all are. */
export function outOfBounds<Name extends string>(
  values: Readonly<Record<NoInfer<Name>, string>>,
  bounds: Readonly<Record<Name, Bounds>>,
): Misuse | undefined {
  for (const name of Object.keys(bounds) as Name[]) {
    const [min, max] = bounds[name]
    const value = Number(values[name])
    if (/^\d+$/.test(values[name]) && value >= min && value <= max) continue
    return { problem: `--${name} takes a whole number from ${min} to ${max}, not ${JSON.stringify(values[name])}` }
  }
  return undefined
}

/** Prints the help. After an invalid command line, prints the problem first, and the program ends with 2. */
export function showHelp(help: string, reason: 'help' | Misuse): void {
  if (reason === 'help') return console.log(help)
  console.error(`${reason.problem}\n\n${help}`)
  process.exitCode = 2
}
