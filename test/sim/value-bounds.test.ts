/**
 * Values that are too long for their fields, written wherever a game can write: none of them ends a match.
 */

import { expect, test } from 'vitest'
import { bytes, defineGame, entity, list, message, rpc, text, u8 } from 'tickwire'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { VALUE_HEAP_ENTRIES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { simulate } from '../../packages/tickwire/src/testing/simulate.ts'

const Hero = entity({ name: text(8), bag: list(u8, 3), badge: bytes(2) }, { name: 'Hero' })
const Rename = message({ name: text(8) }, 'Rename')
const Renamed = message({ name: text(8) }, 'Renamed')
const Ask = rpc({ question: text(4) }, { to: 'server', reply: { answer: text(4) }, name: 'Ask' })

test('[SCHEMA31] a name one byte too long is cut and counted; the match goes on for all', async () => {
  const received: string[] = []
  const game = defineGame({
    tickRate: 30,
    input: { wish: text(4) },
    entities: [Hero],
    messages: [Rename, Renamed],
    rpcs: [Ask],
    onJoin(world, peer) {
      world.spawn(Hero, { name: 'ninebytes', bag: [1, 2, 3, 4], badge: Uint8Array.of(1, 2, 3) }, peer)
    },
    step(world, inputs) {
      for (const hero of world.each(Hero)) {
        const { wish } = inputs.of(hero.owner)
        if (wish === '') continue
        hero.name = `${wish} and more`
        world.emit(hero, Renamed, { name: `${wish} and more` })
      }
    },
  })
  const sim = simulate(game, { seed: 3, clients: 2 })
  const [client, other] = sim.players.map(({ host }) => host)
  sim.host.on(Rename, ({ name }) => received.push(name))
  other!.onEvent(Renamed, ({ name }) => received.push(name))
  sim.host.handle(Ask, ({ question }) => ({ answer: `${question}!` }))
  expect(sim.server(Hero).map(({ name, bag, badge }) => [name, bag, [...badge]])[0]).toEqual([
    'ninebyte',
    [1, 2, 3],
    [1, 2],
  ])
  const before = sim.host.world.valueCounts.clipped
  expect(before).toBeGreaterThanOrEqual(6)
  expect(client!.send(Rename, { name: 'löööööng' })).toBe('queued')
  const reply = client!.request(Ask, { question: 'whatever' })
  sim.hold(0, { wish: 'żółw' })
  sim.run(1000)
  expect(sim.server(Hero)[0]!.name).toBe('żó and')
  expect(sim.client(1, Hero)[0]!.name).toBe('żó and')
  expect(received[0]).toBe('löööö'.slice(0, 4))
  expect(received).toContain('żó and')
  expect(await reply).toEqual({ isOk: true, values: { answer: 'what' } })
  expect(sim.host.world.valueCounts.clipped).toBeGreaterThan(before)
  expect(client!.valueCounts.clipped).toBeGreaterThan(2)
  expect(sim.host.peers.length).toBe(2)
})

test('[SCHEMA31] a world whose heap is full keeps the old value, and goes on', () => {
  const Note = entity({ a: text(9), b: text(9) }, { name: 'Note' })
  const world = new World([Note])
  const notes = Array.from({ length: VALUE_HEAP_ENTRIES_MAX / 2 }, (_, at) =>
    world.spawn(Note, { a: `a${at}`, b: `b${at}` }),
  )
  world.endTick()
  expect(world.heap.size).toBe(VALUE_HEAP_ENTRIES_MAX)
  notes[0]!.a = 'one more'
  const born = world.spawn(Note, { a: 'two', b: 'b7' })
  world.endTick()
  expect([notes[0]!.a, born.a, born.b, { ...world.valueCounts }]).toEqual(['a0', '', 'b7', { clipped: 0, refused: 2 }])
  for (let at = 0; at < 100; at++) world.despawn(notes[at]!)
  world.endTick()
  world.endTick()
  notes[100]!.a = 'one more'
  expect(notes[100]!.a).toBe('one more')
})
