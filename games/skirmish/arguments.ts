/** The command line of skirmish. */

import { parseArgs } from 'node:util'

export const HELP = `
npm start -- skirmish [options]      A real-time strategy game over lockstep, for eight seats with bots.

  --port N       TCP port of the page (default 4000)
  --observers N  most observers of a match (default 8)
  --replays DIR  records every match there, sealed: npx tickwire verify FILE checks it (default: not recorded)`

export interface SkirmishSettings {
  readonly port: number
  readonly observers: number
  /** The folder of the recordings. Undefined: matches are not recorded. */
  readonly replays?: string
}

/** The settings, `'help'`, or what is wrong. */
export function readArguments(args: string[]): SkirmishSettings | 'help' | { readonly problem: string } {
  let values: Partial<Record<'port' | 'observers' | 'replays', string>> & { readonly help?: boolean }
  try {
    values = parseArgs({
      args,
      options: {
        port: { type: 'string' }, observers: { type: 'string' }, replays: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
  if (values.help === true) return 'help'
  const [port, observers] = [Number(values.port ?? 4000), Number(values.observers ?? 8)]
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return { problem: `--port: expected 0 to 65535, got ${values.port}` }
  if (!Number.isInteger(observers) || observers < 0 || observers > 64)
    return { problem: `--observers: expected 0 to 64, got ${values.observers}` }
  return { port, observers, ...(values.replays !== undefined && { replays: values.replays }) }
}
