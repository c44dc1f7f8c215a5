/**
 * The interface of a `tickwire` command, and its usage error.
 */

import type { Entropy } from '../core/base/entropy.ts'

/** The effects that a command may have. Passed in, so that tests can observe and control them. */
export interface CommandWorld {
  /** Prints a line to standard output. */
  print(line: string): void
  /** Prints a line to standard error. */
  complain(line: string): void
  /** Seconds since 1970. */
  nowSeconds(): number
  readonly entropy: Entropy
}

/** One command. */
export interface Command {
  readonly summary: string
  readonly help: string
  /** Runs and returns the exit code: 0 for success, 1 for a negative result. Throws `UsageError` on bad usage. */
  run(args: readonly string[], world: CommandWorld): number
}

/** A command that waits for the network. */
export interface AsyncCommand extends Omit<Command, 'run'> {
  run(args: readonly string[], world: CommandWorld): Promise<number>
}

/** The command line is invalid. The message is one sentence, and the exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
