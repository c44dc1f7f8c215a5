/** The command line of the shooter. */

import { parseArgs } from 'node:util'

export const HELP = `
npm start -- shmup [options]      A co-op shooter for four, in browsers and for R-Type clients.

  --port N           TCP port of the page (default 4000)
  --bots N           gentle bots that play along, 0 to 3 (default 1)
  --level N          the first level, 1 to 3 (default 1)
  --rtype-port N     also take R-Type clients on this UDP port; plain text (default: none)`

export interface ShmupSettings {
  readonly port: number
  readonly bots: number
  readonly level: number
  readonly rtypePort: number | undefined
}

/** The settings, `'help'`, or what is wrong. */
export function readArguments(args: string[]): ShmupSettings | 'help' | { readonly problem: string } {
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({
      args,
      options: {
        port: { type: 'string' }, bots: { type: 'string' }, level: { type: 'string' }, 'rtype-port': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
  if (values['help'] === true) return 'help'
  const ranges = [['port', 4000, 0, 65_535], ['bots', 1, 0, 3], ['level', 1, 1, 3], ['rtype-port', -1, 0,
    65_535]] as const
  const numbers = new Map<string, number>()
  for (const [name, standard, least, most] of ranges) {
    const number = values[name] === undefined ? standard : Number(values[name])
    const isRight = values[name] === undefined || (Number.isInteger(number) && number >= least && number <= most)
    if (!isRight) return { problem: `--${name}: expected ${least} to ${most}, got ${String(values[name])}` }
    numbers.set(name, number)
  }
  const rtype = numbers.get('rtype-port')!
  return {
    port: numbers.get('port')!, bots: numbers.get('bots')!, level: numbers.get('level')!,
    rtypePort: rtype < 0 ? undefined : rtype,
  }
}
