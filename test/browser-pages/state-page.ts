/**
 * A game of 1,000 ticks that uses everything a world has, hashed in every tick: fields of every kind, births, deaths,
 * owners, groups, texts, lists, references, exact functions, both generators, external state, and wrong branches that
 * are rolled back.
 *
 * It runs in Node and, bundled, in a browser; two engines agree if and only if the digests do.
 */

import {
  angle, bool, bytes, deltaStruct, entity, f32, f64, fixed, group, i32, i64, list, math, oneOf, quat, ref, struct,
  text, u16, u8, vec3, World, type ObjectOf,
} from 'tickwire'
import { flatHash, hashHex, HashStream, SaveSlots, StateHash, Timeline } from 'tickwire/engine'

const { atan2, cos, sin } = math

const Ship = entity(
  {
    position: vec3(-500, 500, 0.01),
    heading: angle(14),
    speed: f32,
    thrust: f64,
    rotation: quat(12),
    hp: u8.initially(100),
    score: i32,
    coins: i64,
    mode: oneOf('drift', 'chase', 'flee'),
    target: ref(),
    name: text(24),
    shield: group({ power: fixed(0, 1, 0.001), charges: u8 }),
    home: struct({ x: fixed(-500, 500, 0.5), y: fixed(-500, 500, 0.5) }),
    gun: deltaStruct({ heat: fixed(0, 100, 0.1), isJammed: bool, shots: u16 }),
    log: list(struct({ tick: u16, what: text(8) }), 4),
    seal: bytes(8),
  },
  { name: 'Ship' },
)
const Shell = entity(
  { position: vec3(-500, 500, 0.01), heading: angle(14), from: ref(), ticksLeft: u8 },
  { name: 'Shell' },
)

const TICKS = 1000
const SHIPS = 24

/** The game's state outside its entities: two counters. */
interface Tally {
  shots: number
  kills: number
}

/** Hashes of the last tick, and of all ticks together. */
export interface StateDigest {
  readonly tree: string
  readonly flat: string
  readonly all: string
}

/** Plays the game. */
export function stateDigest(): StateDigest {
  const tally: Tally = { shots: 0, kills: 0 }
  const world = new World([Ship, Shell], {
    seed: 20_261_115,
    external: {
      encode: () => new Uint8Array(Uint32Array.of(tally.shots, tally.kills).buffer),
      decode: (bytes) => {
        ;[tally.shots, tally.kills] = new Uint32Array(bytes.slice().buffer) as unknown as [number, number]
      },
      save: () => ({ ...tally }),
      load: (saved) => Object.assign(tally, saved),
      hash: () => (tally.shots * 65_536 + tally.kills) >>> 0,
    },
  })
  for (let count = 0; count < SHIPS; count++) spawnShip(world, count)
  world.endTick()
  const slots = new SaveSlots(world, 1)
  const timeline = new Timeline(world, 16)
  const hash = new StateHash(world)
  const all = new HashStream()
  const [flat, sum] = [new Uint32Array(2), new Uint32Array(2)]
  while (world.tick < TICKS) {
    if (world.tick % 37 === 5) {
      // A wrong branch: a guess is played, and taken back.
      slots.save(0)
      const { tick } = world
      for (let wrong = 0; wrong < 6; wrong++) playTick(world, timeline, tally, wrong + 1)
      slots.load(0)
      timeline.truncate(tick)
    }
    playTick(world, timeline, tally, 0)
    const [low, high] = hash.update()
    all.word(low!).word(high!)
  }
  flatHash(world, flat)
  all.finish(sum, 0)
  return { tree: hashHex(hash.value, 0), flat: hashHex(flat, 0), all: hashHex(sum, 0) }
}

function playTick(world: World, timeline: Timeline, tally: Tally, guess: number): void {
  world.beginTick()
  step(world, tally, guess)
  world.endTick()
  timeline.sample()
}

function spawnShip(world: World, number: number): void {
  const { random } = world
  world.spawn(
    Ship,
    {
      position: {
        x: random.float(world) * 900 - 450,
        y: random.float(world) * 900 - 450,
        z: random.gaussian(world) * 20,
      },
      heading: random.float(world) * 6,
      speed: 1 + random.float(world),
      name: `ship ${number} ⛵`,
      coins: BigInt(number) * 10n ** 15n,
    },
    number % 5,
  )
}

function step(world: World, tally: Tally, guess: number): void {
  const ships = [...world.each(Ship)]
  for (const ship of world.each(Ship)) {
    const { random } = world
    const prey = world.get(Ship, ship.target) ?? ships[random.int(ship, 0, ships.length - 1)]
    if (prey !== undefined && prey.id !== ship.id) {
      ship.target = prey.id
      ship.mode = random.float(ship) < 0.7 ? 'chase' : 'flee'
      ship.heading = atan2(prey.position.y - ship.position.y, prey.position.x - ship.position.x)
    }
    ship.thrust = ship.thrust * 0.9 + random.gaussian(ship) * 0.01 + guess * 1e-3
    ship.speed = Math.sqrt(Math.abs(ship.speed * ship.speed + ship.thrust))
    ship.position.x += cos(ship.heading) * ship.speed
    ship.position.y += sin(ship.heading) * ship.speed
    ship.rotation = { x: 0, y: 0, z: sin(ship.heading / 2), w: cos(ship.heading / 2) }
    useShield(world, ship)
    if (random.int(ship, 0, 15) === 0) shoot(world, ship, tally)
    if (ship.hp === 0) {
      tally.kills++
      world.despawn(ship)
    }
  }
  for (const shell of world.each(Shell)) stepShell(world, shell)
  while (world.count(Ship) < SHIPS) spawnShip(world, world.tick)
}

function useShield(world: World, ship: ObjectOf<typeof Ship>): void {
  const { shield } = ship
  if (shield === null) {
    if (world.prng.nextInt(0, 40) === 0) ship.shield = { power: world.prng.nextFloat(), charges: 3 }
    return
  }
  shield.power -= 0.013
  if (shield.power <= 0) {
    shield.power = 1
    shield.charges--
  }
  if (shield.charges === 0) ship.shield = null
}

function shoot(world: World, ship: ObjectOf<typeof Ship>, tally: Tally): void {
  tally.shots++
  ship.gun.shots++
  ship.gun.heat = Math.min(100, ship.gun.heat + 7.7)
  ship.gun.isJammed = ship.gun.heat > 90
  ship.log = [...ship.log.slice(-3), { tick: world.tick % 65_536, what: ship.mode }]
  ship.seal = new Uint8Array([world.prng.nextInt(0, 255), ship.hp])
  if (!ship.gun.isJammed)
    world.spawn(Shell, { position: ship.position, heading: ship.heading, from: ship.id, ticksLeft: 40 }, ship.owner)
}

function stepShell(world: World, shell: ObjectOf<typeof Shell>): void {
  shell.position.x += cos(shell.heading) * 9
  shell.position.y += sin(shell.heading) * 9
  shell.ticksLeft--
  const shooter = world.get(Ship, shell.from)
  const victim = shooter === null ? null : world.get(Ship, shooter.target)
  if (
    victim !== null
    && Math.abs(victim.position.x - shell.position.x) < 30
    && Math.abs(victim.position.y - shell.position.y) < 30
  ) {
    victim.hp = Math.max(0, victim.hp - (victim.shield === null ? 25 : 10))
    if (shooter !== null) {
      shooter.score += 10
      shooter.coins += 7n
      world.setOwner(victim, shooter.owner)
      victim.name = `${victim.name.slice(0, 8)} hit ${world.tick}`
    }
    shell.ticksLeft = 0
  }
  if (shell.ticksLeft === 0) world.despawn(shell)
}
