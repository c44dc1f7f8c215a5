import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { entity } from '../core/schema/definition.ts'
import { angle, bool, bytes, f32, group, i64, manual, text, u16, u8, vec2 } from '../core/schema/field-kinds.ts'
import { defineGame, type Game } from '../core/game/define-game.ts'
import { entropy, packed } from '../core/codec/snapshot-codec.ts'
import { Recorder } from '../core/replay/recorder.ts'
import type { RecordingCodec } from '../core/replay/recording-head.ts'
import { World } from '../core/world/world.ts'
import { createRecordingFile, openRecordingFile } from '../node/recording-file.ts'
import { runTickwire, startTickwire } from './run.ts'

const Ship = entity({
  place: vec2(-500, 500, 0.001), heading: angle(14), speed: f32, ammo: u16, name: text(20), shield: group({ hp: u8 }), coins: i64, seal: bytes(4), plan: u8.owner(),
}, { name: 'Ship' })
const Rock = entity({ size: u8 }, { name: 'Rock' })
const game = defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], step: () => {} })
const plain = defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], codec: packed, step: () => {} })

let folder = ''
const at = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  record(game, at('match.twr'), 90)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function record(of: Game<never> | typeof game, path: string, ticks: number, way = 0.37, beat = 7, codec: RecordingCodec = 'packed'): void {
  const world = new World([Ship, Rock])
  const file = createRecordingFile(path)
  const recorder = new Recorder(of, world, { sink: file, codec, startedAt: 1_800_000_000 })
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    if (tick === 1) {
      for (const owner of [1, 2]) world.spawn(Ship, { name: `s${owner}`, speed: 1, ammo: 900, coins: 7n, seal: Uint8Array.of(1, 255) }, owner)
      world.spawn(Rock, { size: 9 })
      recorder.note('joined', 1)
      recorder.note('mark', 0, 'round 1')
      recorder.note('heard', 2, Uint8Array.of(0, 1))
    }
    for (const ship of world.each(Ship)) {
      ship.heading += 0.03
      ship.place.x += way
      ship.speed = 1 + (tick % beat) / 10
      if (tick % 10 === 0) ship.ammo--
    }
    world.endTick()
    recorder.packet(tick * 33, 'sent', 2, new Uint8Array(30), 30)
    recorder.tick()
  }
  recorder.close()
  file.close()
}

function tickwire(...args: string[]): { code: number; out: string; err: string } {
  const said = { out: '', err: '' }
  const code = runTickwire(args, {
    print: (line) => { said.out += `${line}\n` },
    complain: (line) => { said.err += `${line}\n` },
    nowSeconds: () => 0,
    entropy: { fill: () => {} },
  })
  return { code, ...said }
}

describe('tickwire inspect', () => {
  test('[REC13] lists game, length, end, peers, sizes and objects', () => {
    const { code, out, err } = tickwire('inspect', at('match.twr'))
    expect([code, err]).toEqual([0, ''])
    for (const words of [
      'closed', 'started     2027-01-15T08:00:00Z', '30 ticks a second, fields: everything, codec: packed', 'ticks       1 to 90, 3.0 s', 'peers       1 2', 'B a tick',
      'Ship: 2 objects, 2 at once', 'place:vec2(-500,500,0.001|-500,500,0.001)', 'Rock: 1 objects', '1 x heard', 'mark 0 round 1', 'joined 1',
    ]) expect(out).toContain(words)
    expect(out).not.toContain('tick 1 ')
    expect(tickwire('inspect', at('match.twr'), '--chunks').out).toMatch(/rows +tick 1 +\d+ bytes, key/)
  })

  test('[REC13] as JSON: the same, and a tick of it', () => {
    const summary = JSON.parse(tickwire('inspect', at('match.twr'), '--json', '--chunks').out)
    expect(summary).toMatchObject({ end: 'closed', firstTick: 1, lastTick: 90, missingTicks: 0, packets: { sent: 90, received: 0, bytes: 2700 }, notes: { joined: 1, mark: 1, heard: 1 } })
    expect(summary.sizeBytes).toBe(statSync(at('match.twr')).size)
    expect(summary.chunks.length).toBeGreaterThan(6)
    const { code, out } = tickwire('inspect', at('match.twr'), '--tick', '50', '--json')
    expect([code, JSON.parse(out)]).toEqual([0, {
      tick: 50,
      objects: [
        { entity: 'Ship', id: 1, owner: 1, place: { x: expect.closeTo(18.5, 2), y: 0 }, heading: expect.closeTo(1.5, 2), speed: expect.closeTo(1.1, 3), ammo: 895, name: 's1', shield: null, coins: '7', seal: '01ff', plan: 0 },
        expect.objectContaining({ id: 65_537, owner: 2 }), { entity: 'Rock', id: 131_073, owner: 0, size: 9 },
      ],
    }])
    expect(tickwire('inspect', at('match.twr'), '--tick', '50').out.split('\n')).toHaveLength(4)
  })

  test('[REC13] a torn file says so, with exit code 1; a tick that is not there too', () => {
    writeFileSync(at('torn.twr'), readFileSync(at('match.twr')))
    truncateSync(at('torn.twr'), statSync(at('match.twr')).size - 100)
    expect(tickwire('inspect', at('torn.twr'))).toMatchObject({ code: 1, out: expect.stringMatching(/torn: its last \d+ bytes/) })
    expect(tickwire('inspect', at('match.twr'), '--tick', '91')).toMatchObject({ code: 1, err: 'tick 91 is not in this recording: it has 1 to 90.\n' })
  })

  test.each([
    [['inspect'], 'Give one file'], [['inspect', 'a', 'b'], 'Give one file'], [['inspect', '/nowhere/at/all'], 'cannot be read (ENOENT)'],
    [['inspect', 'package.json'], 'is no recording'], [['inspect', 'package.json', '--tick', 'soon'], '--tick soon is no whole number'],
    [['bandwidth', 'package.json'], 'is no recording'], [['bandwidth', 'x', '--for', 'kings'], 'there are all, team, owner'],
    [['inspect', 'packages'], 'packages cannot be read (EISDIR). It is a folder: give a file.'], [['inspect', 'package.json', '--tick='], '--tick  is no whole number'],
    [['inspect', 'package.json', '--tick=-1'], '--tick -1 is no whole number from 0 on.'], [['inspect', 'package.json', '--port', '80'], '--port is for the page. Say --page, too.'],
    [['--bogus'], 'there is no command "--bogus"'],
  ])('[REC13] %j makes no sense, and it is said why', (args, words) => {
    expect(tickwire(...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(words) })
  })

  test('[REC13] a page that cannot be is refused in a sentence', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => { taken.listen(0, '127.0.0.1', resolve) })
    const { port } = taken.address() as AddressInfo
    for (const [args, words] of [
      [['--port', '65536'], '--port 65536 is no whole number from 0 to 65535.'], [['--port', `${port}`], `--port ${port} cannot be listened on (EADDRINUSE). Give another`],
      [['--json'], '--json is for the list'], [['--server', 'package.json'], 'package.json is no recording'],
    ] as const) {
      let err = ''
      const code = await startTickwire(['inspect', at('match.twr'), '--page', ...args], { print: () => {}, complain: (line) => { err += line }, nowSeconds: () => 0, entropy: { fill: () => {} } })
      expect([code, err]).toEqual([2, expect.stringContaining(words)])
    }
    taken.close()
  })

  test('[REC13] what only the game can read is named', () => {
    const own = manual<number>({ format: 'mine', create: () => 0, serialize: (buffer, value) => buffer.varint(value) })
    const odd = defineGame({ tickRate: 30, input: { fire: bool }, entities: [entity({ a: own }), Rock], step: () => {} })
    record(odd as never, at('odd.twr'), 3)
    expect(tickwire('inspect', at('odd.twr'))).toMatchObject({ code: 0, out: expect.stringContaining('Rows cannot be shown without the game') })
    expect(tickwire('inspect', at('odd.twr'), '--tick', '1')).toMatchObject({ code: 2, err: expect.stringContaining('manual') })
    expect(tickwire('bandwidth', at('odd.twr'))).toMatchObject({ code: 2, err: expect.stringContaining('measureBandwidth') })
  })
})

test('[REC19] every tool says the same of a range-coded recording', () => {
  const files = (['packed', 'entropy'] as const).map((codec) => {
    record(game, at(`${codec}.twr`), 220, 0.37, 7, codec)
    return at(`${codec}.twr`)
  })
  const [plain, coded] = files.map((path) => {
    const { file: _file, sizeBytes: _sizeBytes, kinds: _kinds, codec, ...rest } = JSON.parse(tickwire('inspect', path, '--json').out)
    const { file: _path, ...bandwidth } = JSON.parse(tickwire('bandwidth', path, '--json').out)
    expect(tickwire('train', path, '-o', `${path}.json`).code).toBe(0)
    return { codec, said: { rest, bandwidth, tick: tickwire('inspect', path, '--tick', '150').out, priors: readFileSync(`${path}.json`, 'utf8') } }
  })
  expect([plain!.codec, coded!.codec]).toEqual(['packed', 'entropy'])
  expect(coded!.said).toEqual(plain!.said)
  expect(statSync(files[1]!).size).toBeLessThan(statSync(files[0]!).size)
})

describe('tickwire train', () => {
  test('[CODEC14] learns priors that a game takes, and that make another match of it cheaper', () => {
    record(game, at('long.twr'), 400, 0.41, 9)
    const { code, out } = tickwire('train', at('long.twr'), '-o', at('priors.json'), '--version', '3')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^Ship: \d+ rows\nRock: \d+ rows, too few to learn from: built-in tables serve\n.*priors\.json: .*, version 3\n$/) })
    const priors = JSON.parse(readFileSync(at('priors.json'), 'utf8'))
    const trained = defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], codec: entropy(priors), step: () => {} })
    expect(trained.text).toMatch(/^codec entropy\(2;"Ship":[0-9a-f]{16}\)$/m)
    const bits = (...options: string[]): number => JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--no-advice', ...options).out).entities[0].otherBits[1]
    const { entities: [{ bits: untrained }] } = JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--no-advice').out)
    expect(bits('--priors', at('priors.json'))).toBeLessThan(untrained)
  })

  test.each([
    [['train', 'package.json'], 2, 'Say where to write it'], [['train', 'package.json', '-o', 'x'], 2, 'is no recording'],
    [['train', 'package.json', '-o', 'x', '--version', '0'], 2, '--version 0 is no whole number from 1 to 2147483647'],
    [['train', 'package.json', '-o', 'x', '--version', '2147483648'], 2, '--version 2147483648 is no whole number from 1 to 2147483647'],
  ])('[CODEC14] %j makes no sense, and it is said why', (args, code, words) => {
    expect(tickwire(...args)).toMatchObject({ code, out: '', err: expect.stringContaining(words) })
  })

  test('[CODEC14] too little to learn from, and priors that are none, are named', () => {
    record(game, at('short.twr'), 5)
    expect(tickwire('train', at('short.twr'), '-o', at('none.json'))).toMatchObject({ code: 1, err: expect.stringContaining('Record a minute of play') })
    expect(tickwire('bandwidth', at('match.twr'), '--priors', 'README.md')).toMatchObject({ code: 2, err: expect.stringContaining('no JSON') })
    expect(tickwire('bandwidth', at('match.twr'), '--priors', 'package.json')).toMatchObject({ code: 2, err: expect.stringContaining('is for "name", and this recording has Ship, Rock.') })
    for (const [text, words] of [['null', 'has no priors in it'], ['[]', 'has no priors in it'], ['5', 'has no priors in it'], ['{"Ship":null}', 'not priors of form'], ['{"Ship":{"form":3,"masks":[null],"ages":[5]}}', 'priors.Ship: version']]) {
      writeFileSync(at('odd.json'), text!)
      expect(tickwire('bandwidth', at('match.twr'), '--no-advice', '--priors', at('odd.json')), text).toMatchObject({ code: 2, err: expect.stringContaining(words!) })
    }
  })

  test('[CODEC14] what cannot be written is named, and the way out', () => {
    record(game, at('enough.twr'), 400)
    expect(tickwire('train', at('enough.twr'), '-o', folder)).toMatchObject({ code: 2, err: expect.stringContaining('cannot be written (EISDIR). It is a folder: give a file.') })
    expect(tickwire('train', at('enough.twr'), '-o', at('no/such.json'))).toMatchObject({ code: 2, err: expect.stringContaining('cannot be written (ENOENT)') })
    expect(tickwire('bandwidth', at('match.twr'), '--no-advice', '--svg', folder)).toMatchObject({ code: 2, err: expect.stringContaining(`--svg ${folder} cannot be written (EISDIR)`) })
  })
})

describe('tickwire bandwidth', () => {
  test('[REC14] prints what every field costs, and what would be cheaper, by the very match', () => {
    const { code, out } = tickwire('bandwidth', at('match.twr'), '--svg', at('match.svg'))
    expect(code).toBe(0)
    for (const words of ['90 ticks, 3.0 s, against rows 3 ticks old', 'Ship', '  place', '  speed', 'Ship.speed: fixed(', 'Ship: { rate: 10 }']) expect(out).toContain(words)
    record(plain, at('plain.twr'), 90)
    const unaided = tickwire('bandwidth', at('plain.twr')).out
    for (const words of ['by packed', 'coarser steps, 0.001 -> 0.01', 'angle(11) instead of angle(14)']) expect(unaided).toContain(words)
    expect(readFileSync(at('match.svg'), 'utf8')).toMatch(/^<svg [\s\S]*Ship\.place[\s\S]*<\/svg>\n$/)
    expect(tickwire('bandwidth', at('match.twr'), '--no-advice').out).not.toContain('Cheaper')
    const [first, , head, ship] = out.split('\n')
    expect([first, head, ship]).toEqual([expect.stringContaining('by entropy'), expect.stringMatching(/share +packed$/), expect.stringMatching(/^Ship .* \d+\.\d % +\d+\.\d\d$/)])
  })

  test('[REC14] counts what is told: in a game with a snapshot every second tick, every second tick', () => {
    const net = { snapshotRate: 15 }
    record(defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], net, step: () => {} }), at('slow.twr'), 90)
    record(defineGame({ tickRate: 30, input: { fire: bool }, entities: [Ship, Rock], codec: packed, net, step: () => {} }), at('slow-plain.twr'), 90)
    const { out } = tickwire('bandwidth', at('slow.twr'), '--svg', at('slow.svg'))
    const table = JSON.parse(tickwire('bandwidth', at('slow.twr'), '--json').out)
    // 100 ms are three ticks: the row told before that is four ticks old.
    expect(table).toMatchObject({ ticks: 90, snapshotTicks: 2, snapshots: 45, ageTicks: 4 })
    expect(table.entities[0]).toMatchObject({ name: 'Ship', entries: 90, births: 2 })
    const [kbps, bytes] = [table.bits / 3 / 1000, table.bits / 8 / 45]
    expect(out).toContain(`90 ticks, 3.0 s, told every 2 ticks, against rows 4 ticks old: ${kbps.toFixed(2)} kbit/s, ${bytes.toFixed(1)} bytes a snapshot by entropy`)
    expect(out).toContain('Ship: { rate: 5 }, so that it is told every third snapshot, saves')
    const { savedBits } = table.advice.find(({ path }: { path: string }) => path === 'Ship')
    // A third of the rows, each of them after a rest: what foretells motion has none to look at.
    expect(savedBits / table.entities[0].bits).toBeGreaterThan(0.2)
    expect(savedBits / table.entities[0].bits).toBeLessThan(0.67)
    expect(readFileSync(at('slow.svg'), 'utf8')).toContain('90 ticks at 30 a second, told every 2 ticks, by field')
    expect(tickwire('bandwidth', at('slow-plain.twr'), '--no-advice').out).toContain('by packed')
  })

  test('[REC14] names the fields that would gain from being said to move', () => {
    const Drone = entity({ at: vec2(0, 100, 0.01), drift: vec2(-20, 20, 0.01), hue: u8 }, { name: 'Drone' })
    const swarm = defineGame({ tickRate: 30, input: { fire: bool }, entities: [Drone], step: () => {} })
    const world = new World([Drone])
    const file = createRecordingFile(at('drones.twr'))
    const recorder = new Recorder(swarm, world, { sink: file })
    for (let tick = 1; tick <= 120; tick++) {
      world.beginTick()
      if (tick === 1) for (let index = 0; index < 10; index++) world.spawn(Drone, { at: { x: 50, y: 50 } })
      for (const drone of world.each(Drone)) {
        // Turns often and sharply: where it goes is in its speed, and not in where it was.
        if ((tick + drone.id) % 7 === 0) drone.drift = { x: ((tick * 37 + drone.id) % 40) - 20, y: ((tick * 53 + drone.id) % 40) - 20 }
        drone.at = { x: Math.min(100, Math.max(0, drone.at.x + drone.drift.x / 30)), y: Math.min(100, Math.max(0, drone.at.y + drone.drift.y / 30)) }
      }
      world.endTick()
      recorder.tick()
    }
    recorder.close()
    file.close()
    expect(tickwire('bandwidth', at('drones.twr')).out).toContain('Drone.at: .position(), and .velocity() of drift, saves')
  })

  test('[REC14] a recording of which nothing is left but its head has nothing to measure, with exit code 1', () => {
    const { chunks } = JSON.parse(tickwire('inspect', at('match.twr'), '--json', '--chunks').out)
    writeFileSync(at('head.twr'), readFileSync(at('match.twr')).subarray(0, chunks[0].offset + 3))
    expect(tickwire('bandwidth', at('head.twr'))).toMatchObject({ code: 1, out: '', err: expect.stringContaining('there is nothing to measure') })
    expect(tickwire('train', at('head.twr'), '-o', at('none.json'))).toMatchObject({ code: 1, err: expect.stringContaining('Record a minute of play') })
  })

  test('[REC14] the parts add up, and older baselines cost more', () => {
    const young = JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--age', '1').out)
    const old = JSON.parse(tickwire('bandwidth', at('match.twr'), '--json', '--age', '20', '--for', 'owner').out)
    for (const table of [young, old]) {
      for (const one of table.entities) {
        const fields = one.fields.reduce((sum: number, field: { bits: number }) => sum + field.bits, 0)
        expect(fields + one.sharedBits).toBeCloseTo(one.bits, 6)
        // What a codec says of a field it says: nobody is paid for having changed.
        expect(Math.min(...one.fields.map((field: { bits: number }) => field.bits))).toBeGreaterThanOrEqual(0)
      }
    }
    expect(old.bits).toBeGreaterThan(young.bits)
    expect(old.entities[0].fields.map(({ path }: { path: string }) => path)).toContain('Ship.plan')
    expect(young.entities[0].fields.map(({ path }: { path: string }) => path)).not.toContain('Ship.plan')
  })
})

test('[REC5] a file that cannot be written is a sink that refuses', () => {
  const file = createRecordingFile(at('gone.twr'))
  file.close()
  expect(file.write(new Uint8Array(3), undefined)).toBe(false)
  expect(openRecordingFile(at('gone.twr'))).toBe('not-a-recording')
})
