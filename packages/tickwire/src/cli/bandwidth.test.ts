import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Ship, Rock, game, plain, record, tickwire } from '../../../../test/reference/recorded-ships.ts'
import { entity } from '../core/schema/definition.ts'
import { bool, u8, vec2 } from '../core/schema/field-kinds.ts'
import { defineGame } from '../core/game/define-game.ts'
import { entropy, packed } from '../core/codec/snapshot-codec.ts'
import { Recorder } from '../core/replay/recorder.ts'
import { World } from '../core/world/world.ts'
import { createRecordingFile } from '../node/recording-file.ts'

let folder = ''
const at = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  record(game, at('match.twr'), 90)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('tickwire train', () => {
  test('[CODEC14] [CLI1] learns priors that make another match cheaper, and prints each pass', () => {
    record(game, at('long.twr'), 400, 0.41, 9)
    const { code, out, err } = tickwire('train', at('long.twr'), '-o', at('priors.json'), '--version', '3')
    expect(err).toBe(
      [1, 2, 3, 4].map((pass) => `Ship (1 of 2): pass ${pass} of 4\n`).join('') + 'Rock (2 of 2): pass 1 of 4\n',
    )
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(
        /^Ship: \d+ rows\nRock: \d+ rows, too few to learn from: built-in tables are used\n.*: .*, version 3\n$/,
      ),
    })
    const priors = JSON.parse(readFileSync(at('priors.json'), 'utf8'))
    const trained = defineGame({
      tickRate: 30,
      input: { fire: bool },
      entities: [Ship, Rock],
      codec: entropy(priors),
      step: () => {},
    })
    expect(trained.text).toMatch(/^codec entropy\(2;"Ship":[0-9a-f]{16}\)$/m)
    const bits = (...options: string[]): number =>
      JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--no-advice', ...options).out).entities[0]
        .otherBits[1]
    const {
      entities: [{ bits: untrained }],
    } = JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--no-advice').out)
    expect(bits('--priors', at('priors.json'))).toBeLessThan(untrained)
  })

  test.each([
    [['train', 'package.json'], 2, '-o is missing'],
    [['train', 'package.json', '-o', 'x'], 2, 'is not a recording'],
    [['train', 'package.json', '-o', 'x', '--version', '0'], 2, '--version 0: expected an integer from 1 to'],
    [
      ['train', 'package.json', '-o', 'x', '--version', '2147483648'],
      2,
      '--version 2147483648: expected an integer from 1 to 2147483647',
    ],
  ])('[CODEC14] %j is refused, with the reason', (args, code, words) => {
    expect(tickwire(...args)).toMatchObject({ code, out: '', err: expect.stringContaining(words) })
  })

  test('[CODEC14] a recording that is too short to learn from, and invalid priors, are refused by name', () => {
    record(game, at('short.twr'), 5)
    expect(tickwire('train', at('short.twr'), '-o', at('none.json'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('record a minute of play'),
    })
    expect(tickwire('bandwidth', at('match.twr'), '--priors', 'README.md')).toMatchObject({
      code: 2,
      err: expect.stringContaining('not JSON'),
    })
    expect(tickwire('bandwidth', at('match.twr'), '--priors', 'package.json')).toMatchObject({
      code: 2,
      err: expect.stringContaining('priors for "name", and this recording has Ship, Rock.'),
    })
    for (const [text, words] of [
      ['null', 'it has no priors'],
      ['[]', 'it has no priors'],
      ['5', 'it has no priors'],
      ['{"Ship":null}', 'not priors of form'],
      ['{"Ship":{"form":3,"masks":[null],"ages":[5]}}', 'priors.Ship: version'],
    ]) {
      writeFileSync(at('odd.json'), text!)
      expect(tickwire('bandwidth', at('match.twr'), '--no-advice', '--priors', at('odd.json')), text).toMatchObject({
        code: 2,
        err: expect.stringContaining(words!),
      })
    }
  })

  test('[CODEC14] a file that cannot be written is named, with a fix', () => {
    record(game, at('enough.twr'), 400)
    expect(tickwire('train', at('enough.twr'), '-o', folder)).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be written (EISDIR). It is a folder: give a file.'),
    })
    expect(tickwire('train', at('enough.twr'), '-o', at('no/such.json'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be written (ENOENT)'),
    })
    expect(tickwire('bandwidth', at('match.twr'), '--no-advice', '--svg', folder)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`--svg ${folder} cannot be written (EISDIR)`),
    })
  })
})

describe('tickwire bandwidth', () => {
  test('[REC14] prints the cost of every field, and what would be cheaper in the same match', () => {
    const { code, out } = tickwire('bandwidth', at('match.twr'), '--svg', at('match.svg'))
    expect(code).toBe(0)
    for (const words of [
      '90 ticks, 3.0 s, against rows 3 ticks old',
      'Ship',
      '  place',
      '  speed',
      'Ship.speed: fixed(',
      'Ship: { rate: 10 }',
    ])
      expect(out).toContain(words)
    record(plain, at('plain.twr'), 90)
    const unaided = tickwire('bandwidth', at('plain.twr')).out
    for (const words of ['by packed', 'coarser steps, 0.001 -> 0.01', 'angle(11) instead of angle(14)'])
      expect(unaided).toContain(words)
    expect(readFileSync(at('match.svg'), 'utf8')).toMatch(/^<svg [\s\S]*Ship\.place[\s\S]*<\/svg>\n$/)
    expect(tickwire('bandwidth', at('match.twr'), '--no-advice').out).not.toContain('Cheaper')
    const [first, , head, ship] = out.split('\n')
    expect([first, head, ship]).toEqual([
      expect.stringContaining('by entropy'),
      expect.stringMatching(/share +packed$/),
      expect.stringMatching(/^Ship .* \d+\.\d % +\d+\.\d\d$/),
    ])
  })

  test('[REC14] counts snapshots: in a game with a snapshot every second tick, every second tick', () => {
    const net = { snapshotRate: 15 }
    record(
      defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], net, step: () => {} }),
      at('slow.twr'),
      90,
    )
    record(
      defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], codec: packed, net, step: () => {} }),
      at('slow-plain.twr'),
      90,
    )
    const { out } = tickwire('bandwidth', at('slow.twr'), '--svg', at('slow.svg'))
    const table = JSON.parse(tickwire('bandwidth', at('slow.twr'), '--json').out)
    // 100 ms are three ticks, so the baseline row is four ticks old.
    expect(table).toMatchObject({ ticks: 90, snapshotTicks: 2, snapshots: 45, ageTicks: 4 })
    expect(table.entities[0]).toMatchObject({ name: 'Ship', entries: 90, births: 2 })
    const [kbps, bytes] = [table.bits / 3 / 1000, table.bits / 8 / 45]
    expect(out).toContain(
      `90 ticks, 3.0 s, a snapshot every 2 ticks, against rows 4 ticks old: ${kbps.toFixed(2)} kbit/s, `
        + `${bytes.toFixed(1)} bytes a snapshot by entropy`,
    )
    expect(out).toContain('Ship: { rate: 5 }, so that it is sent every third snapshot, saves')
    const { savedBits } = table.advice.find(({ path }: { path: string }) => path === 'Ship')
    // A third of the rows, each after a pause: the predictor of motion has no recent motion to use.
    expect(savedBits / table.entities[0].bits).toBeGreaterThan(0.2)
    expect(savedBits / table.entities[0].bits).toBeLessThan(0.67)
    const picture = readFileSync(at('slow.svg'), 'utf8')
    expect(picture).toContain('90 ticks at 30 a second, a snapshot every 2 ticks, by field')
    expect(tickwire('bandwidth', at('slow-plain.twr'), '--no-advice').out).toContain('by packed')
  })

  test('[REC14] names the fields that would be cheaper with a role', () => {
    const Drone = entity({ at: vec2(0, 100, 0.01), drift: vec2(-20, 20, 0.01), hue: u8 }, { name: 'Drone' })
    const swarm = defineGame({ tickRate: 30, input: { fire: bool }, entities: [Drone], step: () => {} })
    const world = new World([Drone])
    const file = createRecordingFile(at('drones.twr'))
    const recorder = new Recorder(swarm, world, { sink: file })
    for (let tick = 1; tick <= 120; tick++) {
      world.beginTick()
      if (tick === 1) for (let index = 0; index < 10; index++) world.spawn(Drone, { at: { x: 50, y: 50 } })
      for (const drone of world.each(Drone)) {
        // Turns often and sharply: the next position follows from the speed, and not from earlier positions.
        if ((tick + drone.id) % 7 === 0)
          drone.drift = { x: ((tick * 37 + drone.id) % 40) - 20, y: ((tick * 53 + drone.id) % 40) - 20 }
        drone.at = {
          x: Math.min(100, Math.max(0, drone.at.x + drone.drift.x / 30)),
          y: Math.min(100, Math.max(0, drone.at.y + drone.drift.y / 30)),
        }
      }
      world.endTick()
      recorder.tick()
    }
    recorder.close()
    file.close()
    expect(tickwire('bandwidth', at('drones.twr')).out).toContain(
      'Drone.at: .position(), and .velocity() of drift, saves',
    )
  })

  test('[REC14] a recording of which only the head is left has nothing to measure, with exit code 1', () => {
    const { chunks } = JSON.parse(tickwire('inspect', at('match.twr'), '--json', '--chunks').out)
    writeFileSync(at('head.twr'), readFileSync(at('match.twr')).subarray(0, chunks[0].offset + 3))
    expect(tickwire('bandwidth', at('head.twr'))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('there is nothing to measure'),
    })
    expect(tickwire('train', at('head.twr'), '-o', at('none.json'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('record a minute of play'),
    })
  })

  test('[REC14] the parts add up, and older baselines cost more', () => {
    const young = JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--age', '1').out)
    const old = JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--age', '20', '--for', 'owner').out)
    for (const table of [young, old]) {
      for (const one of table.entities) {
        const fields = one.fields.reduce((sum: number, field: { bits: number }) => sum + field.bits, 0)
        expect(fields + one.sharedBits).toBeCloseTo(one.bits, 6)
        // No field has a negative cost.
        expect(Math.min(...one.fields.map((field: { bits: number }) => field.bits))).toBeGreaterThanOrEqual(0)
      }
    }
    expect(old.bits).toBeGreaterThan(young.bits)
    expect(old.entities[0].fields.map(({ path }: { path: string }) => path)).toContain('Ship.plan')
    expect(young.entities[0].fields.map(({ path }: { path: string }) => path)).not.toContain('Ship.plan')
  })
})
