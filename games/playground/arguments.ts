/** The command line of the playground. */

import { outOfBounds, PORTS, readOptions, type Misuse } from '../command-line.ts'

export const HELP: string = `npm start -- playground [options]

Serves the playground: eight labs, one idea of netcode each.

  --port 4000               the port; 0 takes any free port
  --host 127.0.0.1          the address: this machine alone; 0.0.0.0 is for phones on the network too
  --help

Ctrl-C ends it.`

export interface PlaygroundSettings {
  readonly port: number
  /** The address to listen on. */
  readonly host: string
}

/** The parsed settings; or what is wrong with the command line. */
export function readArguments(args: readonly string[]): PlaygroundSettings | 'help' | Misuse {
  const values = readOptions(args, {
    port: { type: 'string', default: '4000' },
    host: { type: 'string', default: '127.0.0.1' },
  })
  if (values === 'help' || 'problem' in values) return values
  const { port, host } = values
  // Node would take an empty address as all addresses.
  if (host === '') return { problem: '--host takes an address of this machine, such as 0.0.0.0 for all of them' }
  return outOfBounds({ port }, { port: PORTS }) ?? { port: Number(port), host }
}
