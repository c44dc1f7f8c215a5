/** The code of docs/guide/large-worlds.md works as described. */

import { expect, test } from 'vitest'
import { simulate, type Simulation } from 'tickwire/testing'
import { animals, draw } from '../../docs/guide/examples/large-worlds/camera.ts'
import { Animal, CHUNK, Felled, makeWilds, Player, treesOf } from '../../docs/guide/examples/large-worlds/game.ts'
import { form } from '../form.ts'

type Wilds = Simulation<ReturnType<typeof makeWilds>['input']>

const make = (count: number): Wilds =>
  simulate(makeWilds(count), { seed: 3, clients: 2, link: { latencyMs: 50 }, onWarning: false })

/** The bytes that the server sends to the first client in some seconds. */
function bytesOf(sim: Wilds): number {
  const { host } = sim.players[0]!
  const { stats } = sim.host.connectionOf({ id: host.peer })!
  const before = stats.bytesSent
  sim.run(5000)
  return stats.bytesSent - before
}

test('[INT13] the guide: a client of a world of many objects receives what is near, and pays for no more', () => {
  const [small, large] = [make(400), make(form(5000, 20_000))]
  for (const sim of [small, large]) sim.run(3000)
  for (const sim of [small, large]) {
    const me = sim.own(0, Player)
    const distance = ({ at }: { at: { x: number; y: number } }): number => Math.hypot(at.x - me.at.x, at.y - me.at.y)
    const known = sim.client(0, Animal)
    expect(known.length).toBeGreaterThan(15)
    expect(Math.max(...known.map(distance))).toBeLessThan(225)
    expect(known.length).toBeGreaterThanOrEqual(sim.server(Animal).filter((one) => distance(one) < 190).length)
  }
  const ratio = bytesOf(large) / bytesOf(small)
  expect(ratio, 'bytes, large world against small').toBeGreaterThan(0.8)
  expect(ratio, 'bytes, large world against small').toBeLessThan(1.25)
}, 120_000)

test('[INT13] the guide: trees are computed, and felled ones are known where they are near', () => {
  expect(treesOf(-3, 7)).toEqual(treesOf(-3, 7))
  const places = treesOf(2, 5).map(({ x, y }) => [x / CHUNK, y / CHUNK] as const)
  expect(places.every(([x, y]) => x >= 2 && x < 3 && y >= 5 && y < 6)).toBe(true)
  expect(new Set(places.map(String)).size).toBe(40)
  const sim = make(100)
  sim.run(1000)
  sim.hold(0, { axe: true })
  sim.run(100)
  sim.hold(0, {})
  sim.run(500)
  expect(sim.client(1, Felled).map(({ trees }) => trees)).toEqual([[0]])
})

test('[INT13] the guide: drawn places are relative to the camera, and exact to a millimetre at 15 km', () => {
  const sim = make(100)
  sim.run(500)
  const me = sim.own(0, Player)
  const [near] = sim.server(Animal)
  for (const one of [me, near!]) Object.assign(one.at, { x: 15_000.01, y: -15_000.02 })
  near!.at.x += 7.25
  sim.run(2000)
  const { host } = sim.players[0]!
  const view = host.draw(sim.clock.now)
  draw(view, host.peer)
  const drawn = [...view.each(Animal)]
  expect(drawn).toHaveLength(1)
  const { place } = animals.of(drawn[0]!)!
  expect(place[0]).toBeCloseTo(drawn[0]!.at.x - sim.own(0, Player, 0).at.x, 3)
  expect(Math.abs(place[0]!)).toBeLessThan(12)
})
