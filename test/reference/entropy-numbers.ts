/** Whole numbers and rotations of the entropy codec, from docs/wire/CODEC.md alone. Imports nothing from src. */

/** The number of bits of a size, at most `most`. */
export function bitsOf(value: number, most: number): number {
  return Math.min(most, value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value))) + 1)
}

/** The short way round. */
export function around(value: number, round: number): number {
  const rest = ((value % round) + round) % round
  return rest >= round / 2 ? rest - round : rest
}

/** The rank of a float among all floats, and back. */
export function ordered(lane: number): number {
  return lane < 0 ? -(2 ** 31) + (2 ** 31 - 1 - (lane + 2 ** 31)) : lane
}

export function unitOf(bits: number, [dropped, ...codes]: readonly number[]): number[] {
  const half = 2 ** (bits - 1) - 1
  const parts = codes.map((code) => code - half)
  const whole = 2 * half * half
  const rest = whole - parts[0]! * parts[0]! - parts[1]! * parts[1]! - parts[2]! * parts[2]!
  const unit = parts.map((part) => part * (Math.SQRT1_2 / half))
  unit.splice(dropped!, 0, Math.sqrt(rest > 0 ? rest / whole : 0))
  return unit
}

export function codesOf(bits: number, unit: readonly number[], dropped: number): number[] {
  const half = 2 ** (bits - 1) - 1
  const scale = unit[dropped]! < 0 ? -half * Math.SQRT2 : half * Math.SQRT2
  return unit
    .filter((_, axis) => axis !== dropped)
    .map((part) => half + Math.min(half, Math.max(-half, Math.round(part * scale))))
}

export function rotorOf(
  [ox, oy, oz, ow]: readonly number[],
  [bx, by, bz, bw]: readonly number[],
  times: number,
): number[] {
  const [o, b] = [{ x: ox!, y: oy!, z: oz!, w: ow! }, { x: bx!, y: by!, z: bz!, w: bw! }]
  const w = b.w * o.w + b.x * o.x + b.y * o.y + b.z * o.z
  const scale = w === 0 ? 0 : times / w
  return [
    (b.x * o.w - b.w * o.x + b.z * o.y - b.y * o.z) * scale,
    (b.y * o.w - b.w * o.y + b.x * o.z - b.z * o.x) * scale,
    (b.z * o.w - b.w * o.z + b.y * o.x - b.x * o.y) * scale,
  ]
}

export function turned([bx, by, bz, bw]: readonly number[], [rx, ry, rz]: readonly number[]): number[] {
  const [b, r] = [{ x: bx!, y: by!, z: bz!, w: bw! }, { x: rx!, y: ry!, z: rz! }]
  const length = Math.sqrt(1 + r.x * r.x + r.y * r.y + r.z * r.z)
  return [
    (b.x + r.x * b.w + r.y * b.z - r.z * b.y) / length,
    (b.y + r.y * b.w + r.z * b.x - r.x * b.z) / length,
    (b.z + r.z * b.w + r.x * b.y - r.y * b.x) / length,
    (b.w - r.x * b.x - r.y * b.y - r.z * b.z) / length,
  ]
}
