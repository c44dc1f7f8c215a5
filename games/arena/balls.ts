/**
 * Balls to kick. Each is simulated by its owner: the player that last came near it, or the server.
 *
 * A player that owns a ball moves it without delay, whatever the latency. All others see it as its owner moves it.
 */

import type { ObjectOf, PeerId, Vec3, World } from 'tickwire'
import { BODY_HALF, BODY_HEIGHT, moveBall } from './collision.ts'
import { Ball, BALL_AUTHORITY, Fighter, Match, type Rocket } from './definitions.ts'
import { GRAVITY } from './level.ts'

export const BALL_RADIUS = 0.75
export const BLAST_RADIUS = 3.75
export const BLAST_PUSH = 15
const BOUNCE = 0.55
const ROLL_LOSS = 0.5
/** A player this near may own the ball. */
const NEAR = 3.5
const KICK = 1.15

export function rollBalls(world: World, seconds: number): void {
  for (const ball of world.each(Ball)) {
    const { at, speed } = ball
    speed.y -= GRAVITY * seconds
    for (const fighter of world.seen(Fighter)) kick(ball, fighter)
    at.x += speed.x * seconds
    at.y += speed.y * seconds
    at.z += speed.z * seconds
    const loss = moveBall(ball, BALL_RADIUS, BOUNCE) ? 1 - ROLL_LOSS * seconds : 1
    speed.x = settle(speed.x * loss)
    speed.z = settle(speed.z * loss)
  }
}

/** A slow ball stops: a ball at rest costs no bandwidth. */
function settle(speed: number): number {
  return Math.abs(speed) < 0.09 ? 0 : speed
}

/** A body that touches a ball pushes it, with slightly more than its own speed. */
function kick(
  ball: ObjectOf<typeof Ball>,
  fighter: {
    readonly at: Readonly<Record<'x' | 'y' | 'z', number>>
    readonly speed: Readonly<Record<'x' | 'y' | 'z', number>>
  },
): void {
  const { at, speed } = ball
  if (at.y + BALL_RADIUS < fighter.at.y || at.y - BALL_RADIUS > fighter.at.y + BODY_HEIGHT) return
  const x = at.x - fighter.at.x
  const z = at.z - fighter.at.z
  const distance = Math.sqrt(x * x + z * z)
  const touching = BALL_RADIUS + BODY_HALF
  if (distance >= touching || distance === 0) return
  const [nx, nz] = [x / distance, z / distance]
  at.x += nx * (touching - distance)
  at.z += nz * (touching - distance)
  const into = (fighter.speed.x * KICK - speed.x) * nx + (fighter.speed.z * KICK - speed.z) * nz
  if (into <= 0) return
  speed.x += into * nx
  speed.z += into * nz
  speed.y = Math.min(speed.y + into * 0.25, 12)
}

/**
 * A rocket exploded. The owner of a ball pushes it. A ball that another player owns returns to the authority, which
 * owns it from the next tick on, and pushes it then: two peers that disagree about its position would be worse than a
 * tick's delay. The owner of the rocket pushes its own balls itself.
 */
export function blowBalls(
  world: World,
  rocket: ObjectOf<typeof Rocket>,
  at: Vec3,
  match: ObjectOf<typeof Match> | undefined,
): void {
  if (match === undefined) return pushBalls(world, at)
  for (const ball of world.seen(Ball)) {
    if (nearness(at, ball.at) <= 0) continue
    const isElsewhere = world.get(Ball, ball.id) === null
    if (isElsewhere && ball.owner === rocket.owner) continue
    if (isElsewhere) world.setOwner(ball, 0)
    match.blast = at
    match.blastAt = world.tick + 1
  }
}

/** Pushes the balls that the authority owns now. */
export function blowAway(world: World, match: ObjectOf<typeof Match>): void {
  if (match.blastAt === world.tick) pushBalls(world, match.blast)
}

function pushBalls(world: World, at: Readonly<Vec3>): void {
  for (const { at: place, speed } of world.each(Ball)) {
    const share = nearness(at, place)
    if (share <= 0) continue
    const [x, y, z] = [place.x - at.x, place.y + 0.5 - at.y, place.z - at.z]
    const push = BLAST_PUSH * share / Math.max(Math.sqrt(x * x + y * y + z * z), 0.125)
    speed.x += x * push
    speed.y += y * push
    speed.z += z * push
  }
}

/** 1 near the blast, 0 at 1.15 times its radius, and negative beyond. */
export function nearness(at: Readonly<Vec3>, to: Readonly<Vec3>): number {
  const [dx, dy, dz] = [to.x - at.x, to.y - at.y, to.z - at.z]
  return Math.min(1, 1.15 - Math.sqrt(dx * dx + dy * dy + dz * dz) / BLAST_RADIUS)
}

/** The authority's part: gives a ball to the player near it, and takes it back when no player is near. */
export function handOut(world: World): void {
  if (BALL_AUTHORITY === 'server' || !world.every(8)) return
  for (const ball of world.seen(Ball)) {
    const near = nearest(world, ball, ball.owner)
    if (near !== ball.owner) world.setOwner(ball, near)
  }
}

/**
 * The player that should own a ball: its owner if near, unless a nearer fighter comes earlier in the world; otherwise
 * the nearest fighter's owner. While the ball rolls and no fighter is near, its owner keeps it.
 */
function nearest(
  world: World,
  ball: {
    readonly at: Readonly<Record<'x' | 'y' | 'z', number>>
    readonly speed: Readonly<Record<'x' | 'y' | 'z', number>>
  },
  owner: PeerId,
): PeerId {
  let best: PeerId = 0
  let bestSquared = NEAR * NEAR
  for (const fighter of world.each(Fighter)) {
    const [x, y, z] = [fighter.at.x - ball.at.x, fighter.at.y - ball.at.y, fighter.at.z - ball.at.z]
    const squared = x * x + y * y + z * z
    if (squared > bestSquared) continue
    if (fighter.owner === owner) return owner
    best = fighter.owner
    bestSquared = squared
  }
  const isRolling = ball.speed.x !== 0 || ball.speed.z !== 0
  return best === 0 && isRolling && owner !== 0 && hasBody(world, owner) ? owner : best
}

function hasBody(world: World, owner: PeerId): boolean {
  for (const fighter of world.each(Fighter)) if (fighter.owner === owner) return true
  return false
}
