/**
 * A match in which most rows are sent in bulk: real connections, congestion, spawns and despawns, and players with
 * objects of their own.
 */

import { expect, test } from 'vitest'
import { form } from '../form.ts'
import { bool, defineGame, entity, fixed, u16, u8, vec2, type World } from 'tickwire'
import { simulate } from 'tickwire/testing'

const Drone = entity(
  { at: vec2(-500, 500, 0.05).position(), speed: vec2(-20, 20, 0.05).velocity(), hue: u8 },
  { name: 'Drone' },
)
const Pilot = entity({ x: fixed(0, 100, 0.1), ammo: u16.owner() }, { name: 'Pilot' })
const DRONES = 300
const CLIENTS = form(8, 16)

/**
 * Depends on the tick and the drone alone: drones fly, turn, and rest now and then, up to a tick from which all rest.
 */
function fly(world: World, restFrom: number): void {
  const { tick } = world
  if (tick >= restFrom) return
  let count = 0
  for (const drone of world.each(Drone)) {
    const turn = (drone.id >>> 16) * 37 + tick
    count++
    if (turn % 90 === 0) drone.speed.x = (turn % 17) - 8
    if (turn % 70 === 0) drone.speed.y = turn % 140 === 0 ? 0 : (turn % 13) - 6
    if (turn % 230 === 0) drone.speed.x = drone.speed.y = 0
    if (drone.speed.x === 0 && drone.speed.y === 0) continue
    drone.at.x += drone.speed.x / 30
    drone.at.y += drone.speed.y / 30
  }
  if (tick % 7 === 3)
    for (const drone of world.each(Drone)) if ((drone.id >>> 16) % 97 === tick % 97) world.despawn(drone)
  for (; count < DRONES && tick % 5 === 0; count++)
    world.spawn(Drone, {
      at: { x: count % 20, y: tick % 50 },
      speed: { x: (count % 9) - 4, y: (tick % 7) - 3 },
      hue: tick % 256,
    })
}

test(
  '[REPL2, REPL27] every client sees the world as it is, over real connections, with packets lost',
  { timeout: 120_000 },
  () => {
    const game = defineGame({
      tickRate: 30,
      input: { fire: bool },
      entities: [Drone, Pilot],
      onJoin: (world, peer) => world.spawn(Pilot, { x: 1, ammo: 30 }, peer),
      step: (world) => fly(world, 500),
    })
    const sim = simulate(game, {
      seed: 11,
      clients: CLIENTS,
      link: (client) => ({ latencyMs: 20 + 6 * client, jitterMs: 10, loss: 0.05 }),
    })
    const { replicator } = sim.host
    replicator.schedule.fix(true)
    sim.runUntil(() => sim.host.world.tick >= 520, 60_000)
    expect(sim.server(Drone).length).toBeGreaterThan(DRONES / 2)
    expect(replicator.blockDeltas.madeCount, 'blocks were sent in bulk').toBeGreaterThan(1000)
    expect(sim.difference()).toBe(undefined)
  },
)
