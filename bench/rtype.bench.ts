/**
 * The R-Type protocol beside the native one, for one match of 40 entities that all move: bytes a second to one client,
 * the bytes that a delta saves when 5 of 40 moved, and the time to make and encode the packets of a tick for one
 * client.
 */

import { simulate } from 'tickwire/testing'
import { defineGame, entity, fixed, u8 } from 'tickwire'
import { encodeRtype } from '../packages/tickwire/src/core/rtype/codec.ts'
import type { RtypePacket } from '../packages/tickwire/src/core/rtype/packet-table.ts'
import type { RtypePeer } from '../packages/tickwire/src/core/rtype-session/server-types.ts'
import { RtypeWorldStream, type RtypeEntity } from '../packages/tickwire/src/core/rtype-session/world-stream.ts'
import type { Bench, BenchResult } from './harness.ts'

const [ENTITIES, SECONDS, TICK_RATE] = [40, 20, 60]
const PEER: RtypePeer = { playerId: 1, clientId: 1, name: 'bench', address: 'bench' }

/** The position of an entity at a tick: circles of different sizes and speeds. */
function placeOf(index: number, tick: number): { x: number; y: number; vx: number; vy: number } {
  const [radius, pace] = [40 + index * 3, 0.6 + (index % 7) * 0.2]
  const turn = (tick / TICK_RATE) * pace + index
  const [x, y] = [480 + Math.cos(turn) * radius, 270 + Math.sin(turn) * radius]
  return { x, y, vx: -Math.sin(turn) * radius * pace, vy: Math.cos(turn) * radius * pace }
}

function entities(tick: number, moving: number): RtypeEntity[] {
  return Array.from({ length: ENTITIES }, (_, index) => {
    const { x, y, vx, vy } = placeOf(index, index < moving ? tick : 0)
    const [posX, posY, velX, velY] = [Math.round(x), Math.round(y), Math.round(vx), Math.round(vy)]
    return {
      id: index + 1, type: 2, variant: 0, isPlayable: false,
      components: [
        { component: 'TRANSFORM', posX, posY, rotation: 0, scale: 1000 },
        { component: 'VELOCITY', velX, velY, accelerationX: 0, accelerationY: 0 },
        { component: 'HEALTH', currentHealth: 100, maxHealth: 100, currentShield: 0, maxShield: 0 },
      ],
    }
  })
}

/** Bytes to one client, and CPU microseconds per tick. */
function runRtype(moving: number): { bytesPerSecond: number; microseconds: number; packets: RtypePacket[] } {
  const stream = new RtypeWorldStream({ tickRate: TICK_RATE })
  stream.add(PEER)
  const out = new Uint8Array(1200)
  const packets: RtypePacket[] = []
  const worlds = Array.from({ length: SECONDS * TICK_RATE }, (_, tick) => entities(tick, moving))
  let bytes = 0
  const before = process.cpuUsage().user
  worlds.forEach((world, tick) => {
    stream.tick((tick * 1000) / TICK_RATE, tick, world, (_, packet) => {
      bytes += encodeRtype(packet, tick, tick, out)
      packets.push(packet)
    })
  })
  const microseconds = (process.cpuUsage().user - before) / worlds.length
  return { bytesPerSecond: bytes / SECONDS, microseconds, packets }
}

/** Bytes per second of the same motion in the native protocol, to one client. */
function runNative(): number {
  const Thing = entity({
    x: fixed(0, 960, 1), y: fixed(0, 540, 1), vx: fixed(-400, 400, 1), vy: fixed(-400, 400, 1), health: u8,
  }, { name: 'Thing' })
  const game = defineGame({
    tickRate: TICK_RATE,
    input: {},
    entities: [Thing],
    net: { snapshotRate: TICK_RATE },
    onJoin: (world) => {
      for (let index = 0; index < ENTITIES; index++) world.spawn(Thing, { ...placeOf(index, 0), health: 100 })
    },
    step(world) {
      let index = 0
      for (const thing of world.each(Thing)) Object.assign(thing, placeOf(index++, world.tick))
    },
  })
  const sim = simulate(game, { seed: 1, clients: 1, link: { latencyMs: 20 } })
  sim.run(2000)
  const before = sim.host.counters().bytesSent
  sim.run(SECONDS * 1000)
  return (sim.host.counters().bytesSent - before) / SECONDS
}

export const bench: Bench = {
  name: 'rtype',
  summary: 'the R-Type wire beside the native one: bytes of 40 entities, deltas, time',
  options: [],
  run: async (): Promise<BenchResult> => {
    const moving = runRtype(ENTITIES)
    const native = runNative()
    const delta = 22 + 5 * 12
    const saving = (1 - delta / (18 + ENTITIES * 12)) * 100
    const few = runRtype(5)
    const figures = [
      { name: 'bytes_per_s_40_entities', value: Math.round(moving.bytesPerSecond), unit: 'B/s', against: null },
      { name: 'native_bytes_per_s_40_entities', value: Math.round(native), unit: 'B/s', against: null },
      { name: 'bytes_per_s_5_of_40', value: Math.round(few.bytesPerSecond), unit: 'B/s', against: null },
      { name: 'delta_saving', value: Math.round(saving * 10) / 10, unit: '%', against: null },
      { name: 'encode_us_per_client_tick', value: Math.round(moving.microseconds), unit: 'µs', against: null },
    ]
    const rows = figures.map(({ name, value, unit }) => [name, value, unit])
    return { tables: [{ title: 'R-Type and native, 40 entities at 60 Hz', columns: ['', '', ''], rows }], figures }
  },
}
