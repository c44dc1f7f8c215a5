/**
 * Services are in a package of their own, `@tickwire/services`: it is loaded when one of them is requested.
 */

import type { CommandWorld } from './command.ts'

/** What each service does, by its name. `@tickwire/services` has the rest, and the same summaries. */
export const SERVICE_SUMMARIES: ReadonlyMap<string, string> = new Map([
  ['relay', 'forward packets between players behind routers'],
  ['stun', 'show peers their public address (STUN)'],
  ['lockstep', 'relay the orders of lockstep matches'],
  ['rendezvous', 'let players find each other by a code'],
  ['fleet', 'seats in many processes behind one address'],
  ['track', 'list public games, for players to browse'],
  ['issue', 'sign tokens for players, hosts and servers'],
  ['all', 'all services in one process'],
])

interface Services {
  runService(args: readonly string[], world: CommandWorld): Promise<number>
}

/** Runs a service. Returns the exit code; 2 when the package is not installed. */
export async function startService(args: readonly string[], world: CommandWorld): Promise<number> {
  const services = await loadServices()
  if (services !== undefined) return await services.runService(args, world)
  world.complain(`tickwire ${args[0]}: @tickwire/services is not installed. Fix: npm install @tickwire/services`)
  return 2
}

async function loadServices(): Promise<Services | undefined> {
  // A name that bundlers do not follow: the package depends on this one.
  const name: string = '@tickwire/services'
  try {
    return (await import(name)) as Services
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' && String(error).includes(name)
    if (isMissing) return undefined
    throw error
  }
}
