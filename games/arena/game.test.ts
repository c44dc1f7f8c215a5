import { test } from 'vitest'
import { simulate } from 'tickwire/testing'
import { Fighter, Seat, Item } from './definitions.ts'
import { game } from './game.ts'
import { createBot } from './bots.ts'
import { Navigation } from './navigation.ts'

test('runs', () => {
  const nav = new Navigation()
  console.log(nav.spots.length, nav.spots.filter((s) => s.links.length === 0).length)
  const reach = (from: number) => { const seen = new Set([from]); const q = [from]; while (q.length) for (const l of nav.spots[q.pop()!]!.links) if (!seen.has(l.to)) { seen.add(l.to); q.push(l.to) } return seen }
  const from = reach(nav.nearest({ x: 21, y: 0, z: 10 }))
  console.log(from.size, nav.spots.filter((_, i) => !from.has(i)).slice(0, 20).map((s) => `${s.at.x},${s.at.y},${s.at.z}`))
  const sim = simulate(game, { seed: 7, clients: 1 })
  for (let i = 0; i < 6; i++) sim.host.addBot(createBot(i, 128))
  const seen = new Set<string>()
  let speeds = 0, n = 0, high = 0
  const t0 = Date.now()
  for (let s = 0; s < 60; s++) {
    sim.run(500)
    for (const f of sim.server(Fighter)) { speeds += Math.hypot(f.speed.x, f.speed.z); n++; if (f.at.y > 2) high++; seen.add(`${Math.round(f.at.x / 6)},${Math.round(f.at.z / 6)}`) }
  }
  console.log('cpu', Date.now() - t0, sim.server(Seat).map((s) => `${s.name} ${s.frags}/${s.deaths}`), speeds / n, high / n, seen.size, sim.server(Item).filter((i) => !i.isThere).length)
})
