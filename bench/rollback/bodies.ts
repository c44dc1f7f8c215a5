/** The state that is rolled back: ten numbers per body, and one step of it, the same for all peers. */

export const TICK_S: number = 1 / 60
type Name = 'x' | 'y' | 'z' | 'vx' | 'vy' | 'vz' | 'yaw' | 'pitch' | 'health' | 'flags'

export type Body = Record<Name, number>

/** The bodies at the start: numbers with all their digits, as in games, because JSON has to write all digits. */
export function start(count: number): Body[] {
  return Array.from({ length: count }, (_, at): Body => {
    const [one, other] = [(at * 0.618_033_988_749_895) % 1, (at * 0.754_877_666_246_693) % 1]
    return {
      x: one * 100 - 50,
      y: 0,
      z: other * 100 - 50,
      vx: other * 8 - 4,
      vy: 0,
      vz: one * 8 - 4,
      yaw: one * 6,
      pitch: other - 0.5,
      health: 100,
      flags: at & 255,
    }
  })
}

/** One step: moves, and turns back at the walls. `push` is added to the velocity. */
export function moved(body: Body, push: number, seconds: number): void {
  body.vx += push
  body.x += body.vx * seconds
  body.y += body.vy * seconds
  body.z += body.vz * seconds
  if (body.x > 100 || body.x < -100) body.vx = -body.vx
  if (body.z > 100 || body.z < -100) body.vz = -body.vz
  body.yaw += body.vx * seconds * 0.1
  body.health = body.health > 1 ? body.health - 1 : 100
}
