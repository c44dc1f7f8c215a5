/** The command line of skirmish. */

import { outOfBounds, PORTS, readOptions, type Misuse } from '../command-line.ts'

export const HELP = `
npm start -- skirmish [options]      A real-time strategy game over lockstep, for eight seats with bots.

  --port N       TCP port of the page (default 4000). Ten ports above is a second relay: matches go on there when a
                 button of the page kills the first one
  --observers N  most observers of a match (default 8)
  --replays DIR  records every match there, sealed: npx tickwire verify FILE checks it (default: not recorded)
  --fog          the server steps the match, and a page receives only what its team sees (default: lockstep)`

export interface SkirmishSettings {
  readonly port: number
  readonly observers: number
  /** The folder of the recordings. Undefined: matches are not recorded. */
  readonly replays?: string
  /** Whether the server steps the match and hides what a team does not see. Default: no. */
  readonly fog?: boolean
}

/** The settings, `'help'`, or what is wrong. */
export function readArguments(args: readonly string[]): SkirmishSettings | 'help' | Misuse {
  const values = readOptions(args, {
    port: { type: 'string', default: '4000' },
    observers: { type: 'string', default: '8' },
    replays: { type: 'string' },
    fog: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  })
  if (values === 'help' || 'problem' in values) return values
  const { port, observers, replays, fog } = values
  const wrong = outOfBounds({ port, observers }, { port: PORTS, observers: [0, 64] })
  if (wrong !== undefined) return wrong
  if (fog && replays !== undefined)
    return { problem: '--replays: a match with fog has no orders to replay. Leave out --fog or --replays.' }
  return { port: Number(port), observers: Number(observers), fog, ...(replays !== undefined && { replays }) }
}
