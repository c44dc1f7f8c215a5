/** A page that joins a match when a test tells it to, and tells what it sees. */

import { bool, ClientTrace, defineGame, entity, fixed, type Game } from 'tickwire'
import { connect, ConnectError, type ConnectOptions, type Room } from 'tickwire/browser'

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
    throw error
  }
  const tookMs = performance.now() - startedAt
  room.onTransport = (transport) => transports.push(transport)
  room.onAway = ({ code }) => turns.push(`away ${code}`)
  room.onBack = () => turns.push('back')
  void room.closed.then(({ by, code }) => turns.push(`closed ${by} ${code}`))
  room.play({ input: () => ({ right: isRight }), draw: (view) => { xs = Array.from(view.each(Walker), ({ x }) => x) } })
  return tookMs
}

/** The same, and remembers all that it is handed. */
export async function joinTraced(url: string): Promise<number | string> {
  return await join(url, { transports: ['websocket'], trace: () => (trace = new ClientTrace()) })
}

/** What was remembered until now, bytes as lists, and what became of it. */
export function traced(): { entries: string; told: number; predicted: number; x: number } {
  const host = room!.tools.host
  const [own] = host.predictor!.world.each(Walker)
  return {
    entries: JSON.stringify(trace!.entries, (_name, value: unknown) => value instanceof Uint8Array ? { bytes: [...value] } : value),
    told: host.insides.snapshots.tick, predicted: host.predictor!.tick, x: own!.x,
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

/** Where everyone is, and how we know. */
export function look(): { xs: number[]; peer: number; transport: string; reason: string; transports: string[]; turns: string[]; stats: object } {
  return {
    xs, peer: Number(room?.peer), transport: room?.transport ?? '', reason: room?.transportReason ?? '', transports, turns,
    stats: { ...room?.transportStats },
  }
}
