/**
 * The standard crowd: players that walk, stand, jump, look about and are hurt, at 60 ticks a second, as quantised
 * state.
 *
 *   x, y     1/512 m, ±256 m        18 bits      yaw      4096 steps a turn      12 bits
 *   z        1/512 m, 0..32 m       14 bits      pitch    2048 steps of ±90°     11 bits
 *   vx vy vz 1/64 m/s, ±32 m/s      12 bits      health   0..127                  7 bits
 *   flags    eight of them           8 bits      in all                         124 bits
 *
 * About seven in ten change in a tick: a player walks for some seconds in legs of up to a second and a half, then
 * stands for one or two. Seeded: the same crowd on every machine (to the last bit of its Math.sin).
 */

export const FIELDS = ['x', 'y', 'z', 'vx', 'vy', 'vz', 'yaw', 'pitch', 'health', 'flags'] as const
export const FIELD_COUNT: number = FIELDS.length
/** Least value of each field, and its bits. */
export const FIELD_MIN: readonly number[] = [-131_072, -131_072, 0, -2048, -2048, -2048, 0, 0, 0, 0]
export const FIELD_BITS: readonly number[] = [18, 18, 14, 12, 12, 12, 12, 11, 7, 8]

/** The state of all players at one tick: `FIELD_COUNT` whole numbers per player, one player after the other. */
export type Frame = Int32Array

/** `ticks` frames of a crowd of `players`. */
export function makeCrowd(players: number, ticks: number, seed = 1): Frame[] {
  const random = uniform(seed)
  const crowd = Array.from({ length: players }, () => newcomer(random))
  return Array.from({ length: ticks }, (_, tick) => {
    const frame = new Int32Array(players * FIELD_COUNT)
    crowd.forEach((player, index) => {
      move(player, tick, random)
      frame.set(quantised(player), index * FIELD_COUNT)
    })
    return frame
  })
}

interface Walker {
  x: number; y: number; z: number
  vx: number; vy: number; vz: number
  yaw: number; yawRate: number; pitch: number
  health: number; flags: number
  isIdle: boolean
  /** The tick until which the player walks or stands, and the tick until which it keeps its direction. */
  phaseEnds: number; legEnds: number
  course: number; pace: number
}

const STEP_S = 1 / 60
const ACCELERATION = 40
const GRAVITY = 20
const FIELD_M = 250

function newcomer(random: () => number): Walker {
  return {
    x: (random() - 0.5) * 300,
    y: (random() - 0.5) * 300,
    z: 0,
    vx: 0,
    vy: 0,
    vz: 0,
    yaw: random() * 4096,
    yawRate: 0,
    pitch: 1024,
    health: 100,
    flags: 0,
    isIdle: random() < 0.3,
    phaseEnds: Math.floor(random() * 180),
    legEnds: 0,
    course: 0,
    pace: 6,
  }
}

function move(player: Walker, tick: number, random: () => number): void {
  if (tick >= player.phaseEnds) {
    player.isIdle = !player.isIdle
    player.phaseEnds = tick + (player.isIdle ? 30 + Math.floor(random() * 120) : 60 + Math.floor(random() * 300))
    player.legEnds = tick
  }
  if (player.isIdle) stand(player, random)
  else walk(player, tick, random)
  if (player.z > 0 || player.vz > 0) player.vz -= GRAVITY * STEP_S
  player.z += player.vz * STEP_S
  if (player.z <= 0) player.z = player.vz = 0
  player.x = Math.max(-FIELD_M, Math.min(FIELD_M, player.x + player.vx * STEP_S))
  player.y = Math.max(-FIELD_M, Math.min(FIELD_M, player.y + player.vy * STEP_S))
}

function walk(player: Walker, tick: number, random: () => number): void {
  if (tick >= player.legEnds) {
    player.course = random() * 2 * Math.PI
    player.pace = random() < 0.7 ? 6 : 3
    player.legEnds = tick + 15 + Math.floor(random() * 75)
  }
  steer(player, Math.cos(player.course) * player.pace, Math.sin(player.course) * player.pace)
  if (player.z <= 0 && random() < 0.008) player.vz = 7
  player.yawRate = player.yawRate * 0.85 + gaussian(random) * 6
  player.yaw += player.yawRate
  player.pitch += gaussian(random) * 4 + (1024 - player.pitch) * 0.02
  const fate = random()
  if (fate < 0.01) player.health = Math.max(1, player.health - Math.floor(random() * 20))
  else if (fate < 0.02) player.health = Math.min(100, player.health + 5)
  if (random() < 0.02) player.flags ^= 1 << Math.floor(random() * 8)
}

function stand(player: Walker, random: () => number): void {
  steer(player, 0, 0)
  if (random() < 0.002) player.flags ^= 1
}

/** Changes the velocity towards the wanted velocity, at most by the acceleration of a player. */
function steer(player: Walker, vx: number, vy: number): void {
  const [dx, dy] = [vx - player.vx, vy - player.vy]
  const share = Math.min(1, (ACCELERATION * STEP_S) / Math.max(1e-9, Math.hypot(dx, dy)))
  player.vx += dx * share
  player.vy += dy * share
}

function quantised({ x, y, z, vx, vy, vz, yaw, pitch, health, flags }: Walker): number[] {
  const turn = ((Math.round(yaw) % 4096) + 4096) % 4096
  const tilt = Math.max(0, Math.min(2047, Math.round(pitch)))
  return [
    ...[x, y, z].map((metres) => Math.round(metres * 512)),
    ...[vx, vy, vz].map((speed) => Math.round(speed * 64)),
    turn,
    tilt,
    health,
    flags,
  ]
}

/** Approximately normal: mean 0, deviation 1. */
function gaussian(random: () => number): number {
  return (random() + random() + random() + random() - 2) * Math.sqrt(3)
}

function uniform(seed: number): () => number {
  let state = Math.imul(seed, 0x9e37_79b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
