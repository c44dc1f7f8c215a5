/** Serves the shooter from a command line: pages, bots, and R-Type clients if asked. */

import type { Peer } from 'tickwire'
import { monotonicNow, serve, serveRtype, type Serving, type ServingRtype } from 'tickwire/node'
import type { RtypePacket, RtypePeer } from 'tickwire/rtype'
import { showHelp } from '../command-line.ts'
import { HELP, readArguments, type ShmupSettings } from './arguments.ts'
import { createBot } from './bots.ts'
import { PLAYERS_MAX, type input } from './definitions.ts'
import { shmupGame } from './game.ts'
import { RtypeDoor } from './rtype-door.ts'

/** Peer ids from here on are bots. */
const BOTS_FROM = 0x8000_0000

/** A running match. */
export interface ShmupServing {
  readonly serving: Serving<typeof input>
  readonly rtype: ServingRtype | undefined
}

export async function startShmup(args: string[]): Promise<void> {
  const settings = readArguments(args)
  if (settings === 'help' || 'problem' in settings) return showHelp(HELP, settings)
  try {
    const { serving, rtype } = await serveShmup(settings)
    const also = rtype === undefined ? '' : `\n  R-Type clients: UDP ${rtype.port.localAddress}`
    console.log(`Drift Force, for up to ${PLAYERS_MAX} players\n\n  ${serving.url}${also}\n\nCtrl-C ends it.`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

/** Serves a match with bots. Throws ConfigError when it cannot. */
export async function serveShmup(settings: ShmupSettings, folder: string = './public'): Promise<ShmupServing> {
  const people = new Set<number>()
  let rtypeClients = 0
  const bots: Peer[] = []
  const balance = (): void => {
    const humans = people.size + rtypeClients
    const wanted = humans === 0 ? 0 : Math.min(settings.bots, PLAYERS_MAX - humans)
    while (bots.length < wanted) bots.push(serving.host.addBot(createBot(bots.length)))
    while (bots.length > wanted) serving.host.kick(bots.pop()!)
  }
  const serving: Serving<typeof input> = await serve(shmupGame(settings.level), {
    port: settings.port,
    static: folder,
    maxPlayers: PLAYERS_MAX,
    onJoined: ({ id }) => {
      if (id >= BOTS_FROM) return
      people.add(id)
      balance()
    },
    onLeft: ({ id }) => {
      if (people.delete(id)) balance()
    },
  })
  if (settings.rtypePort === undefined) return { serving, rtype: undefined }
  const rtype = await openRtype(serving.host, settings.rtypePort, (count) => {
    rtypeClients = count
    balance()
  })
  return { serving, rtype }
}

/** Takes R-Type clients into the match, on a UDP port. */
async function openRtype(
  host: Serving<typeof input>['host'], port: number, onCount: (count: number) => void,
): Promise<ServingRtype> {
  const rtype = await serveRtype({ port }, (event) => door.handle(event))
  // The door works inside of a tick, where nothing may read a clock. Its packets wait until the tick is over.
  let waiting: { readonly peer: RtypePeer; readonly packet: RtypePacket }[] = []
  const flush = (): void => {
    for (const { peer, packet } of waiting) rtype.send(peer, packet)
    waiting = []
    rtype.flush()
  }
  const door = new RtypeDoor(host, {
    send: (peer, packet) => { waiting.push({ peer, packet }) },
    kick: (peer) => rtype.sessions.kick(monotonicNow(), peer),
  })
  door.onCount = onCount
  door.onSent = () => queueMicrotask(flush)
  // A signal that ends the match ends the process.
  rtype.port.unref()
  return rtype
}
