/**
 * The game that a crowd plays: every kind of field, every rule of interest, rates, priorities, both kinds of authority,
 * and objects that spawn, despawn and change their owner all the time.
 *
 * Players move their fighters and shoot. A warden, which only the server has, does the rest at random, by numbers that
 * depend on tick and object alone.
 */

import {
  angle, anyOf, bool, bytes, defineGame, deltaStruct, entity, f32, f64, fixed, group, i16, i32, i64, int, list, message,
  near, oneOf, owner, quat, ref, rpc, struct, team, text, u16, u32, u8, vec2, vec3, where, type Entity, type Game,
  type ObjectOf, type PeerId, type SnapshotCodec, type World,
} from 'tickwire'

/** Side of the square that everything lives in, and the distance at which objects come into view. */
export const SIDE = 400
export const REACH = { fighter: 90, shot: 60, mine: 35, ball: 120 } as const
export const TEAMS = 4

export const Fighter = entity(
  {
    at: vec2(0, SIDE, 0.05).position(),
    heading: angle(10),
    turn: quat(10),
    pose: oneOf('idle', 'run', 'hurt'),
    health: int(0, 100).initially(100).rate(10),
    name: text(16),
    shield: group({ strength: u8, isUp: bool }),
    gear: deltaStruct({ wheels: bool, flaps: u8, dial: i16 }),
    target: ref(),
    score: i64,
    mood: f32,
    marks: list(u8, 6),
    ammo: u8.owner(),
    purse: struct({ gold: u16, note: text(8) }).owner(),
    plan: i32.team(),
    secret: u16.server(),
    steps: u32.local(),
  },
  { name: 'Fighter', interest: near(REACH.fighter), priority: 4 },
)
export const Shot = entity(
  { at: vec2(0, SIDE, 0.1).position(), way: angle(8), diesAt: u32 },
  { name: 'Shot', interest: near(REACH.shot), priority: 2 },
)
export const Crate = entity(
  { place: vec3(0, SIDE, 0.5), isOpen: bool, bornAt: u32, label: text(12), stuff: bytes(8) },
  { name: 'Crate', rate: 8 },
)
export const Beacon = entity(
  { at: vec2(0, SIDE, 1).position(), code: u16, plan: i32.team() },
  { name: 'Beacon', interest: team },
)
export const Purse = entity({ coins: i32, word: text(10) }, { name: 'Purse', interest: owner, priority: 0.5 })
export const Ghost = entity(
  { side: u8, heat: f64, place: vec2(0, SIDE, 1) },
  { name: 'Ghost', interest: where((viewer, ghost) => viewer.team === ghost.side) },
)
export const Mine = entity(
  { at: vec2(0, SIDE, 0.5).position(), isArmed: bool, fuse: u16.owner(), plan: u8.team() },
  { name: 'Mine', interest: anyOf(team, near(REACH.mine)) },
)
export const Ball = entity(
  { at: vec2(0, SIDE, 0.1).position(), spin: i16, touches: u16, grip: u8.owner(), seal: u16.server() },
  {
    name: 'Ball',
    interest: near(REACH.ball),
    authority: 'shared',
  },
)
/** Despawned when its owner leaves. */
export const Kite = entity(
  { x: fixed(0, SIDE, 0.5), tail: text(6) },
  { name: 'Kite', authority: 'shared', onOwnerLeave: 'despawn', rate: 15 },
)
/** Only the server has one. */
const Warden = entity({ rounds: u32 }, { name: 'Warden', interest: owner })

/** Their places in the list of entities of the game. */
export const ENTITIES: readonly Entity[] = [Fighter, Shot, Crate, Beacon, Purse, Ghost, Mine, Ball, Kite, Warden]

/** Numbered by its sender. */
export const Word = message({ number: u32, text: text(40) }, 'Word')
export const Flash = message({ power: u8 }, 'Flash', { delivery: 'unreliable' })
export const Poke = rpc({ plan: i32 }, { to: 'server', by: 'owner', name: 'Poke' })
export const Boom = rpc({ power: u8 }, { to: 'all', delivery: 'unordered', name: 'Boom' })
export const Ask = rpc({ number: u32 }, { to: 'server', reply: { number: u32 }, name: 'Ask' })

const INPUT = { right: bool, up: bool, fire: bool, kick: bool, aim: fixed(-1, 1, 0.01), call: text(6) }
export type CrowdInput = typeof INPUT
export type CrowdGame = Game<CrowdInput>

/** The random parameters of the game itself. */
export interface CrowdRules {
  readonly tickRate: number
  readonly snapshotRate: number
  readonly codec: SnapshotCodec
}

export function makeCrowdGame({ tickRate, snapshotRate, codec }: CrowdRules): CrowdGame {
  return defineGame({
    tickRate, codec, input: INPUT, entities: ENTITIES, messages: [Word, Flash], rpcs: [Poke, Boom, Ask],
    net: { snapshotRate, heartbeatMs: 500, timeoutMs: 4000 },
    onJoin(world, peer) {
      if (world.count(Warden) === 0) world.spawn(Warden, {})
      const at = { x: SIDE * roll(world.tick, peer.id, 1), y: SIDE * roll(world.tick, peer.id, 2) }
      world.spawn(Fighter, { at, name: `f${peer.id}`, ammo: 50, secret: 1 + peer.id % 60_000 }, peer)
    },
    onAuthorityRequest: (world, peer, object) => object.owner === 0 || roll(world.tick, object.id, peer.id) < 0.5,
    step(world, inputs) {
      for (const fighter of world.each(Fighter)) moveFighter(world, fighter, inputs.of(fighter.owner))
      for (const shot of world.each(Shot)) moveShot(world, shot)
      for (const ball of world.each(Ball)) moveBall(world, ball, inputs.of(ball.owner).kick)
      for (const kite of world.each(Kite)) {
        kite.x = wrap(kite.x + 1)
        if (world.every(9, kite.id)) kite.tail = `t${world.tick % 40}`
      }
      for (const warden of world.each(Warden)) govern(world, warden)
    },
  })
}

interface Held {
  readonly right: boolean
  readonly up: boolean
  readonly fire: boolean
  readonly kick: boolean
  readonly aim: number
  readonly call: string
}

/** Runs on the server, and on each client for its own objects. Only what depends on `secret` differs. */
function moveFighter(world: World, fighter: ObjectOf<typeof Fighter>, { right, up, fire, aim, call }: Held): void {
  const { tick } = world
  fighter.steps = (fighter.steps + 1) >>> 0
  fighter.at.x = wrap(fighter.at.x + (right ? 1.2 : aim))
  fighter.at.y = wrap(fighter.at.y + (up ? 0.8 : -aim))
  fighter.heading += aim / 8
  fighter.mood = aim
  fighter.pose = right ? 'run' : 'idle'
  fighter.ammo = (fighter.ammo + (fire ? 250 : 1)) % 256
  if (fighter.gear.flaps !== (right ? 2 : 1)) fighter.gear.flaps = right ? 2 : 1
  if (up !== (fighter.shield !== null)) fighter.shield = up ? { strength: tick % 7, isUp: fire } : null
  if (call !== '' && fighter.purse.note !== call) fighter.purse.note = call
  if (fire && world.random.float(fighter) < 0.3) {
    world.spawn(
      Shot,
      { at: { x: fighter.at.x, y: fighter.at.y }, way: aim, diesAt: tick + 4 + Math.round(8 + 8 * aim) },
      fighter.owner,
    )
    world.emit(fighter, Flash, { power: tick % 200 })
  }
  // Only the server knows `secret`: it is 0 everywhere else.
  if (fighter.secret === 0) return
  if (roll(tick, fighter.id, 3) < 0.02) fighter.health = (fighter.health + 93) % 101
  if (roll(tick, fighter.id, 4) < 0.01)
    fighter.at = { x: SIDE * roll(tick, fighter.id, 5), y: SIDE * roll(tick, fighter.id, 6) }
  if (roll(tick, fighter.id, 7) < 0.02) vary(world, fighter)
}

/** Everything of a fighter that seldom changes. */
function vary(world: World, fighter: ObjectOf<typeof Fighter>): void {
  const { tick } = world
  const choice = tick % 7
  if (choice === 0) fighter.name = `f${fighter.id % 97} at ${tick}`
  else if (choice === 1) fighter.marks = Array.from({ length: tick % 6 }, (_, at) => (tick + at) % 256)
  else if (choice === 2) fighter.score += BigInt(tick) * 1_000_003n
  else if (choice === 3) fighter.turn = { x: 0, y: roll(tick, fighter.id, 8), z: 0, w: 1 }
  else if (choice === 4) fighter.gear.dial = tick % 1000
  else if (choice === 5) fighter.plan = tick * 37
  else fighter.target = [...world.each(Crate)][tick % 5]?.id ?? null
  fighter.purse.gold = tick % 65_536
  fighter.secret = 1 + tick % 60_000
}

function moveShot(world: World, shot: ObjectOf<typeof Shot>): void {
  shot.at.x = wrap(shot.at.x + 3)
  shot.at.y = wrap(shot.at.y + 2 * shot.way)
  if (world.tick >= shot.diesAt) world.despawn(shot)
}

function moveBall(world: World, ball: ObjectOf<typeof Ball>, isKicked: boolean): void {
  if (isKicked) ball.touches = (ball.touches + 1) % 65_536
  ball.at.x = wrap(ball.at.x + (isKicked ? 2 : 0.3))
  ball.spin = (ball.spin + 3) % 1000
  if (world.every(11, ball.id)) ball.grip = world.tick % 256
}

/** What the server does by itself in a tick. */
function govern(world: World, warden: ObjectOf<typeof Warden>): void {
  const { tick } = world
  const owners = [...world.each(Fighter)].map((fighter) => fighter.owner)
  warden.rounds++
  const anyone = (key: number): PeerId => owners[Math.floor(roll(tick, key, 9) * owners.length)] ?? 0
  governCrates(world)
  governHeld(world, anyone)
  governShared(world, anyone)
  for (const ghost of world.each(Ghost)) {
    ghost.heat = roll(tick, ghost.id, 10)
    if (roll(tick, ghost.id, 11) < 0.03) ghost.side = Math.floor(roll(tick, ghost.id, 12) * TEAMS)
    if (roll(tick, ghost.id, 13) < 0.01) world.despawn(ghost)
  }
  if (world.count(Ghost) < 8 && roll(tick, 1, 14) < 0.2)
    world.spawn(Ghost, { side: tick % TEAMS, place: { x: tick % SIDE, y: 3 } })
}

function governCrates(world: World): void {
  const { tick } = world
  for (const crate of world.each(Crate)) {
    if (tick - crate.bornAt > 60 * roll(crate.id, 1, 1)) world.despawn(crate)
    else if (roll(tick, crate.id, 2) < 0.1) crate.isOpen = !crate.isOpen
    else if (roll(tick, crate.id, 3) < 0.05) crate.label = `c${tick % 100}`
    else if (roll(tick, crate.id, 4) < 0.05) crate.stuff = new Uint8Array([tick % 256, crate.id % 256])
  }
  for (let spawns = 0; spawns < 2 && world.count(Crate) < 30; spawns++) {
    if (roll(tick, spawns, 5) < 0.5)
      world.spawn(Crate, { place: { x: tick % SIDE, y: spawns, z: 7 }, bornAt: tick, label: spawns === 0 ? 'new' : '' })
  }
}

/** Beacons, purses and mines: they have owners, and change them. */
function governHeld(world: World, anyone: (key: number) => PeerId): void {
  const { tick } = world
  for (const beacon of world.each(Beacon)) {
    if (roll(tick, beacon.id, 1) < 0.05) beacon.code = tick % 65_536
    if (roll(tick, beacon.id, 2) < 0.03) beacon.plan = -tick
    if (roll(tick, beacon.id, 3) < 0.02) world.despawn(beacon)
  }
  for (const purse of world.each(Purse)) {
    if (roll(tick, purse.id, 4) < 0.1) purse.coins += tick
    if (roll(tick, purse.id, 5) < 0.03) purse.word = `p${tick}`
    if (roll(tick, purse.id, 6) < 0.02) world.setOwner(purse, anyone(purse.id))
  }
  for (const mine of world.each(Mine)) {
    if (roll(tick, mine.id, 7) < 0.05) mine.isArmed = !mine.isArmed
    if (roll(tick, mine.id, 8) < 0.05) mine.fuse = tick % 1000
    if (roll(tick, mine.id, 9) < 0.05) mine.plan = tick % 256
    if (roll(tick, mine.id, 10) < 0.02) world.setOwner(mine, anyone(mine.id))
    if (roll(tick, mine.id, 11) < 0.02) world.despawn(mine)
  }
  const at = { x: SIDE * roll(tick, 2, 12), y: SIDE * roll(tick, 3, 12) }
  if (world.count(Beacon) < 10 && roll(tick, 4, 12) < 0.2) world.spawn(Beacon, { at, code: tick % 65_536 }, anyone(1))
  if (world.count(Purse) < 12 && roll(tick, 5, 12) < 0.2) world.spawn(Purse, { coins: tick }, anyone(2))
  if (world.count(Mine) < 16 && roll(tick, 6, 12) < 0.2) world.spawn(Mine, { at, fuse: 9 }, anyone(3))
}

function governShared(world: World, anyone: (key: number) => PeerId): void {
  const { tick } = world
  for (const { id } of world.seen(Ball)) {
    if (roll(tick, id, 1) < 0.01) world.setOwner({ id }, anyone(id))
    if (roll(tick, id, 2) < 0.004) world.despawn({ id })
  }
  for (const { id } of world.seen(Kite)) if (roll(tick, id, 3) < 0.01) world.despawn({ id })
  const at = { x: SIDE * roll(tick, 2, 4), y: SIDE * roll(tick, 3, 4) }
  if (world.count(Ball) < 8 && roll(tick, 4, 4) < 0.2)
    world.spawn(Ball, { at, seal: tick % 65_536 }, roll(tick, 5, 4) < 0.5 ? anyone(4) : 0)
  if (world.count(Kite) < 5 && roll(tick, 6, 4) < 0.1) world.spawn(Kite, { x: tick % SIDE }, anyone(5))
}

/** A random fraction by tick, object and use: the same on every machine. */
function roll(tick: number, key: number, salt: number): number {
  let word =
    Math.imul(tick ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(key + 1, 0xc2b2_ae35) ^ Math.imul(salt + 7, 0x27d4_eb2f)
  word = Math.imul(word ^ (word >>> 15), 0x2c1b_3c6d)
  word = Math.imul(word ^ (word >>> 13), 0x297a_2d39)
  return ((word ^ (word >>> 16)) >>> 0) / 0x1_0000_0000
}

function wrap(value: number): number {
  return value < 0 ? value + SIDE : value > SIDE ? value - SIDE : value
}
