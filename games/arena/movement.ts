/**
 * The movement of a fighter: ground acceleration and friction; a small acceleration in the air that adds to the speed
 * in other directions (so turning during jumps gains speed); air control while only forward is held; and jump pads.
 *
 * It is a function of position, speed and input: no other state is kept between ticks.
 */

import { math, type ObjectOf, type World } from 'tickwire'
import { isGrounded, moveBody, type Mover } from './collision.ts'
import { Launched, STICK, type Fighter } from './definitions.ts'
import { GRAVITY, PAD_RADIUS, PADS, type Pad } from './level.ts'

/** The part of an input that moves a body. */
export interface Held {
  readonly ahead: number
  readonly side: number
  readonly yaw: number
  readonly pitch: number
  readonly jump: boolean
}

const { sin, cos } = math

export const RUN_SPEED = 9
const JUMP_SPEED = 8
const FRICTION = 6
/** Friction treats slower bodies as this fast, so that they stop. */
const STOP_SPEED = 3
const GROUND_ACCELERATION = 11
const AIR_ACCELERATION = 1.6
/** Speed limit in the air while only sideways is held: it is low, but reached quickly. */
const STRAFE_SPEED = 1.1
const STRAFE_ACCELERATION = 60
const AIR_CONTROL = 5
const SPEED_MAX = 40

/** Moves a fighter by one tick. */
export function moveFighter(world: World, fighter: ObjectOf<typeof Fighter>, held: Held, seconds: number): void {
  fighter.yaw = held.yaw
  fighter.pitch = held.pitch
  const { speed } = fighter
  if (isGrounded(fighter)) {
    if (held.jump) {
      speed.y = JUMP_SPEED
      accelerateInAir(fighter, held, seconds)
    } else {
      slowDown(fighter, seconds)
      accelerate(fighter, held, GROUND_ACCELERATION, RUN_SPEED, seconds)
    }
  } else {
    speed.y -= GRAVITY * seconds
    accelerateInAir(fighter, held, seconds)
  }
  limit(fighter)
  moveBody(fighter, seconds)
  for (const pad of PADS) if (isOn(fighter, pad)) launch(world, fighter, pad)
}

/** Accelerates in the direction of the input, up to `speedMax` in that direction; other components are unchanged. */
function accelerate(mover: Mover, held: Held, acceleration: number, speedMax: number, seconds: number): void {
  const { speed } = mover
  const sine = sin(held.yaw)
  const cosine = cos(held.yaw)
  let x = cosine * held.side - sine * held.ahead
  let z = -sine * held.side - cosine * held.ahead
  const length = Math.sqrt(x * x + z * z)
  if (length === 0) return
  x /= length
  z /= length
  const wish = Math.min(length / STICK, 1) * speedMax
  const missing = wish - (speed.x * x + speed.z * z)
  if (missing <= 0) return
  const gain = Math.min(acceleration * wish * seconds, missing)
  speed.x += gain * x
  speed.z += gain * z
}

function accelerateInAir(mover: Mover, held: Held, seconds: number): void {
  if (held.ahead === 0 && held.side !== 0) accelerate(mover, held, STRAFE_ACCELERATION, STRAFE_SPEED, seconds)
  else accelerate(mover, held, AIR_ACCELERATION, RUN_SPEED, seconds)
  if (held.ahead > 0 && held.side === 0) steer(mover, held, seconds)
}

/** Turns the flight towards the view direction, without loss of speed. */
function steer({ speed }: Mover, { yaw }: Held, seconds: number): void {
  const pace = Math.sqrt(speed.x * speed.x + speed.z * speed.z)
  if (pace < 0.5) return
  const [lookX, lookZ] = [-sin(yaw), -cos(yaw)]
  const along = (speed.x * lookX + speed.z * lookZ) / pace
  if (along <= 0) return
  const pull = AIR_CONTROL * along * along * seconds * pace
  const x = speed.x + lookX * pull
  const z = speed.z + lookZ * pull
  const length = Math.sqrt(x * x + z * z)
  speed.x = x / length * pace
  speed.z = z / length * pace
}

function slowDown({ speed }: Mover, seconds: number): void {
  const pace = Math.sqrt(speed.x * speed.x + speed.z * speed.z)
  if (pace === 0) return
  const left = Math.max(pace - Math.max(pace, STOP_SPEED) * FRICTION * seconds, 0) / pace
  speed.x *= left
  speed.z *= left
}

function limit({ speed }: Mover): void {
  speed.y = Math.max(-SPEED_MAX, Math.min(speed.y, SPEED_MAX))
  const pace = Math.sqrt(speed.x * speed.x + speed.z * speed.z)
  if (pace <= SPEED_MAX) return
  speed.x *= SPEED_MAX / pace
  speed.z *= SPEED_MAX / pace
}

function isOn({ at, speed }: Mover, pad: Pad): boolean {
  const x = at.x - pad.at.x
  const z = at.z - pad.at.z
  return (
    speed.y <= 0.5 && at.y - pad.at.y < 0.25 && at.y >= pad.at.y - 0.0625 && x * x + z * z < PAD_RADIUS * PAD_RADIUS
  )
}

/** Throws a fighter so that it lands at the pad's target, from any position on the pad. */
function launch(world: World, fighter: ObjectOf<typeof Fighter>, { target }: Pad): void {
  const { at, speed } = fighter
  const apex = target.y - at.y + 1.75
  const up = Math.sqrt(2 * GRAVITY * apex)
  const seconds = up / GRAVITY + Math.sqrt(2 * 1.75 / GRAVITY)
  speed.x = (target.x - at.x) / seconds
  speed.y = up
  speed.z = (target.z - at.z) / seconds
  world.emit(fighter, Launched, { at })
}
