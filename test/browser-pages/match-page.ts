/** A page that joins a match when a test asks it to, and reports what it sees. */

import { bool, ConfigError, defineGame, entity, fixed, type Game } from 'tickwire'
import { ClientTrace } from 'tickwire/engine'
import { connect, ConnectError, withBanner, type ConnectOptions, type Room } from 'tickwire/browser'

export const Walker = entity({ x: fixed(0, 1000, 0.1) })

const INPUT = { right: bool }

export const game: Game<typeof INPUT> = defineGame({
  tickRate: 30,
  input: INPUT,
  entities: [Walker],
  onJoin: (world, peer) => world.spawn(Walker, { x: 10 }, peer),
  step(world, inputs) {
    for (const walker of world.each(Walker)) if (inputs.of(walker.owner).right) walker.x += 1
  },
})

let room: Room<typeof INPUT> | undefined
let isRight = false
let xs: number[] = []
const transports: string[] = []
const turns: string[] = []
let trace: ClientTrace | undefined

/** Joins; returns how long it took, or why it did not. */
export async function join(url: string, options: ConnectOptions): Promise<number | string> {
  const startedAt = performance.now()
  try {
    room = await connect(game, url, options)
  } catch (error) {
    if (error instanceof ConnectError) return error.message
    if (error instanceof ConfigError) return error.message
    throw error
  }
  const tookMs = performance.now() - startedAt
  room.onTransport((transport) => transports.push(transport))
  room.onAway(({ code }) => turns.push(`away ${code}`))
  room.onBack((seat) => turns.push(seat === 'same' ? 'back' : 'back as a new player'))
  void room.closed.then(({ by, code }) => turns.push(`closed ${by} ${code}`))
  room.play({ input: () => ({ right: isRight }), draw: (view) => { xs = Array.from(view.each(Walker), ({ x }) => x) } })
  return tookMs
}

/** The same, with a banner. */
export async function joinWithBanner(url: string): Promise<number | string> {
  const joining = connect(game, url)
  void withBanner(joining).catch(() => {})
  try {
    room = await joining
    room.onAway(({ code }) => turns.push(`away ${code} ${performance.now()}`))
    room.onBack((seat) => turns.push(`back ${seat}`))
    room.play({ input: () => ({}), draw: (view) => { xs = Array.from(view.each(Walker), ({ x }) => x) } })
    return room.peer
  } catch (error) {
    return error instanceof ConnectError ? error.code : String(error)
  }
}

/** The same, and records everything that it receives. */
export async function joinTraced(url: string): Promise<number | string> {
  return await join(url, { transports: ['websocket'], trace: () => (trace = new ClientTrace()) })
}

/** The record until now, bytes as lists, and the state of the client. */
export function traced(): { entries: string; received: number; predicted: number; x: number } {
  const host = room!.tools.host
  const [own] = host.predictor!.world.each(Walker)
  return {
    entries: JSON.stringify(trace!.entries, (_name, value: unknown) =>
      value instanceof Uint8Array ? { bytes: [...value] } : value,
    ),
    received: host.insides.snapshots.tick,
    predicted: host.predictor!.tick,
    x: own!.x,
  }
}

export function hold(isHeld: boolean): void {
  isRight = isHeld
}

export function climb(): void {
  room?.climb()
}

export function leave(): void {
  room?.leave()
}

/** How far the server is verified. */
export function security(): object {
  return { ...room?.security }
}

/** Where all players are, and how we know. */
export function look(): {
  xs: number[]
  peer: number
  transport: string
  reason: string
  transports: string[]
  turns: string[]
  stats: object
} {
  return {
    xs,
    peer: Number(room?.peer),
    transport: room?.transport ?? '',
    reason: room?.transportReason ?? '',
    transports,
    turns,
    stats: { ...room?.transportStats },
  }
}
