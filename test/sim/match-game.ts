/**
 * The game of a match, made for it: an avatar for each player, a warden that only the server has, and some kinds of
 * objects whose fields, visibility, writers and rates are drawn by chance.
 *
 * What `step` does to an object depends on the object, its owner's input and the tick alone, so that a client that
 * predicts it gets the same result. What depends on `secret`, which is 0 at clients, no client can predict.
 */

import { compileRows } from '../../packages/tickwire/src/node/compile-rows.ts'
import fc from 'fast-check'
import {
  always, angle, anyOf, bool, defineGame, entity, fixed, i32, int, message, near, owner, packed, rpc, team, text, u16,
  u32, u8, vec2, where, type Entity, type Game, type InterestRule, type PeerId, type Shape, type World,
} from 'tickwire'
import type { Inputs } from '../../packages/tickwire/src/core/game/define-game.ts'
import { explain } from '../../packages/tickwire/src/core/schema/explain.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { schemaWithValues, type SchemaSample } from '../reference/schema-arbitrary.ts'
import type { SightRule } from './crowd-sight.ts'
import type { Feature, Scenario } from './match-scenario.ts'

export const SIDE = 200
const REACH = 60

/** Numbered by their senders, one sequence of numbers for each delivery. */
export const SAID = {
  reliable: message({ number: u32, text: text(60) }, 'Word'),
  unordered: message({ number: u32, text: text(60) }, 'Note', { delivery: 'unordered' }),
  latest: message({ number: u32, text: text(60) }, 'Pose', { delivery: 'latest' }),
  unreliable: message({ number: u32, text: text(60) }, 'Puff', { delivery: 'unreliable' }),
} as const
export type Delivery = keyof typeof SAID
export const DELIVERIES: readonly Delivery[] = ['reliable', 'unordered', 'latest', 'unreliable']
const Flash = message({ power: u16 }, 'Flash')
/** About an object, by its owner. */
export const Poke = rpc({ plan: i32 }, { to: 'server', by: 'owner', name: 'Poke' })
/** Numbered; by any client. */
export const Ask = rpc({ number: u32 }, { to: 'server', reply: { number: u32 }, name: 'Ask' })
export const Boom = rpc({ power: u8 }, { to: 'all', delivery: 'unordered', name: 'Boom' })
export const Query = rpc({ number: u32 }, { to: 'peer', reply: { number: u32 }, name: 'Query' })

export const MATCH_INPUT = { right: bool, up: bool, fire: bool, kick: bool, aim: fixed(-1, 1, 0.01), call: text(6) }
export type MatchInput = typeof MATCH_INPUT

/** A kind of object beside avatars. */
interface Kind {
  readonly entity: Entity
  readonly rule: SightRule
  readonly hasPlace: boolean
  /** The values that are drawn from. */
  readonly samples: readonly Readonly<Record<string, unknown>>[]
  readonly isShared: boolean
  /** Players spawn these by firing. */
  readonly isShot: boolean
}

/** A game, with its kinds of objects and rules. */
export interface MatchGame {
  readonly game: Game<MatchInput>
  /** Called before every step, on either side. */
  onStep: ((world: World, inputs: Inputs<MatchInput>) => void) | undefined
  readonly avatar: Entity
  readonly kinds: readonly Kind[]
  /** Which peers may know what, by place in the game. */
  readonly rules: readonly SightRule[]
}

type Fields = Record<string, unknown>
/** An object as code without types sees it. */
type Loose = Fields & {
  readonly id: number
  readonly owner: PeerId
  side: number
  age: number
  lives: number
  at: { x: number; y: number }
}

const PIECES = 160
const SAMPLES = 4
/** A row must fit into a packet with its header, whatever is in it. */
const ROW_BITS_MAX = 4000

let drawn: readonly SchemaSample[] | undefined

/** Random definitions with values: one list for all matches, since drawing it takes a while. */
function pieces(): readonly SchemaSample[] {
  drawn ??= fc
    .sample(schemaWithValues(SAMPLES), { numRuns: PIECES, seed: 20 })
    .filter(({ schema }) => schema.laneCount < 60 && explain(schema).bitsMax < ROW_BITS_MAX)
  return drawn
}

/** Makes the game of a match. */
export function makeMatchGame(scenario: Scenario): MatchGame {
  const { tickRate } = scenario
  const dice = new Dice(scenario.seed ^ 0x9a3e)
  const has = (feature: Feature): boolean => scenario.features.includes(feature)
  const avatar = makeAvatar(has)
  const warden = entity({ rounds: u32 }, { name: 'Warden', interest: owner })
  const kinds = Array.from({ length: 1 + (dice.word() % 3) }, (_, at) => makeKind(dice, has, at, at === 0))
  if (has('shared')) kinds.push(makeKind(dice, has, kinds.length, false, true))
  const rules: readonly SightRule[] = [
    has('interest') ? { near: REACH } : { isAlways: true },
    {},
    ...kinds.map(({ rule }) => rule),
  ]
  const stepper = new Stepper(has, avatar, warden, kinds)
  const game = defineGame({
    tickRate, input: MATCH_INPUT, entities: [avatar, warden, ...kinds.map((kind) => kind.entity)],
    messages: [...Object.values(SAID), Flash], rpcs: [Poke, Ask, Boom, Query],
    predict: has('predictAll') ? 'all' : has('predictNone') ? 'none' : 'owned',
    ...(has('packed') && { codec: packed }),
    net: {
      snapshotRate: has('slowSnapshots') ? tickRate / (scenario.strideTicks ?? 2) : tickRate,
      heartbeatMs: Math.round(250 + 500 * dice.fraction()), timeoutMs: Math.round(2200 + 700 * dice.fraction()),
    },
    onJoin(world, peer) {
      if (world.count(warden) === 0) world.spawn(warden, {})
      const at = { x: SIDE * roll(world.tick, peer.id, 1), y: SIDE * roll(world.tick, peer.id, 2) }
      world.spawn(avatar, { at, secret: has('surprises') ? 1 + (peer.id % 60_000) : 0 } as never, peer)
    },
    onAuthorityRequest: (world, peer, object) => object.owner === 0 || roll(world.tick, object.id, peer.id) < 0.5,
    step(world, inputs) {
      made.onStep?.(world, inputs)
      stepper.step(world, (peer) => inputs.of(peer))
    },
  })
  // The bits are the same: half of all matches write them by code generated for their entities, as servers do.
  if (scenario.seed % 2 === 0) game.compile(compileRows)
  const made: MatchGame = { game, avatar, kinds, rules, onStep: undefined }
  return made
}

function makeAvatar(has: (feature: Feature) => boolean): Entity {
  return entity(
    {
      at: vec2(0, SIDE, 0.05).position(),
      heading: angle(10),
      health: has('rates') ? int(0, 100).initially(100).rate(8) : int(0, 100).initially(100),
      name: text(16),
      ammo: u8.owner(),
      purse: text(8).owner(),
      plan: i32.team(),
      secret: u16.server(),
      steps: u32.local(),
    },
    { name: 'Avatar', priority: 3, interest: has('interest') ? near(REACH) : always },
  ) as Entity
}

function makeKind(dice: Dice, has: (feature: Feature) => boolean, at: number, isShot: boolean, isShared = false): Kind {
  const list = pieces()
  const { schema, samples } = list[dice.word() % list.length]!
  const piece: Shape = has('schemas') ? schema.shape : { value: u16, note: text(10) }
  const values = has('schemas')
    ? samples
    : Array.from({ length: 4 }, () => ({ value: dice.word() % 65_536, note: `n${dice.word() % 97}` }))
  const choice = has('interest') ? dice.word() % 6 : 0
  const hasPlace = choice === 1 || choice === 2 || dice.chance(0.3)
  const ranged = has('rates') && dice.chance(0.5)
  const shape: Shape = {
    side: u8,
    age: u16,
    lives: u16,
    ...piece,
    ...(hasPlace && { at: vec2(0, SIDE, 0.1).position() }),
  }
  const [interest, rule] = interestOf(choice)
  return {
    entity: entity(shape, {
      name: `Kind${at}`,
      interest,
      priority: [0.5, 1, 1, 2, 10][dice.word() % 5]!,
      ...(ranged && { rate: 5 + (dice.word() % 10) }),
      ...(isShared && { authority: 'shared', onOwnerLeave: dice.chance(0.5) ? 'server' : 'despawn' }),
    }),
    rule, hasPlace, samples: values, isShared, isShot,
  }
}

/** A rule as the game declares it, and as `crowd-sight.ts` states it. */
function interestOf(choice: number): readonly [InterestRule, SightRule] {
  switch (choice) {
    case 1: return [near(REACH), { near: REACH }]
    case 2: return [anyOf(team, near(REACH / 2)), { isTeam: true, near: REACH / 2 }]
    case 3: return [team, { isTeam: true }]
    case 4: return [where((viewer, object) => viewer.team === object.side), { isGhost: true }]
    case 5: return [owner, {}]
    default: return [always, { isAlways: true }]
  }
}

/** The `step` of the game. */
class Stepper {
  readonly #has: (feature: Feature) => boolean
  readonly #avatar: Entity
  readonly #warden: Entity
  readonly #kinds: readonly Kind[]

  constructor(has: (feature: Feature) => boolean, avatar: Entity, warden: Entity, kinds: readonly Kind[]) {
    this.#has = has
    this.#avatar = avatar
    this.#warden = warden
    this.#kinds = kinds
  }

  step(world: World, held: (peer: PeerId) => Readonly<Record<string, unknown>>): void {
    for (const avatar of loose(world, this.#avatar)) this.#move(world, avatar, held(avatar.owner))
    for (const kind of this.#kinds) for (const object of loose(world, kind.entity)) this.#live(world, kind, object)
    for (const warden of loose(world, this.#warden)) this.#govern(world, warden)
  }

  #move(world: World, avatar: Loose, { right, up, fire, aim, call }: Readonly<Record<string, unknown>>): void {
    const { tick } = world
    const turn = Number(aim)
    avatar.steps = (Number(avatar.steps) + 1) >>> 0
    avatar.at.x = wrap(avatar.at.x + (right === true ? 1.2 : turn))
    avatar.at.y = wrap(avatar.at.y + (up === true ? 0.8 : -turn))
    avatar.heading = Number(avatar.heading) + turn / 8
    avatar.ammo = (Number(avatar.ammo) + (fire === true ? 250 : 1)) % 256
    if (call !== '' && avatar.purse !== call) avatar.purse = call
    if (fire === true && this.#has('spawns') && roll(tick, avatar.owner, 3) < 0.2)
      this.#spawn(world, this.#kinds[0]!, avatar.owner, tick)
    if (fire === true && this.#has('events') && roll(tick, avatar.owner, 4) < 0.2)
      world.emit(avatar, Flash, { power: tick % 60_000 })
    // Only the server knows `secret`: it is 0 everywhere else.
    if (avatar.secret === 0) return
    if (roll(tick, avatar.id, 5) < 0.02) avatar.health = (Number(avatar.health) + 93) % 101
    if (roll(tick, avatar.id, 6) < 0.01)
      avatar.at = { x: SIDE * roll(tick, avatar.id, 7), y: SIDE * roll(tick, avatar.id, 8) }
    if (roll(tick, avatar.id, 9) < 0.02) avatar.name = `a${avatar.id % 97} at ${tick}`
    if (roll(tick, avatar.id, 10) < 0.02) avatar.plan = tick * 37
  }

  /** An object changes now and then, by its age. */
  #live(world: World, { samples, hasPlace, isShot }: Kind, object: Loose): void {
    const key = object.owner + 977 * object.side
    // Objects rest now and then: which rows are sent depends on the ticks in which they moved.
    if (this.#has('stalls') && roll(world.tick, key, 27) < 0.3) return
    const age = object.age = (object.age + 1) % 65_536
    if (hasPlace && roll(age, key, 11) < 0.5) object.at = { x: wrap(object.at.x + 1.5), y: wrap(object.at.y + 1) }
    if (roll(age, key, 12) < 0.15) {
      const sample = samples[Math.floor(roll(age, key, 13) * samples.length)]!
      const names = Object.keys(sample)
      const name = names[Math.floor(roll(age, key, 14) * names.length)]!
      ;(object as Fields)[name] = sample[name]
    }
    if (isShot && object.owner !== 0 && age >= object.lives) world.despawn(object)
  }

  #spawn(world: World, kind: Kind, to: PeerId, salt: number): void {
    const { tick } = world
    const sample = kind.samples[Math.floor(roll(tick, salt, 15) * kind.samples.length)]!
    const names = Object.keys(sample).filter((_, at) => roll(tick, salt + at, 16) < 0.5)
    world.spawn(
      kind.entity,
      {
        side: Math.floor(roll(tick, salt, 17) * 3),
        lives: 5 + Math.floor(20 * roll(tick, salt, 18)),
        ...Object.fromEntries(names.map((name) => [name, sample[name]])),
        ...(kind.hasPlace && { at: { x: SIDE * roll(tick, salt, 19), y: SIDE * roll(tick, salt, 20) } }),
      } as never,
      to,
    )
  }

  /** The actions of the server in a tick, without players. */
  #govern(world: World, warden: Loose): void {
    const { tick } = world
    warden.rounds = (Number(warden.rounds) + 1) >>> 0
    const owners = loose(world, this.#avatar).map((avatar) => avatar.owner)
    const anyone = (salt: number): PeerId => owners[Math.floor(roll(tick, salt, 21) * owners.length)] ?? 0
    for (const [at, kind] of this.#kinds.entries()) {
      const objects = [...world.seen(kind.entity)] as readonly { readonly id: number }[]
      for (const { id } of objects) {
        if (this.#has('spawns') && roll(tick, id, 22) < 0.01) world.despawn({ id })
        else if (this.#has('owners') && roll(tick, id, 23) < 0.015)
          world.setOwner({ id }, roll(tick, id, 24) < 0.3 ? 0 : anyone(id))
      }
      const isWanted = objects.length < 3 || (this.#has('spawns') && objects.length < 10)
      if (isWanted && roll(tick, at, 25) < 0.15)
        this.#spawn(world, kind, roll(tick, at, 26) < 0.5 ? 0 : anyone(at), 1000 + at)
    }
  }
}

function loose(world: World, of: Entity): Loose[] {
  return [...world.each(of)] as unknown as Loose[]
}

/** A random fraction by tick, object and use: the same on every machine. */
export function roll(tick: number, key: number, salt: number): number {
  let word =
    Math.imul(tick ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(key + 1, 0xc2b2_ae35) ^ Math.imul(salt + 7, 0x27d4_eb2f)
  word = Math.imul(word ^ (word >>> 15), 0x2c1b_3c6d)
  word = Math.imul(word ^ (word >>> 13), 0x297a_2d39)
  return ((word ^ (word >>> 16)) >>> 0) / 0x1_0000_0000
}

/** The text of message `number` of a delivery. */
export function textOf(number: number): string {
  return `${'x'.repeat((number * 7) % 48)}${number}`
}

function wrap(value: number): number {
  return value < 0 ? value + SIDE : value > SIDE ? value - SIDE : value
}
