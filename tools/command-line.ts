/**
 * How every command reads its arguments: `--help` prints and ends, a mistake names itself and shows the help.
 *
 * Exit codes: 0 all is well, 1 what the command checks is not well, 2 the command line made no sense.
 */

import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<T extends Options> = ReturnType<typeof parseArgs<{ options: T; allowPositionals: true; args: string[] }>>

/** Parses `args` against `options` (as in `node:util` parseArgs); positionals are kept. */
export function commandLine<const T extends Options>(
  help: string,
  options: T,
  args: string[] = process.argv.slice(2),
): Parsed<T> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help.trim())
    process.exit(0)
  }
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    // Only its first sentence: the rest is advice about positional arguments, which does not apply here.
    return misuse(help, String(error instanceof Error ? error.message : error).replace(/\. To specify .*$/s, ''))
  }
}

/** A whole number of at least `min`, or `fallback` where the option was not given. */
export function wholeNumber(help: string, name: string, text: string | undefined, fallback: number, min = 0): number {
  if (text === undefined) return fallback
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= min) return value
  return misuse(help, `--${name} takes a whole number of at least ${min}, not ${JSON.stringify(text)}`)
}

/** Says what was wrong with the command line, shows the help, and ends. */
export function misuse(help: string, problem: string): never {
  console.error(`${problem}\n\n${help.trim()}`)
  process.exit(2)
}
