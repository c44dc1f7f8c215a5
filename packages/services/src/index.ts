/** The door of `@tickwire/services`: what the command `tickwire` loads, and what programs may use. */

export { runService, SERVICES } from './cli/run.ts'
export type { Service, ServiceWorld } from './cli/service.ts'
export type { Option, OptionKind, OptionTable, OptionValues } from './cli/options.ts'
