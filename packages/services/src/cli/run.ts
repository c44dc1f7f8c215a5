/**
 * Finds the requested service, reads its options, starts it, and turns mistakes into one sentence and an exit code.
 */

import { ConfigError } from 'tickwire'
import { all } from '../all/all.ts'
import { fleet } from '../fleet/fleet.ts'
import { issue } from '../issue/issue.ts'
import { lockstep } from '../lockstep/lockstep.ts'
import { relay } from '../relay/relay.ts'
import { stun } from '../relay/stun.ts'
import { rendezvous } from '../rendezvous/rendezvous.ts'
import { track } from '../track/track.ts'
import { nearestName } from './nearest-name.ts'
import { optionHelp, readOptions } from './options.ts'
import type { Service, ServiceWorld } from './service.ts'

/** Services, keyed by the word that starts them. */
export const SERVICES: ReadonlyMap<string, Service> = new Map([
  ['relay', relay],
  ['stun', stun],
  ['lockstep', lockstep],
  ['rendezvous', rendezvous],
  ['fleet', fleet],
  ['track', track],
  ['issue', issue],
  ['all', all],
])

/**
 * Runs the service that `args` name: `['relay', '--port', '7777']`. Returns an exit code when there is nothing to run,
 * and else never: the process exits when the service has drained after a signal.
 */
export async function runService(
  args: readonly string[],
  world: ServiceWorld,
  env: { readonly [name: string]: string | undefined } = process.env,
): Promise<number> {
  const [name = '', ...rest] = args
  const service = SERVICES.get(name)
  if (service === undefined) return overview(name, world)
  if (rest.includes('--help') || rest.includes('-h')) {
    world.print(helpOf(name, service))
    return 0
  }
  try {
    await service.start(readOptions(service.options, { args: rest, env }), world)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    world.complain(`tickwire ${name}: ${error.message}`)
    world.complain(`tickwire ${name} --help says more.`)
    return 2
  }
  return await new Promise<number>(() => {})
}

function helpOf(name: string, { about, options }: Service): string {
  return [
    `tickwire ${name} [options]`, '', about, '', ...optionHelp(options), '',
    'An option may also be an environment variable (MAX_GAMES for --max-games). A flag wins over the environment, and',
    'the environment over the file.',
  ].join('\n')
}

function overview(name: string, world: ServiceWorld): number {
  if (name !== '' && !name.startsWith('-')) {
    const near = nearestName(name, [...SERVICES.keys()])
    world.complain(`tickwire: unknown service "${name}".${near === undefined ? '' : ` Did you mean ${near}?`}`)
    return 2
  }
  world.print('tickwire SERVICE [options]      Each service has its own --help.\n')
  for (const [word, { summary }] of SERVICES) world.print(`  tickwire ${word.padEnd(16)}${summary}`)
  return 0
}
