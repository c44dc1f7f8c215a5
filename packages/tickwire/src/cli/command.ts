/**
 * What a command of `tickwire` is, and how it says no.
 */

import type { Entropy } from '../core/base/entropy.ts'

/** What a command may touch: handed in, so that tests can see and steer it. */
export interface CommandWorld {
  /** A line to standard output. */
  print(line: string): void
  /** A line to standard error. */
  complain(line: string): void
  /** Seconds since 1970. */
  nowSeconds(): number
  readonly entropy: Entropy
}

/** One command. */
export interface Command {
  readonly summary: string
  readonly help: string
  /** Runs and returns the exit code: 0 done, 1 the answer is no. Throws `UsageError` on what makes no sense. */
  run(args: readonly string[], world: CommandWorld): number
}

/** One that waits for the network. */
export interface AsyncCommand extends Omit<Command, 'run'> {
  run(args: readonly string[], world: CommandWorld): Promise<number>
}

/** The command line makes no sense: said in one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
