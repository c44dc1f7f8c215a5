/**
 * The entity of an arena shooter as its designers specified it, field by field, on this engine. A row has at most 22
 * bytes, positions have a precision of an eighth of a unit, and a tick of sixteen players has a budget of bytes.
 */

import { expect, test } from 'vitest'
import { defineGame, entity, explain, fixed, angle, i8, math, profiles, struct, u16, u8 } from 'tickwire'
import { simulate } from 'tickwire/testing'

const place = fixed(-4096, 4095.875, 0.125)
const speed = fixed(-4096, 4095, 1)
/** Weapon and ammunition change together, and share one bit of the mask. */
const Arms = struct({ weapon: u8, ammo: u8 })
const Fighter = entity({
  x: place.position(), y: place.initially(0), z: place.initially(0),
  vx: speed.velocity('x'), vy: speed.initially(0), vz: speed.initially(0),
  yaw: angle(16), pitch: angle(16), flags: u8, health: u8.initially(100), armor: u8, arms: Arms,
}, { name: 'Fighter' })

const game = defineGame({
  ...profiles.arena,
  input: { forward: i8, side: i8, yaw: angle(16), pitch: angle(16), buttons: u16 },
  entities: [Fighter],
  onJoin: (world, peer) => world.spawn(Fighter, { x: peer.id * 64 }, peer),
  step(world, inputs) {
    for (const fighter of world.each(Fighter)) {
      const held = inputs.of(fighter.owner)
      fighter.yaw = held.yaw
      fighter.pitch = held.pitch
      fighter.vx = math.cos(held.yaw) * held.forward * 2
      fighter.vy = math.sin(held.yaw) * held.forward * 2
      fighter.x += fighter.vx / 128
      fighter.y += fighter.vy / 128
    }
  },
})

test('[FIGHTER1] a row has 12 mask bits, at most 22 bytes of fields, and an error of half a step', () => {
  expect(Fighter.schema.masks[0].width).toBe(12)
  const { bitsMax, maskBits } = explain(Fighter.schema)
  expect(bitsMax - maskBits).toBe(159)
  const sim = simulate(game, { clients: 1 })
  const [fighter] = sim.server(Fighter)
  fighter!.x = 1000.06
  sim.run(50)
  expect(Math.abs(fighter!.x - 1000.06)).toBeLessThanOrEqual(0.0625)
})

test('[FIGHTER2] sixteen players, twelve of them moving, cost under 149 bytes per tick and player', () => {
  const sim = simulate(game, { seed: 5, clients: 16, link: { latencyMs: 30, jitterMs: 3, loss: 0.01 } })
  for (let player = 0; player < 12; player++) {
    let turn = player / 2
    sim.players[player]!.host.sampleInput = () => ({ forward: 100, yaw: (turn += 0.01), pitch: math.sin(turn) * 0.3 })
  }
  sim.run(1000)
  sim.host.watch.resetBandwidth()
  const before = sim.host.world.tick
  sim.run(3000)
  const { bits, headBits } = sim.host.bandwidth()
  const bytes = (bits + headBits) / 8 / (sim.host.world.tick - before) / 16
  expect(bytes).toBeGreaterThan(40)
  expect(bytes).toBeLessThan(149)
})
