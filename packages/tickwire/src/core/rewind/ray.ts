/**
 * Where a ray first meets a shape: spheres, boxes, capsules, and boxes with rounded edges (for a ball that meets a
 * box).
 *
 * The ray starts at the given origin and follows a unit direction. Results are distances along it: 0 when it starts
 * inside, Infinity when it never meets the shape. Shapes are at the origin and aligned with the axes; for a turned
 * shape the caller turns the ray instead. A capsule is along y, between -half and +half, with caps beyond.
 *
 * Numbers are passed in one array, `RAY`, because a double passed to a function is allocated. Only exact operations are
 * used, so that a hit here is a hit on every engine.
 */

/** Origin, direction. */
export const RAY: Float64Array = new Float64Array(6)
const ray = RAY

/** The distance to a sphere around 0. @hot */
export function raySphere(radius: number): number {
  return meetBall(ray[0], ray[1], ray[2], radius)
}

/** The distance to a capsule along y, from -half to half, of this radius. @hot */
export function rayCapsule(half: number, radius: number): number {
  return meetCapsule(1, half, radius, 0, 0, 0)
}

/** The distance to a box of these half sizes. @hot */
export function rayBox(x: number, y: number, z: number): number {
  return meetBox(x, y, z)
}

/**
 * The distance of a ball of `radius` to a box: the box with rounded edges is three boxes, each grown along one axis,
 * and a capsule along each edge. @hot
 */
export function sweepBox(x: number, y: number, z: number, radius: number): number {
  let nearest = Math.min(meetBox(x + radius, y, z), meetBox(x, y + radius, z), meetBox(x, y, z + radius))
  // Most rays pass far away: tests a bounding box first.
  if (meetBox(x + radius, y + radius, z + radius) === Infinity) return nearest
  for (let signs = 0; signs < 4; signs++) {
    const u = (signs & 1) === 0 ? 1 : -1
    const v = (signs & 2) === 0 ? 1 : -1
    nearest = Math.min(
      nearest,
      meetCapsule(0, x, radius, 0, u * y, v * z),
      meetCapsule(1, y, radius, u * x, 0, v * z),
      meetCapsule(2, z, radius, u * x, v * y, 0),
    )
  }
  return nearest
}

/** The distance to a sphere around 0 from (x, y, z). */
function meetBall(x: number, y: number, z: number, radius: number): number {
  const c = x * x + y * y + z * z - radius * radius
  if (c <= 0) return 0
  const b = x * ray[3] + y * ray[4] + z * ray[5]
  if (b > 0) return Infinity
  const root = b * b - c
  return root < 0 ? Infinity : -b - Math.sqrt(root)
}

function meetBox(x: number, y: number, z: number): number {
  let enter = 0
  let leave = Infinity
  for (let axis = 0; axis < 3; axis++) {
    const half = axis === 0 ? x : axis === 1 ? y : z
    const origin = ray[axis]
    const along = ray[3 + axis]
    if (along === 0) {
      if (origin < -half || origin > half) return Infinity
      continue
    }
    const first = (-half - origin) / along
    const second = (half - origin) / along
    enter = Math.max(enter, Math.min(first, second))
    leave = Math.min(leave, Math.max(first, second))
  }
  return enter <= leave ? enter : Infinity
}

/** The distance to a capsule along an axis, around (x, y, z). */
function meetCapsule(axis: number, half: number, radius: number, x: number, y: number, z: number): number {
  const ox = ray[0] - x
  const oy = ray[1] - y
  const oz = ray[2] - z
  // u and v are across the axis, w is along it.
  const u = axis === 0 ? oy : ox
  const v = axis === 2 ? oy : oz
  const w = axis === 0 ? ox : axis === 1 ? oy : oz
  const du = axis === 0 ? ray[4] : ray[3]
  const dv = axis === 2 ? ray[4] : ray[5]
  const dw = ray[3 + axis]
  const across = du * du + dv * dv
  const c = u * u + v * v - radius * radius
  if (c <= 0 && w >= -half && w <= half) return 0
  const b = u * du + v * dv
  const root = b * b - across * c
  if (root < 0) return Infinity
  let nearest = Infinity
  if (across > 0) {
    const distance = (-b - Math.sqrt(root)) / across
    const height = w + distance * dw
    if (distance >= 0 && height >= -half && height <= half) return distance
  }
  nearest = Math.min(meetCap(axis, ox, oy, oz, half, radius), meetCap(axis, ox, oy, oz, -half, radius))
  return nearest
}

function meetCap(axis: number, x: number, y: number, z: number, at: number, radius: number): number {
  return meetBall(axis === 0 ? x - at : x, axis === 1 ? y - at : y, axis === 2 ? z - at : z, radius)
}
