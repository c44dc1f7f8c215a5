/**
 * The cost of drawing on a client and of rewinding on a server: nanoseconds per object and draw, microseconds per
 * rewind.
 *
 * The object is that of the arena: position, velocity, yaw and pitch, a rotation where the row says so, and five fields
 * that are not interpolated. Everything moves, and every tick is received. The comparison is hand-written code for the
 * same fields: plain objects, two snapshots, lerp.
 */

import { Interpolator } from '../packages/tickwire/src/core/interpolate/interpolator.ts'
import { capsule, sphere } from '../packages/tickwire/src/core/rewind/hitbox.ts'
import { Rewinder } from '../packages/tickwire/src/core/rewind/rewinder.ts'
import { entity, type Entity } from '../packages/tickwire/src/core/schema/definition.ts'
import { angle, quat, u8, vec3 } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { Timeline } from '../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../packages/tickwire/src/core/world/world.ts'
import {
  allocatedBytes, interleave, type Bench, type BenchResult, type Contender, type Figure, type Timing,
} from './harness.ts'

const TICK_RATE = 128
const WINDOW = 64
const Fighter = entity(
  {
    at: vec3(-4096, 4096, 0.125).position(),
    speed: vec3(-512, 512, 0.125).velocity(),
    yaw: angle(16),
    pitch: angle(16),
    kind: u8,
    flags: u8,
    health: u8,
    armor: u8,
    weapon: u8,
  },
  { name: 'Fighter' },
)
const Body = entity(
  { at: vec3(-4096, 4096, 0.125).position(), turn: quat(), spin: vec3(-9, 9, 0.01).angularVelocity('turn') },
  { name: 'Body' },
)

/** A world with one sampled second, and a view that received the same second. */
interface Stage {
  readonly world: World
  readonly timeline: Timeline
  readonly interpolator: Interpolator
}

function stage(of: Entity, count: number): Stage {
  const world = new World([of])
  const timeline = new Timeline(world, WINDOW)
  const view = new World([of], { isReadOnly: true, sharing: world })
  const received = new Timeline(view, WINDOW)
  const interpolator = new Interpolator(view, received, { tickRate: TICK_RATE })
  const objects = Array.from({ length: count }, (_, at) =>
    world.spawn(of, { at: { x: (at % 90) * 40, y: 0, z: Math.floor(at / 90) * 40 } }, (at % 24) + 1),
  ) as unknown as { at: { x: number }; yaw?: number; turn?: unknown }[]
  for (let tick = 1; tick <= WINDOW; tick++) {
    world.beginTick()
    for (const object of objects) {
      object.at.x += 0.5
      if (object.yaw !== undefined) object.yaw += 0.01
      else object.turn = { x: 0, y: Math.sin(tick / 20), z: 0, w: Math.cos(tick / 20) }
    }
    world.endTick()
    timeline.sample()
    const [store] = world.stores
    for (const handle of store!.living()) {
      received.put(tick, 0, handle.id, handle.owner, store!.rows, store!.rowAt(handle))
      if (tick === 1) interpolator.enter(0, handle.id, 1)
    }
  }
  return { world, timeline, interpolator }
}

/** Draws a second and a half at 144 draws a second: between rows, then beyond the last. */
function drawing({ interpolator }: Stage, from: number, to: number, draws: number): () => void {
  let last = from
  return () => {
    // In a game the drawn moment never goes back. Here it does, and the search for rows starts again.
    last = from
    for (let draw = 0; draw < draws; draw++) {
      interpolator.smoother.begin(1 / 144)
      interpolator.draw(last)
      last += (to - from) / draws
    }
  }
}

const DRAWS = 40

function byHand(count: number): () => void {
  const make = (by: number): { x: number; y: number; z: number; yaw: number; pitch: number; health: number }[] =>
    Array.from({ length: count }, (_, at) => ({ x: at + by, y: by, z: at * 2, yaw: by, pitch: 0, health: 50 }))
  const [a, b, out] = [make(0), make(1), make(0)]
  return () => {
    for (let draw = 0; draw < DRAWS; draw++) {
      const t = draw / DRAWS
      for (let at = 0; at < count; at++) {
        const [from, to, into] = [a[at]!, b[at]!, out[at]!]
        into.x = from.x + (to.x - from.x) * t
        into.y = from.y + (to.y - from.y) * t
        into.z = from.z + (to.z - from.z) * t
        into.yaw = from.yaw + (((to.yaw - from.yaw + 3 * Math.PI) % (2 * Math.PI)) - Math.PI) * t
        into.pitch = from.pitch + (((to.pitch - from.pitch + 3 * Math.PI) % (2 * Math.PI)) - Math.PI) * t
        into.health = t >= 0.5 ? to.health : from.health
      }
    }
  }
}

const HITBOXES = [
  [Fighter, [capsule(0.6, 0.4), sphere(0.25, { name: 'head', offset: { x: 0, y: 1.2, z: 0 } })]],
] as const
const REWINDS = 200

function rewinding({ world, timeline }: Stage): { readonly run: () => void; readonly rewinder: Rewinder } {
  const rewinder = new Rewinder([Fighter], world, timeline, { tickRate: TICK_RATE, hitboxes: HITBOXES, perTick: 1e9 })
  const cast = { from: { x: -100, y: 0, z: 0 }, direction: { x: 1, y: 0, z: 0.001 }, ignore: 1 }
  const shoot = (past: { cast(of: typeof cast): unknown }): unknown => past.cast(cast)
  return {
    rewinder,
    run: () => {
      for (let at = 0; at < REWINDS; at++) rewinder.rewind(1, WINDOW - 2 - (at % 20) - 0.3, shoot)
    },
  }
}

function figure(name: string, value: number, unit: string, extra: Partial<Figure> = {}): Figure {
  return { name, value, unit, against: null, ...extra }
}

/** `npm run bench -- draw` */
export const bench: Bench = {
  name: 'draw',
  summary: 'drawing between rows, dead reckoning, and rewinding: time and heap',
  options: [],
  async run(): Promise<BenchResult> {
    const [fighters, bodies] = [stage(Fighter, 1000), stage(Body, 1000)]
    const crowds = [24, 1000].map((count) => ({ count, ...rewinding(stage(Fighter, count)) }))
    const contenders: Contender[] = [
      { name: 'between rows', ops: 1000 * DRAWS, run: drawing(fighters, WINDOW - 30, WINDOW - 2, DRAWS) },
      { name: 'between rows, rotations', ops: 1000 * DRAWS, run: drawing(bodies, WINDOW - 30, WINDOW - 2, DRAWS) },
      { name: 'reckoned ahead', ops: 1000 * DRAWS, run: drawing(stage(Fighter, 1000), WINDOW + 1, WINDOW + 20, DRAWS) },
      { name: 'by hand, six fields of plain objects', ops: 1000 * DRAWS, run: byHand(1000) },
      ...crowds.map(({ count, run }) => ({ name: `rewind and cast, ${count} objects`, ops: REWINDS, run })),
    ]
    const timings = interleave(contenders, 9, 4)
    const heapDraw = allocatedBytes(drawing(fighters, WINDOW - 30, WINDOW - 2, DRAWS), DRAWS)
    const heapRewind = allocatedBytes(crowds[0]!.run, REWINDS)
    const ns = (name: string): number => timings.find((timing: Timing) => timing.name === name)!.ns
    return {
      tables: [
        {
          title: 'A draw, a rewind',
          columns: ['what', 'ns', 'min', 'max'],
          rows: timings.map(({ name, ns: median, nsMin, nsMax }) => [name, median, nsMin, nsMax]),
        },
      ],
      figures: [
        figure('draw_ns_per_object', ns('between rows'), 'ns'),
        figure('draw_ratio_by_hand', ns('between rows') / ns('by hand, six fields of plain objects'), 'x', {
          against: 'a loop over plain objects',
        }),
        figure('draw_quat_ns_per_object', ns('between rows, rotations'), 'ns'),
        figure('reckon_ns_per_object', ns('reckoned ahead'), 'ns'),
        figure('rewind_us_24', ns('rewind and cast, 24 objects') / 1000, 'us'),
        figure('rewind_us_1000', ns('rewind and cast, 1000 objects') / 1000, 'us'),
        figure('heap_bytes_per_draw', heapDraw, 'B', { atMost: 64 }),
        figure('heap_bytes_per_rewind', heapRewind, 'B', { atMost: 128 }),
      ],
    }
  },
}
