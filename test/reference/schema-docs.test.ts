import { readFileSync } from 'node:fs'
import { World } from 'tickwire'
import { expect, test } from 'vitest'
import {
  chase, costs, Miner, Missile, Player, report, Seeds, Soldier, Speaker,
} from '../../docs/guide/examples/schema.ts'
import { explain } from '../../packages/tickwire/src/core/schema/explain.ts'
import { lintSchema } from '../../packages/tickwire/src/core/schema/lint.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { SchemaEngine } from './schema-engine.ts'

const GUIDE = readFileSync(new URL('../../docs/guide/schema.md', import.meta.url), 'utf8')

test('[SCHEMA29] the table of costs in the guide agrees with `explain` for every field kind', () => {
  const table = Array.from(GUIDE.matchAll(/^\| `([^`]+)` \|[^|\n]*\| ([^|\n]+) \|$/gm), ([, code, bits]) => [
    code,
    bits,
  ])
  const notified = Object.entries(costs).map(([code, field]) => {
    const { bitsMin, bitsMax } = explain(compileSchema('T', { field })).costs[0]!
    return [code, bitsMin === bitsMax ? String(bitsMin) : `${bitsMin} to ${bitsMax}`]
  })
  expect(table).toEqual(notified)
})

test('[SCHEMA29] the guide shows every kind, except variants of one that it shows', () => {
  const kinds = new Set(Object.values(costs).map((field) => explain(compileSchema('T', { field })).costs[0]!.kind))
  expect([...kinds].sort()).toEqual([
    'angle',
    'bool',
    'bytes',
    'deltaStruct',
    'f32',
    'f64',
    'fixed',
    'fixedText',
    'group',
    'i16',
    'i32',
    'i32Word',
    'i64',
    'i64Word',
    'int',
    'list',
    'long',
    'oneOf',
    'quat',
    'ref',
    'struct',
    'text',
    'u16',
    'u32',
    'vec2',
    'vec3',
    'vec4',
  ])
})

test('[SCHEMA26] the report in the guide is what `explain` returns', () => {
  expect(report()).toEqual([
    'Player.at: 26 to 26 bits',
    'Player.hue: 8 to 8 bits',
    'Player.stance: 2 to 2 bits',
    'Player.alive: 0 to 0 bits',
    'nothing changed: 4 bits',
    'everything changed: 40 bits at most',
  ])
})

test('[SCHEMA20] the codecs of the guide read what they write and refuse a second encoding of silence', () => {
  const speaker = new SchemaEngine(Speaker.schema)
  for (const sound of [
    { name: 500, volume: 0.25 },
    { name: 3, volume: 0 },
    { name: 3, volume: 0.004 },
    { name: 4, volume: 1 },
  ]) {
    const [read] = [speaker.values(speaker.row({ sound }))['sound'] as typeof sound]
    expect(read!.name).toBe(sound.name)
    expect(read!.volume).toBeCloseTo(sound.volume < 0.005 ? 0 : sound.volume)
  }
  expect(speaker.readDelta('01' + '000000011' + '0', speaker.schema.initialRow)).toBeDefined()
  expect(speaker.readDelta('01' + '000000011' + '1' + '0000000', speaker.schema.initialRow)).toBeUndefined()
  const seeds = new SchemaEngine(Seeds.schema)
  expect(seeds.values(seeds.row({ three: [1, 2, 15] }))).toEqual({ three: [1, 2, 15] })
})

test('[SCHEMA14] the soldier of the guide sends each audience its own fields', () => {
  expect(Soldier.schema.masks.map(({ members }) => members.map(({ name }) => name).join())).toEqual([
    'at',
    'at,order',
    'at,order,ammo',
  ])
})

test('[SCHEMA21] the missile of the guide chases its target, and nothing when the target is gone', () => {
  const world = new World([Player, Missile])
  const prey = world.spawn(Player, { at: { x: 10, y: 5 } })
  const missile = world.spawn(Missile, { target: prey.id })
  chase(world)
  expect([missile.at.x, missile.at.y]).toEqual([1, 1])
  world.despawn(prey)
  world.endTick()
  chase(world)
  expect([missile.at.x, missile.at.y]).toEqual([1, 1])
})

test('[SCHEMA27] `lintSchema` reports the bag of the miner in the guide, and nothing else', () => {
  expect(lintSchema(Miner.schema).map((note) => note.split(':')[0])).toEqual(['Miner.bag'])
})
