/**
 * The "./worker" entry point, for the script of a Worker of a page that hosts a match. A page that only plays does not
 * load it.
 */

export { runHost } from './host-worker.ts'
export { runRelay } from './relay-worker.ts'
export type { RunHostOptions } from './run-host-options.ts'
