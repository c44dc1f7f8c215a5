/** A fleet service and game servers of a test, all in this process of Node, and a game to play on them. */

import { bool, defineGame, entity, fixed, u32, u8, type Game } from 'tickwire'
import {
  connect, fleet, serveRooms, type FleetOptions, type Room, type ServeLog, type ServingRooms,
} from 'tickwire/node'
import { serveFleet, type FleetServiceOptions, type ServingFleet } from '../../packages/services/src/index.ts'

export const Walker = entity({ x: fixed(0, 1000, 0.1), steps: u32 }, { name: 'Walker' })
const Newer = entity({ x: fixed(0, 1000, 0.1), steps: u32, hat: u8 }, { name: 'Walker' })

function walkers(kind: typeof Walker): Game {
  return defineGame({
    tickRate: 30,
    input: { right: bool },
    entities: [kind],
    onJoin: (world, peer) => world.spawn(kind, { x: 0, steps: 0 }, peer),
    onLeave(world, peer) {
      for (const walker of world.each(kind)) if (walker.owner === peer.id) world.despawn(walker)
    },
    step(world) {
      for (const walker of world.each(kind)) walker.steps++
    },
  }) as unknown as Game
}

export const game: Game = walkers(Walker)
/** The next build: a field was appended. */
export const newerGame: Game = walkers(Newer as unknown as typeof Walker)

/** How a game server of a test is made. */
export type ServerOptions = Partial<FleetOptions> & {
  readonly capacity?: number
  readonly of?: Game
  readonly log?: ServeLog
}

/** What a test has opened. */
export class Stage {
  readonly #open: { close(): Promise<void> }[] = []
  readonly #rooms: Room[] = []

  async close(): Promise<void> {
    for (const room of this.#rooms.splice(0)) room.leave()
    for (const each of this.#open.splice(0).toReversed()) await each.close()
  }

  async fleet(options: FleetServiceOptions = {}): Promise<ServingFleet> {
    const serving = await serveFleet({ port: 0, address: '127.0.0.1', requestsPerMinute: 100_000, ...options })
    this.#open.push(serving)
    return serving
  }

  async server(
    at: ServingFleet,
    { capacity = 4, of = game, log = () => {}, ...options }: ServerOptions = {},
  ): Promise<ServingRooms> {
    const serving = await serveRooms({ melee: { game: of, capacity, resumeMs: 5000 } }, {
      port: 0, address: '127.0.0.1', signals: false, ops: false, log, udp: { port: 0 }, webrtc: false,
      webtransport: false, drainMs: 3000, fleet: { url: urlOf(at), ...options },
    })
    this.#open.push(serving)
    return serving
  }

  async join(at: ServingFleet, options: object = {}, of: Game = game): Promise<Room> {
    const room = await connect(of, fleet(urlOf(at)), { transport: 'udp', ...options })
    this.#rooms.push(room)
    return room
  }
}

export function urlOf({ port }: { readonly port: number }): string {
  return `http://127.0.0.1:${port}`
}

export async function until(isTrue: () => boolean, what: () => unknown = () => isTrue, msMax = 15_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${String(what())}`)
    await new Promise((resolve) => { setTimeout(resolve, 5) })
  }
}

/** Steps of the oldest walker that a client sees. */
export function steps(room: Room): number {
  return Math.max(0, ...[...room.view.each(Walker)].map((walker) => walker.steps))
}
