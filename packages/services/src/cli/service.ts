/**
 * The interface of a service: a program that `tickwire NAME` starts, and that runs until a signal ends it.
 */

import type { OptionTable, OptionValues } from './options.ts'

/** The effects that a service may have on its terminal. Passed in, so that tests can observe them. */
export interface ServiceWorld {
  /** Prints a line to standard output. */
  print(line: string): void
  /** Prints a line to standard error. */
  complain(line: string): void
}

/** One service. */
export interface Service<Options extends OptionTable = OptionTable> {
  readonly summary: string
  /** What it does, in whole sentences. The list of options follows it in the help text. */
  readonly about: string
  readonly options: Options
  /** Starts the service. It runs on after this resolves, until a signal ends the process. */
  start(options: OptionValues<Options>, world: ServiceWorld): Promise<void>
}

/** Makes a service; the types of its options follow from the table. */
export function defineService<const Options extends OptionTable>(service: Service<Options>): Service {
  // reason: the table that the values are read with is the one their types come from.
  return service as unknown as Service
}
