/**
 * What the command lines of the games have in common: options are read or refused, numbers have bounds, and who asks for
 * help or needs it is shown it.
 *
 * Exit codes are those of every command: 0 all is well, 1 it cannot be served, 2 the command line made no sense.
 */

import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T; args: string[] }>>['values']
type Bounds = readonly [min: number, max: number]

/** Why a command line makes no sense. */
export interface Misuse {
  readonly problem: string
}

/** The ports there are; 0 takes any that is free. */
export const PORTS: Bounds = [0, 65_535]

/** Reads `args` by `options` (as in `node:util` parseArgs). Whoever says `--help` gets it, whatever else he says. */
export function readOptions<const T extends Options>(args: readonly string[], options: T): Values<T> | 'help' | Misuse {
  if (args.includes('--help') || args.includes('-h')) return 'help'
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    // Only its first sentence: the rest is advice about positional arguments that nobody meant.
    return { problem: String(error instanceof Error ? error.message : error).replace(/\. To specify .*$/s, '') }
  }
}

/** The first value that is no whole number within its bounds; undefined when all are. */
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

/** Shows the help to who asked for it; who made a mistake is told so first, and the program ends with 2. */
export function showHelp(help: string, reason: 'help' | Misuse): void {
  if (reason === 'help') return console.log(help)
  console.error(`${reason.problem}\n\n${help}`)
  process.exitCode = 2
}
