/**
 * A crowd in which each client sees only its surroundings: 300 clients, 300 objects that all move, 30 ticks a second.
 *
 * Timed is the work of a server for its clients in a tick after `step`: store the tick, compute interest, write the
 * packets of all clients, process the acknowledgements of three ticks ago (one in fifty was lost). Not timed: `step`,
 * sealing, sending. The interest part is also timed alone, with each partition, with a check of every object, and with
 * ten thousand more objects in the same crowd.
 */

import { parseArgs } from 'node:util'
import { Prng } from '../packages/tickwire/src/core/base/prng.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { ClientInterest } from '../packages/tickwire/src/core/replication/interest/client-interest.ts'
import { Interest, type InterestOptions } from '../packages/tickwire/src/core/replication/interest/interest.ts'
import { Replicator } from '../packages/tickwire/src/core/replication/replicator.ts'
import { SnapshotSource } from '../packages/tickwire/src/core/replication/snapshot-source.ts'
import { entity } from '../packages/tickwire/src/core/schema/definition.ts'
import { angle, int, u8, vec2 } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { near, where } from '../packages/tickwire/src/core/schema/interest.ts'
import type { ObjectOf } from '../packages/tickwire/src/core/world/handle.ts'
import { Timeline } from '../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../packages/tickwire/src/core/world/world.ts'
import { allocatedBytes, median, type Bench, type BenchResult, type Table } from './harness.ts'

const TICK_RATE = 30
const PACKET_BYTES = 1200
const ACK_TICKS = 3
const LOSS_ONE_IN = 50
const DISTANCE = 100
/** The area per player: about fifty other players are in view. */
const GROUND_EACH = 560
const CROWD = 10_000
const HEAP_TICKS = 200

const shape = {
  at: vec2(-4096, 4096, 0.01).position(),
  speed: vec2(-16, 16, 0.01).velocity(),
  facing: angle(10),
  health: u8,
  ammo: int(0, 255).owner(),
} as const
const Player = entity(shape, { name: 'Player', interest: near(DISTANCE) })
/** The same with a predicate, which is called for every object. */
const Watched = entity(shape, {
  name: 'Watched',
  interest: where(
    (viewer, { at }) =>
      (at.x - viewer.x) * (at.x - viewer.x) + (at.y - viewer.y) * (at.y - viewer.y) <= DISTANCE * DISTANCE,
  ),
})
type Walker = ObjectOf<typeof Player>

export const bench: Bench = {
  name: 'interest',
  summary: 'ticks of a crowd in which each client sees its surroundings: 300 clients, 300 moving objects',
  options: [
    '--clients N     (default 300)',
    '--objects N     (default 300)',
    '--ticks N       timed (default 300)',
    '--seed N        (default 1)',
  ],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        clients: { type: 'string', default: '300' },
        objects: { type: 'string', default: '300' },
        ticks: { type: 'string', default: '300' },
        seed: { type: 'string', default: '1' },
      },
    })
    return run(Number(values.clients), Number(values.objects), Number(values.ticks), Number(values.seed))
  },
}

function run(clients: number, objects: number, ticks: number, seed: number): BenchResult {
  const match = new Match(clients, objects, seed)
  for (let tick = 0; tick < 120; tick++) match.tick()
  match.restart()
  for (let tick = 0; tick < ticks; tick++) match.tick()
  const { times, refreshTimes, bits, inView, packets } = match
  const sorted = times.toSorted((a, b) => a - b)
  const figures = [
    { name: 'interest_tick_p50_ms', value: median(sorted), unit: 'ms', against: null, atMost: 12 },
    { name: 'interest_tick_p99_ms', value: sorted[Math.floor(sorted.length * 0.99)]!, unit: 'ms', against: null },
    {
      name: 'interest_refresh_p50_ms',
      value: median(refreshTimes.toSorted((a, b) => a - b)),
      unit: 'ms',
      against: null,
    },
    {
      name: 'interest_heap_bytes_per_tick',
      value: allocatedBytes(
        () => {
          for (let tick = 0; tick < HEAP_TICKS; tick++) match.tick()
        },
        HEAP_TICKS,
        5,
      ),
      unit: 'B/tick',
      against: null,
      atMost: 256,
    },
  ]
  const size: Table = {
    title: `${clients} clients, ${objects} moving objects, near(${DISTANCE}), ${TICK_RATE} Hz`,
    columns: ['a tick', 'value'],
    rows: [
      ['objects in view, a client', inView / ticks / clients],
      ['bytes, a client', bits / 8 / ticks / clients],
      ['packets, a client', packets / ticks / clients],
      ['bits, an object in view', bits / inView],
      ['ms, fastest tick', sorted[0]!],
      ['ms, slowest tick', sorted.at(-1)!],
    ],
  }
  return { tables: [size, searchTable(clients, objects, seed)], figures }
}

/** Objects that move at random over an area of a given size. */
function wanderers(
  world: World,
  type: typeof Player,
  count: number,
  clients: number,
  side: number,
  dice: Prng,
): Walker[] {
  return Array.from({ length: count }, (_, at) =>
    world.spawn(
      type,
      {
        at: { x: dice.nextFloat() * side, y: dice.nextFloat() * side },
        speed: { x: dice.nextFloat() * 10 - 5, y: dice.nextFloat() * 10 - 5 },
        health: 100,
      },
      at < clients ? at + 1 : 0,
    ),
  )
}

function wander(walkers: readonly Walker[], side: number, dice: Prng): void {
  for (let index = 0; index < walkers.length; index++) {
    const walker = walkers[index]!
    walker.at.x += walker.speed.x / TICK_RATE
    walker.at.y += walker.speed.y / TICK_RATE
    walker.facing += 0.02
    if (walker.at.x < 0 || walker.at.x > side) walker.speed.x *= -1
    if (walker.at.y < 0 || walker.at.y > side) walker.speed.y *= -1
    if (dice.nextInt(0, 29) === 0) walker.speed.x = dice.nextInt(-5, 5)
    if (dice.nextInt(0, 29) === 0) walker.speed.y = dice.nextInt(-5, 5)
    if (dice.nextInt(0, 59) === 0) walker.ammo = (walker.ammo + 1) & 255
  }
}

/** A server and the simulated paths to its clients. */
class Match {
  readonly world = new World([Player])
  readonly times: number[] = []
  readonly refreshTimes: number[] = []
  bits = 0
  packets = 0
  inView = 0
  readonly #dice: Prng
  readonly #side: number
  readonly #walkers: readonly Walker[]
  readonly #timeline = new Timeline(this.world, TICK_RATE, TICK_RATE)
  readonly #interests: readonly ClientInterest[]
  readonly #sources: readonly SnapshotSource[]
  readonly #bytes = new Uint8Array(PACKET_BYTES)
  readonly #out = new BitWriter(this.#bytes)
  /**
   * The next sequence of each client. And, for each tick of the acknowledgements' delay and each client, the first
   * sequence of that tick.
   */
  readonly #next: Float64Array
  readonly #first: readonly Float64Array[]

  constructor(clients: number, objects: number, seed: number) {
    this.#dice = new Prng(seed)
    this.#side = Math.sqrt(GROUND_EACH * objects)
    this.#walkers = wanderers(this.world, Player, objects, clients, this.#side, this.#dice)
    const interest = new Interest(this.world, [Player])
    const replicator = new Replicator(this.world, this.#timeline)
    this.#interests = Array.from({ length: clients }, (_, at) => new ClientInterest(interest, at + 1))
    this.#sources = this.#interests.map((each) => new SnapshotSource(replicator, each, each.peer))
    this.#next = new Float64Array(clients)
    this.#first = Array.from({ length: ACK_TICKS + 1 }, () => new Float64Array(clients))
  }

  restart(): void {
    this.times.length = 0
    this.refreshTimes.length = 0
    this.bits = this.packets = this.inView = 0
  }

  tick(): void {
    const { world } = this
    world.beginTick()
    wander(this.#walkers, this.#side, this.#dice)
    world.endTick()
    const start = performance.now()
    this.#timeline.sample()
    const refreshStart = performance.now()
    for (let at = 0; at < this.#interests.length; at++) this.#interests[at]!.refresh(world.tick)
    const refreshEnd = performance.now()
    for (let at = 0; at < this.#sources.length; at++) this.#serve(at)
    this.times.push(performance.now() - start)
    this.refreshTimes.push(refreshEnd - refreshStart)
    for (let at = 0; at < this.#interests.length; at++) this.inView += this.#interests[at]!.count
  }

  /** Reports deliveries and losses to a client's source, and takes new packets from it. */
  #serve(client: number): void {
    const source = this.#sources[client]!
    const { tick } = this.world
    // A whole number: a fraction would be a new heap number for every call that it is passed to.
    const now = Math.round(tick * 1000 / TICK_RATE)
    const from = this.#first[(tick + 1) % (ACK_TICKS + 1)]![client]!
    const to = this.#first[(tick + 2) % (ACK_TICKS + 1)]![client]!
    for (let sequence = from; sequence < to; sequence++) {
      if ((sequence * 7 + client) % LOSS_ONE_IN === 0) source.onLost(now, sequence)
      else source.onDelivered(now, sequence)
    }
    this.#first[tick % (ACK_TICKS + 1)]![client] = this.#next[client]!
    source.begin()
    for (;;) {
      this.#out.reset(this.#bytes)
      if (!source.fill(now, this.#next[client]!, this.#out)) break
      this.#out.finish()
      this.#next[client]!++
      this.bits += this.#out.bitLength
      this.packets++
    }
  }
}

/** Interest alone. */
function searchTable(clients: number, objects: number, seed: number): Table {
  const timed = (
    name: string,
    type: typeof Player,
    count: number,
    options: InterestOptions,
    ticks: number,
  ): (string | number)[] => {
    const dice = new Prng(seed)
    const world = new World([type])
    // The density is that of the players alone, so as many objects are in view.
    const side = Math.sqrt(GROUND_EACH * count)
    const walkers = wanderers(world, type, count, clients, side, dice)
    const interest = new Interest(world, [type], options)
    const each = Array.from({ length: clients }, (_, at) => new ClientInterest(interest, at + 1))
    const times: number[] = []
    let inView = 0
    for (let tick = 1; tick <= ticks; tick++) {
      world.beginTick()
      wander(walkers, side, dice)
      world.endTick()
      const start = performance.now()
      for (const one of each) one.refresh(tick)
      times.push(performance.now() - start)
      inView = each.reduce((sum, { count: found }) => sum + found, 0)
    }
    const late = times.slice(ticks >> 2).sort((a, b) => a - b)
    return [name, count, inView / clients, median(late), late.at(-1)!]
  }
  return {
    title: `interest alone, ${clients} clients`,
    columns: ['by', 'objects', 'in view', 'ms, p50', 'ms, slowest'],
    rows: [
      timed('grid', Player, objects, {}, 200),
      timed('octree', Player, objects, { partition: 'octree' }, 200),
      timed('grid, half cells', Player, objects, { squareSize: DISTANCE / 2 }, 200),
      timed('checking every object', Watched, objects, {}, 60),
      timed('grid', Player, CROWD, {}, 40),
      timed('octree', Player, CROWD, { partition: 'octree' }, 40),
    ],
  }
}
