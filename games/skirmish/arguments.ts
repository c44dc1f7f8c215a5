/** The command line of skirmish. */

import { parseArgs } from 'node:util'

export const HELP = `
npm start -- skirmish [options]      A real-time strategy game over lockstep, for eight seats with bots.

  --port N       TCP port of the page (default 4000)
  --observers N  most observers of a match (default 8)
  --replays DIR  records every match there, sealed: npx tickwire verify FILE checks it (default: not recorded)
  --standby      a second relay, ten ports above: a match goes on there when the first one is killed (default: no)
  --fog          the server steps the match, and a page receives only what its team sees (default: lockstep)`

export interface SkirmishSettings {
  readonly port: number
  readonly observers: number
  /** The folder of the recordings. Undefined: matches are not recorded. */
  readonly replays?: string
  /** Whether a second relay takes over matches when the first one dies. Default: no. */
  readonly standby?: boolean
  /** Whether the server steps the match and hides what a team does not see. Default: no. */
  readonly fog?: boolean
}

/** The settings, `'help'`, or what is wrong. */
export function readArguments(args: string[]): SkirmishSettings | 'help' | { readonly problem: string } {
  let values: Partial<Record<'port' | 'observers' | 'replays', string>>
    & Partial<Record<'fog' | 'standby' | 'help', boolean>>
  try {
    values = parseArgs({
      args,
      options: {
        port: { type: 'string' }, observers: { type: 'string' }, replays: { type: 'string' }, fog: { type: 'boolean' },
        standby: { type: 'boolean' }, help: { type: 'boolean', short: 'h' },
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
  const { fog = false, standby = false, replays } = values
  if (fog && standby)
    return { problem: '--standby: a match with fog runs on one server. Leave out --fog or --standby.' }
  if (fog && replays !== undefined)
    return { problem: '--replays: a match with fog has no orders to replay. Leave out --fog or --replays.' }
  return { port, observers, fog, standby, ...(replays !== undefined && { replays }) }
}
