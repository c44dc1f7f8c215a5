/**
 * The game of the bench: fighters that run, jump, look about and shoot rays and rockets, 128 times a second.
 *
 * Rays are cast in the past that their shooter saw; rockets are objects that live for a second. A client that joins
 * after all fighters has no body and is a spectator.
 */

import { cos, sin } from '../../packages/tickwire/src/core/base/math.ts'
import { defineGame, type Game } from '../../packages/tickwire/src/core/game/define-game.ts'
import { profiles } from '../../packages/tickwire/src/core/game/profiles.ts'
import { capsule } from '../../packages/tickwire/src/core/rewind/hitbox.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { angle, bool, int, u8, vec3 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { ObjectOf } from '../../packages/tickwire/src/core/world/handle.ts'
import type { World } from '../../packages/tickwire/src/core/world/world.ts'

export const TICK_RATE = 128
const SPEED = 8
const GRAVITY = 20
const ROCKET_SPEED = 25
const ROCKET_TICKS = 128
const RELOAD_TICKS = 16
const ROCKET_ONE_IN = 4
const FIELD_M = 60

export const Fighter = entity(
  {
    at: vec3(-128, 128, 1 / 256).position(),
    speed: vec3(-32, 32, 1 / 64).velocity(),
    yaw: angle(16),
    pitch: angle(12),
    health: u8,
    armor: u8,
    weapon: u8,
    flags: u8,
    ammo: int(0, 999).owner(),
    reload: u8.owner(),
  },
  { name: 'Fighter' },
)
export const Rocket = entity(
  { at: vec3(-128, 128, 1 / 256).position(), speed: vec3(-32, 32, 1 / 64).velocity(), fuel: u8.owner() },
  { name: 'Rocket' },
)

export const input = {
  ahead: int(-1, 1),
  side: int(-1, 1),
  yaw: angle(16),
  pitch: angle(12),
  jump: bool,
  fire: bool,
} as const
type FighterObject = ObjectOf<typeof Fighter>

/** The first `fighters` clients have bodies. */
export function arenaGame(fighters: number): Game<typeof input> {
  let joined = 0
  return defineGame({
    ...profiles.arena,
    input,
    entities: [Fighter, Rocket],
    hitboxes: [[Fighter, [capsule(0.9, 0.4)]]],
    onJoin(world, peer) {
      if (joined++ >= fighters) return
      world.spawn(
        Fighter,
        { at: { x: joined * 4 - 50, y: 0, z: (joined % 7) * 6 - 20 }, health: 100, armor: 50, ammo: 500 },
        peer,
      )
    },
    step(world, inputs) {
      for (const fighter of world.each(Fighter)) {
        const held = inputs.of(fighter.owner)
        fighter.yaw = held.yaw
        fighter.pitch = held.pitch
        run(fighter, held.ahead, held.side, held.jump)
        if (fighter.reload > 0) fighter.reload--
        else if (held.fire) shoot(world, fighter)
      }
      for (const rocket of world.each(Rocket)) {
        rocket.at.x += rocket.speed.x / TICK_RATE
        rocket.at.z += rocket.speed.z / TICK_RATE
        if (rocket.fuel === 0) world.despawn(rocket)
        else rocket.fuel--
      }
    },
  })
}

/**
 * Directions by yaw. Numbers from a table allocate nothing; the heap is measured here to see what the engine allocates.
 */
const DIRECTIONS = 1024
const COSINES = Float64Array.from({ length: DIRECTIONS }, (_, at) => cos(at * 2 * Math.PI / DIRECTIONS))

function run(fighter: FighterObject, ahead: number, side: number, jump: boolean): void {
  const { at, speed } = fighter
  const turn = Math.floor(fighter.yaw * (DIRECTIONS / (2 * Math.PI)))
  const c = COSINES[turn & DIRECTIONS - 1]!
  const s = COSINES[turn - DIRECTIONS / 4 & DIRECTIONS - 1]!
  speed.x += ((ahead * c - side * s) * SPEED - speed.x) * 0.1
  speed.z += ((ahead * s + side * c) * SPEED - speed.z) * 0.1
  if (jump && at.y <= 0) speed.y = 7
  else if (at.y > 0) speed.y -= GRAVITY / TICK_RATE
  at.x = Math.max(-FIELD_M, Math.min(FIELD_M, at.x + speed.x / TICK_RATE))
  at.z = Math.max(-FIELD_M, Math.min(FIELD_M, at.z + speed.z / TICK_RATE))
  at.y += speed.y / TICK_RATE
  if (at.y < 0) at.y = speed.y = 0
}

/** Reused, so that the game itself allocates nothing. */
const direction = { x: 0, y: 0, z: 0 }

function shoot(world: World, fighter: FighterObject): void {
  fighter.reload = RELOAD_TICKS
  fighter.ammo = fighter.ammo === 0 ? 500 : fighter.ammo - 1
  direction.x = cos(fighter.yaw)
  direction.z = sin(fighter.yaw)
  if (fighter.ammo % ROCKET_ONE_IN === 0) {
    const speed = { x: direction.x * ROCKET_SPEED, y: 0, z: direction.z * ROCKET_SPEED }
    world.spawn(
      Rocket,
      { at: { x: fighter.at.x, y: fighter.at.y, z: fighter.at.z }, speed, fuel: ROCKET_TICKS - 1 },
      fighter.owner,
    )
    return
  }
  const hit = world.rewind(fighter.owner, (past) =>
    past.cast({ from: fighter.at, direction, reach: 100, ignore: fighter.owner }),
  )
  const target = hit === null ? null : world.get(Fighter, hit.id)
  if (target !== null) target.health = target.health > 10 ? target.health - 10 : 100
}
