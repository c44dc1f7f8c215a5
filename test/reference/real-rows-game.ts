/**
 * A game with every kind of field, for the test that compares the rows that a reader of docs/wire reads with those that
 * a real server logged. Fields change often and wildly, so that every way to write them is used.
 */

import {
  angle, bool, bytes, defineGame, deltaStruct, entity, entropy, f32, f32Any, f64, f64Any, fixed, fixedText, group, i16,
  i32, i32Word, i64, i64Word, i8, int, list, long, manual, math, oneOf, packed, quat, ref, struct, text, u16, u32, u8,
  vec2, vec3, vec4, type Entity, type Game, type ObjectOf, type Priors, type Shape, type World,
} from 'tickwire'
import { dice, turned } from './real-rows-dice.ts'
import { stir } from './real-rows-stir.ts'

/** A manual field: a count in 3 bits, then that many numbers of 5 bits. */
export const NIBBLES = {
  format: 'nibbles',
  create: (): readonly number[] => [],
  write: (writer: { writeBits(value: number, width: number): void }, value: readonly number[]): void => {
    writer.writeBits(value.length, 3)
    for (const each of value) writer.writeBits(each, 5)
  },
  read: (reader: { readBits(width: number): number }): readonly number[] =>
    Array.from({ length: reader.readBits(3) }, () => reader.readBits(5)),
}

/** Every kind of field there is, and every audience. */
export const Everything = entity(
  {
    flag: bool,
    level: int(-5, 1000).initially(7),
    tiny: u8,
    sign: i8,
    word: u16,
    short: i16,
    wide: u32,
    small: i32,
    big: i32Word,
    range: int(0, 4_000_000_000),
    huge: i64,
    hugeWord: i64Word,
    span: long(-5n, 10n ** 15n),
    single: f32,
    double: f64,
    singleAny: f32Any,
    doubleAny: f64Any,
    part: fixed(-3, 7, 0.05),
    bearing: angle(11),
    flat: vec2(-100, 100, 0.01),
    place: vec3(
      { min: -10, max: 10, precision: 0.1 },
      { min: 0, max: 5, precision: 0.001 },
      { min: -1, max: 1, precision: 0.25 },
    ),
    four: vec4(0, 1, 0.001),
    turn: quat(9),
    stance: oneOf('idle', 'run', 'jump'),
    name: text(40).initially('no name'),
    tag: fixedText(8),
    blob: bytes(24),
    kit: struct({ n: u8, ok: bool, q: quat(6), t: text(9), v: vec2(0, 9, 0.5) }),
    gear: deltaStruct({ a: u8, b: bool, c: fixed(0, 1, 0.01), d: text(5), e: struct({ f: i32, g: angle(8) }) }),
    shield: group({ hp: u8.initially(50), aim: quat(7), note: text(12), on: bool, drift: fixed(-4, 4, 0.01) }),
    items: list(struct({ k: u8, s: text(6) }), 4),
    target: ref(),
    own: manual(NIBBLES),
    slow: u16.rate(10),
    plan: vec2(0, 50, 0.1).team(),
    calm: u8.team(),
    ammo: u8.owner(),
    secret: text(20).owner(),
    heading: angle(9).owner(),
    memo: u16.local(),
    trap: u8.server(),
  },
  { name: 'Everything' },
)

/** Fields with rates: a position, an angle, a rotation. */
export const Flyer = entity(
  {
    at: vec3(-500, 500, 0.01).position(),
    speed: vec3(-60, 60, 0.01).velocity(),
    push: vec3(-20, 20, 0.1).acceleration(),
    yaw: angle(12),
    spin: fixed(-8, 8, 0.01).angularVelocity('yaw'),
    pose: quat(12),
    roll: vec3(-6, 6, 0.01).angularVelocity('pose'),
    hp: u8.initially(100),
  },
  { name: 'Flyer' },
)

/** Fields that move without a rate. */
export const Drifter = entity(
  {
    at: vec2(-200, 200, 0.01),
    pose: quat(10),
    face: angle(10),
    heat: f32,
    count: int(0, 5000),
    bound: u16,
    depth: f64,
  },
  { name: 'Drifter' },
)

/** Whole numbers with a rate. */
export const Slider = entity(
  { x: int(0, 100_000).position(), pace: int(-900, 900).velocity(), load: i16 },
  { name: 'Slider' },
)

/** Written by its owner. */
export const Crate = entity(
  { at: vec2(0, 100, 0.1).position(), pace: vec2(-9, 9, 0.1).velocity(), label: text(12).owner() },
  { name: 'Crate', authority: 'shared' },
)

export const ENTITIES: readonly Entity[] = [
  Everything,
  Flyer,
  Drifter,
  Slider,
  Crate,
] as readonly unknown[] as readonly Entity[]
/** Entities that have few items, and move. */
export const MOVERS: readonly Entity[] = [Flyer, Drifter, Slider] as readonly unknown[] as readonly Entity[]
export const TICK_RATE = 30

/** One way to play it. */
export interface RealMatch {
  readonly name: string
  readonly codec: 'packed' | 'entropy' | 'priors'
  /** Ticks from one snapshot to the next. */
  readonly stride: number
  /** Tables are sent while it runs. */
  readonly retrains?: boolean
  readonly transport?: 'websocket'
  /** A client made from docs/wire alone plays too. */
  readonly hasOwnClient?: boolean
}

export const MATCHES: readonly RealMatch[] = [
  { name: 'packed', codec: 'packed', stride: 1, hasOwnClient: true },
  { name: 'packed, every second tick', codec: 'packed', stride: 2 },
  { name: 'entropy', codec: 'entropy', stride: 1 },
  { name: 'entropy, every second tick, over a WebSocket', codec: 'entropy', stride: 2, transport: 'websocket' },
  { name: 'entropy, every third tick', codec: 'entropy', stride: 3, hasOwnClient: true },
  { name: 'trained tables in the fingerprint, every second tick', codec: 'priors', stride: 2 },
  { name: 'tables handed out', codec: 'entropy', stride: 1, retrains: true },
  { name: 'tables handed out, every third tick', codec: 'entropy', stride: 3, retrains: true },
]

/**
 * The game of a match. `onStepped` is called at the end of every step, and is given on the server only: objects spawn,
 * despawn and change owners there.
 */
export function makeGame(
  { codec, stride }: RealMatch,
  priors: Priors,
  onStepped?: (world: World) => void,
): Game<Shape> {
  return defineGame({
    tickRate: TICK_RATE, input: {}, entities: ENTITIES, net: { snapshotRate: TICK_RATE / stride },
    codec: codec === 'packed' ? packed : codec === 'priors' ? entropy(priors) : entropy(),
    onJoin: (world, peer) => {
      world.spawn(Everything, { ammo: peer.id }, peer.id)
      world.spawn(Flyer, { at: { x: peer.id * 10, y: 0, z: 0 } }, peer.id)
    },
    step: (world) => {
      if (onStepped !== undefined) populate(world)
      step(world)
      onStepped?.(world)
    },
  }) as Game<Shape>
}

/** A game of flyers, for training. */
export function makeFlyers(): Game<Shape> {
  return defineGame({
    tickRate: TICK_RATE, input: {}, entities: [Flyer], predict: 'none',
    step: (world) => {
      for (let count = world.count(Flyer); count < 6; count++)
        world.spawn(Flyer, { speed: { x: 5, y: 1, z: 0 }, roll: { x: 1, y: 0.5, z: -0.25 }, spin: 1 })
      for (const each of world.each(Flyer)) fly(world.tick, each)
    },
  }) as Game<Shape>
}

/** Objects spawn, despawn and change owners. */
function populate(world: World): void {
  for (const each of world.each(Flyer))
    if (each.owner === 0 && dice(world.tick, each.id, 10) % 60 === 0) world.despawn(each)
  for (const each of world.each(Drifter))
    if (dice(world.tick, each.id, 7) % 40 === 0) world.setOwner(each, each.owner === 0 ? 1 : 0)
  for (let count = world.count(Slider); count < 2; count++)
    world.spawn(Slider, { x: 1000 * count, pace: 50 - 40 * count })
  for (let count = world.count(Flyer); count < 3; count++)
    world.spawn(Flyer, { speed: { x: 5, y: 1, z: 0 }, roll: { x: 1, y: 0.5, z: -0.25 }, spin: 1 })
  for (let count = world.count(Drifter); count < 3; count++) world.spawn(Drifter, { heat: 20.5, count: 100 })
  if (world.count(Everything) < 2) world.spawn(Everything, {})
  if (world.count(Crate) === 0) world.spawn(Crate, { pace: { x: 1, y: 0.5 } })
}

function step(world: World): void {
  const { tick } = world
  for (const each of world.each(Everything)) stir(tick, each)
  for (const each of world.each(Flyer)) fly(tick, each)
  for (const each of world.each(Drifter)) drift(tick, each)
  for (const each of world.each(Slider)) slide(tick, each)
  for (const each of world.each(Crate)) {
    each.at.x = (each.at.x + each.pace.x / TICK_RATE) % 100
    if (dice(tick, each.id, 0) % 11 === 0) each.pace.x = (dice(tick, each.id, 1) % 180) / 10 - 9
  }
}

function slide(tick: number, each: ObjectOf<typeof Slider>): void {
  if (dice(tick, each.id, 0) % 9 === 0) each.pace = (dice(tick, each.id, 1) % 1801) - 900
  each.x = Math.min(100_000, Math.max(0, each.x + Math.round(each.pace / TICK_RATE)))
  if (dice(tick, each.id, 2) % 5 === 0) each.load += (dice(tick, each.id, 3) % 300) - 150
}

function fly(tick: number, each: ObjectOf<typeof Flyer>): void {
  const draw = (purpose: number): number => dice(tick, each.id, purpose)
  if (draw(0) % 10 === 0) each.push = { x: (draw(1) % 40) - 20, y: (draw(2) % 40) - 20, z: 0 }
  if (draw(3) % 14 === 0)
    each.roll = { x: (draw(4) % 1200) / 100 - 6, y: (draw(5) % 1200) / 100 - 6, z: (draw(6) % 1200) / 100 - 6 }
  if (draw(7) % 14 === 0) each.spin = (draw(8) % 1600) / 100 - 8
  for (const axis of ['x', 'y', 'z'] as const) {
    each.speed[axis] = Math.min(60, Math.max(-60, each.speed[axis] + each.push[axis] / TICK_RATE))
    each.at[axis] = Math.min(500, Math.max(-500, each.at[axis] + each.speed[axis] / TICK_RATE))
    each.pose = turned(each.pose, each.roll[axis] / TICK_RATE, axis)
  }
  each.yaw += each.spin / TICK_RATE
  if (draw(9) % 20 === 0) each.hp -= 1
}

function drift(tick: number, each: ObjectOf<typeof Drifter>): void {
  const draw = (purpose: number): number => dice(tick, each.id, purpose)
  const phase = tick / 20 + each.id
  each.at = { x: math.cos(phase) * 40 + 0.3 * (draw(0) % 3), y: draw(1) % 4 === 0 ? each.at.y : math.sin(phase) * 40 }
  each.pose =
    draw(2) % 25 === 0 ? turned(each.pose, 2.5, 'x') : turned(each.pose, 0.05, (['x', 'y', 'z'] as const)[each.id % 3]!)
  each.face += draw(3) % 6 === 0 ? 0.4 : 0.02
  each.heat = Math.fround(each.heat + math.sin(phase))
  if (draw(4) % 3 === 0) each.count = (each.count + 7) % 5000
  if (draw(5) % 6 === 0) each.bound = (each.bound + 60_000) % 65_536
  if (draw(6) % 4 === 0) each.depth += 0.5
}
