/**
 * The game of the bench: runners 0.8 m wide that take an eighth of a second to reach full speed, and a rifle.
 *
 * 60 ticks, 30 snapshots: the settings of most games. In a crowd runners push each other apart. A client uses the drawn
 * positions of other runners, so its result is a guess.
 */

import { cos, sin } from '../../packages/tickwire/src/core/base/math.ts'
import { defineGame, type Game } from '../../packages/tickwire/src/core/game/define-game.ts'
import type { NetSettings } from '../../packages/tickwire/src/core/game/settings.ts'
import { capsule } from '../../packages/tickwire/src/core/rewind/hitbox.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { angle, bool, int, vec3 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { ObjectId, Tick } from '../../packages/tickwire/src/core/base/time.ts'
import type { World } from '../../packages/tickwire/src/core/world/world.ts'

export const TICK_RATE = 60
export const TICK_MS: number = 1000 / TICK_RATE
export const WIDTH = 0.8
/** Metres a second: 2 m, two and a half widths, in a round trip of 250 ms. */
export const SPEED = 8
const ACCELERATION = 64
const LANE_M = 20

export const Runner = entity({
  at: vec3(-200, 200, 1 / 256).position(), speed: vec3(-16, 16, 1 / 256).velocity(), hits: int(0, 9999),
}, { name: 'Runner' })

export const input = { isRunning: bool, course: angle(16), aim: angle(16), fire: bool } as const
export type Input = typeof input

export interface Course {
  readonly game: Game<Input>
  /** The server's state after a tick. */
  truth(tick: Tick, id: ObjectId): { readonly x: number; readonly z: number } | undefined
}

export interface CourseOptions {
  readonly net?: Partial<NetSettings>
  /** Whether bodies push each other. */
  readonly isCrowded?: boolean
}

/** A game, and its events on the server. */
export function makeCourse({ net = {}, isCrowded = false }: CourseOptions = {}): Course {
  const truths = new Map<string, { x: number; z: number }>()
  const game = defineGame({
    tickRate: TICK_RATE,
    input,
    entities: [Runner],
    hitboxes: [[Runner, [capsule(0.6, WIDTH / 2)]]],
    net,
    // The first player stands and shoots. The other players run twenty metres in front of it.
    onJoin: (world, peer) =>
      world.spawn(
        Runner,
        {
          at: isCrowded
            ? { x: (peer.id % 4) * 2, y: 0, z: Math.floor(peer.id / 4) * 2 }
            : { x: peer.id === 1 ? 0 : LANE_M, y: 0, z: 0 },
        },
        peer,
      ),
    step(world, inputs) {
      for (const runner of world.each(Runner)) {
        const { isRunning, course, aim, fire } = inputs.of(runner.owner)
        const [wantedX, wantedZ] = isRunning ? [cos(course) * SPEED, sin(course) * SPEED] : [0, 0]
        runner.speed.x = towards(runner.speed.x, wantedX)
        runner.speed.z = towards(runner.speed.z, wantedZ)
        runner.at.x += runner.speed.x / TICK_RATE
        runner.at.z += runner.speed.z / TICK_RATE
        if (isCrowded) pushApart(world, runner)
        if (!fire) continue
        const direction = { x: cos(aim), y: 0, z: sin(aim) }
        if (
          world.rewind(runner.owner, (past) =>
            past.cast({ from: runner.at, direction, reach: 150, ignore: runner.owner }),
          ) !== null
        )
          runner.hits++
      }
      // On the authority, `seen` returns the true state.
      if (world.sight === undefined)
        for (const { id, at } of world.each(Runner)) truths.set(`${world.tick} ${id}`, { x: at.x, z: at.z })
    },
  })
  return { game, truth: (tick, id) => truths.get(`${tick} ${id}`) }
}

function towards(speed: number, wanted: number): number {
  const most = ACCELERATION / TICK_RATE
  return speed + Math.max(-most, Math.min(most, wanted - speed))
}

/** A runner that overlaps another moves away by half of the overlap; the other moves by the other half. */
function pushApart(world: World, runner: { readonly id: ObjectId; readonly at: { x: number; z: number } }): void {
  for (const other of world.sight === undefined ? world.each(Runner) : world.seen(Runner)) {
    if (other.id === runner.id) continue
    const [dx, dz] = [runner.at.x - other.at.x, runner.at.z - other.at.z]
    const distance = Math.sqrt(dx * dx + dz * dz)
    if (distance >= WIDTH || distance === 0) continue
    const share = (WIDTH - distance) / 2 / distance
    runner.at.x += dx * share
    runner.at.z += dz * share
  }
}
