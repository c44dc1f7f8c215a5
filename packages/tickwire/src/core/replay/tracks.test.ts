import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gameOf, opened } from '../../../../../test/reference/recording-games.ts'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { Prng } from '../base/prng.ts'
import { quantizeCells } from '../schema/cells.ts'
import { bool, fixed, text, u8 } from '../schema/field-kinds.ts'
import { entity } from '../schema/definition.ts'
import { compileSchema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { storeValues } from '../schema/values.ts'
import { World } from '../world/world.ts'
import { CHUNK, type ChunkEntry } from './chunk.ts'
import { readGameText } from './game-text.ts'
import { InputsReader, InputsWriter } from './inputs-track.ts'
import { noteText, readNotes } from './notes-track.ts'
import { readPackets } from './packets-track.ts'
import { Playback } from './playback.ts'
import { Recorder } from './recorder.ts'
import type { ChunkList } from './recording.ts'
import { MemorySink } from './recording-memory.ts'
import { RecordingRing } from './recording-ring.ts'

const inputSchema = compileSchema('input', { left: bool, aim: fixed(-1, 1, 0.01), say: text(10) })

function rowOf(heap: ValueHeap, values: Record<string, unknown>): Int32Array {
  const cells = inputSchema.initialCells.slice()
  const row = new Int32Array(inputSchema.laneCount)
  storeValues(inputSchema, values, cells, 0, heap)
  quantizeCells(inputSchema, cells, 0, row, 0)
  return row
}

describe('inputs', () => {
  test('[REC9] the input of every player in a tick, and whether it had arrived, is stored for every tick', () => {
    const dice = new Prng(3)
    const heap = new ValueHeap()
    const writer = new InputsWriter(inputSchema)
    const bodies = new Map<ChunkEntry, Uint8Array>()
    const truth = new Map<number, Map<number, string>>()
    const show = (row: Int32Array, isMissing: boolean, store: ValueHeap): string =>
      JSON.stringify([row[0], row[1], store.get(inputSchema.leaves[2]!, row[2]!), isMissing])
    const flush = (): void => {
      if (writer.count === 0) return
      const bytes = writer.seal().slice()
      bodies.set(
        { type: CHUNK.inputs, flags: 1, tick: writer.chunk.tick, offset: 0, length: 0 },
        bytes.subarray(12, -4),
      )
      writer.clear()
    }
    const held = new Map<number, Int32Array>()
    for (let tick = 1; tick <= 400; tick++) {
      const now = new Map<number, string>()
      for (const peer of [1, 2, 3, 90, 4_000_000_000]) {
        if (dice.nextInt(0, 40) === 0) held.has(peer) ? held.delete(peer) : held.set(peer, rowOf(heap, {}))
        if (!held.has(peer)) continue
        if (dice.nextInt(0, 5) === 0)
          held.set(
            peer,
            rowOf(heap, { left: dice.nextInt(0, 1) === 1, aim: dice.nextFloat(), say: `t${dice.nextInt(0, 9)}` }),
          )
        const isMissing = dice.nextInt(0, 9) === 0
        writer.hold(peer, held.get(peer)!, 0, heap, isMissing)
        now.set(peer, show(held.get(peer)!, isMissing, heap))
      }
      writer.endTick(tick)
      truth.set(tick, now)
      if (dice.nextInt(0, 12) === 0) flush()
    }
    flush()
    const list: ChunkList = { head: undefined as never, chunks: [...bodies.keys()], load: (chunk) => bodies.get(chunk) }
    const other = new ValueHeap()
    const reader = new InputsReader(list, inputSchema, other)
    for (const [tick, now] of truth) {
      const said = reader.at(tick)
      const shown = new Map([...(said ?? [])].map(([peer, { row, isMissing }]) => [peer, show(row, isMissing, other)]))
      expect(shown, `tick ${tick}`).toEqual(now)
    }
    const [last] = [...reader.at(400)!.values()]
    expect(reader.valuesOf(last!)).toEqual({
      left: expect.any(Boolean),
      aim: expect.any(Number),
      say: expect.any(String),
    })
    expect(reader.at(401)).toBe(undefined)
    expect(reader.at(0)).toBe(undefined)
  })

  test('[REC9] a tick that does not fit the chunk has the inputs before it, and later ticks keep their places', () => {
    const heap = new ValueHeap()
    const writer = new InputsWriter(inputSchema)
    const { chunk } = writer
    const keep = chunk.keep.bind(chunk)
    for (let tick = 1; tick <= 4; tick++) {
      writer.hold(7, rowOf(heap, { aim: tick / 10 }), 0, heap, tick === 2)
      let isFull = tick === 2
      chunk.keep = () => {
        if (!isFull) return keep()
        isFull = false
        chunk.drop()
        return 'too-large'
      }
      writer.endTick(tick)
    }
    expect(writer.count).toBe(4)
    const entry = { type: CHUNK.inputs, flags: 1, tick: chunk.tick, offset: 0, length: 0 }
    const body = writer.seal().slice().subarray(12, -4)
    const list: ChunkList = { head: undefined as never, chunks: [entry], load: () => body }
    const reader = new InputsReader(list, inputSchema)
    const aimAt = (tick: number): unknown => {
      const input = reader.at(tick)?.get(7)
      return input && [Math.round(10 * Number(reader.valuesOf(input).aim)), input.isMissing]
    }
    expect([1, 2, 3, 4].map(aimAt)).toEqual([[1, false], [1, false], [3, false], [4, false]])
  })
})

const Ball = entity({ x: fixed(0, 100, 0.1) }, { name: 'Ball' })

describe('a recorder', () => {
  test('[REC10] keeps packets with their times and notes with their ticks', () => {
    const world = new World([Ball])
    const sink = new MemorySink()
    const now = (): number => world.tick * 100.25
    const recorder = new Recorder(gameOf([Ball]), world, { sink, startedAt: 1_700_000_000, now })
    const packets: unknown[] = []
    const notes: unknown[] = []
    for (let tick = 1; tick <= 30; tick++) {
      world.beginTick()
      const bytes = new Uint8Array(tick * 40).fill(tick)
      recorder.packet(tick % 2 === 0 ? 'sent' : 'received', tick % 5, bytes, bytes.length - 1)
      packets.push({
        timeMs: tick * 100.25,
        way: tick % 2 === 0 ? 'sent' : 'received',
        peer: tick % 5,
        bytes: bytes.slice(0, -1),
      })
      if (tick % 7 === 0) {
        recorder.note('mark', 0, `runde ${tick} ü`)
        recorder.note('joined', tick)
        recorder.note('received', 3, Uint8Array.of(0, tick))
        notes.push(
          [tick, 'mark', 0, `runde ${tick} ü`],
          [tick, 'joined', tick, ''],
          [tick, 'received', 3, `\0${String.fromCharCode(tick)}`],
        )
      }
      world.endTick()
      recorder.tick()
    }
    recorder.note('left', 2, 'timed out')
    notes.push([30, 'left', 2, 'timed out'])
    recorder.packet('sent', 1, new Uint8Array(2 ** 21), 2 ** 21)
    recorder.close()
    const recording = opened(sink.bytes())
    expect(recording.head).toMatchObject({ startedAt: 1_700_000_000, tickRate: 10, names: ['Ball'] })
    const bodies = (type: number): [ChunkEntry, Uint8Array][] =>
      recording.chunks.filter((chunk) => chunk.type === type).map((chunk) => [chunk, recording.load(chunk)!])
    expect(bodies(CHUNK.packets).flatMap(([, body]) => readPackets(body))).toEqual(packets)
    const read = bodies(CHUNK.notes).flatMap(([{ tick }, body]) => readNotes(body, tick)!)
    expect(read.map((note) => [note.tick, note.kind, note.peer, noteText(note)])).toEqual(notes)
    expect(readNotes(Uint8Array.of(0, 77, 1, 0), 5)).toEqual([
      { tick: 5, kind: 'unknown', peer: 1, bytes: new Uint8Array(0) },
    ])
    expect([
      readNotes(Uint8Array.of(0, 77, 1, 9), 5),
      readPackets(Uint8Array.of(0, 1, 1, 200)),
      noteText({ bytes: Uint8Array.of(255) } as never),
    ]).toEqual([undefined, undefined, undefined])
  })

  test('[REC11] refuses invalid options at once', () => {
    const make = (options: object) => () =>
      new Recorder(gameOf([Ball]), new World([Ball]), { sink: new MemorySink(), ...options })
    expect(make({ flushMs: 0 })).toThrow('flushMs: invalid time (expected above 0 and at most 60,000 ms, got 0)')
    expect(make({ keyMs: 100_000 })).toThrow('keyMs: invalid time (expected above 0 and at most 60,000 ms, got 100000)')
    expect(make({ startedAt: 1.5 })).toThrow('startedAt: invalid time (expected whole seconds since 1970, got 1.5)')
    expect(() => new RecordingRing({ windowMs: 0 })).toThrow('windowMs')
    expect(() => new RecordingRing({ bytesMax: -1 })).toThrow('bytesMax')
  })

  test('[REC12] a ring keeps at least its window, can be played while it grows, and saves it as a file', () => {
    const world = new World([Ball])
    const ring = new RecordingRing({ windowMs: 5000 })
    const recorder = new Recorder(gameOf([Ball]), world, { sink: ring })
    const late = new Playback(ring, gameOf([Ball]))
    const shown: number[] = []
    for (let tick = 1; tick <= 300; tick++) {
      world.beginTick()
      if (tick === 1) world.spawn(Ball, {})
      for (const ball of world.each(Ball)) ball.x = tick / 5
      world.endTick()
      recorder.tick()
      // A spectator four seconds behind.
      if (tick > 40) {
        expect(tick === 41 ? late.seek(1) : late.step()).toBe('ok')
        for (const ball of late.world.each(Ball)) shown.push(ball.x)
      }
    }
    expect(shown).toEqual(Array.from({ length: 260 }, (_, at) => expect.closeTo((at + 1) / 5, 5)))
    const saved = opened(ring.save())
    const playback = new Playback(saved, gameOf([Ball]))
    expect([saved.end, playback.last]).toEqual(['open', 300])
    expect(playback.first).toBeGreaterThan(300 - 50 - 15)
    expect(playback.first).toBeLessThanOrEqual(300 - 50)
    expect(playback.seek(280)).toBe('ok')
    expect([...playback.world.each(Ball)].map(({ x }) => x)).toEqual([expect.closeTo(56, 5)])
  })

  test('[REC12] a ring never exceeds its byte limit', () => {
    const world = new World([Ball])
    const ring = new RecordingRing({ bytesMax: 2000 })
    const recorder = new Recorder(gameOf([Ball]), world, { sink: ring })
    for (let tick = 1; tick <= 2000; tick++) {
      world.beginTick()
      for (let count = 0; count < 3 && tick < 10; count++) world.spawn(Ball, {})
      for (const ball of world.each(Ball)) ball.x = world.random.float(ball) * 100
      world.endTick()
      recorder.tick()
    }
    // One key and the ticks after it are the least that can be played.
    expect(ring.sizeBytes).toBeLessThan(4000)
    expect(new Playback(ring, gameOf([Ball])).step()).toBe('ok')
  })
})

describe('the text of a game', () => {
  test('[REC6] is read back as its definitions, for random ones of every field kind that has a text', () => {
    let count = 0
    fc.assert(
      fc.property(schemaWithValues(0, 3), ({ schema }) => {
        if (schema.text.includes('manual(')) return
        count++
        const said = readGameText(
          `tickRate 20\ninput {a:bool}\nentity 0 ${schema.text}\nmessage 0 {t:text(9)} latest\nrpc 0 whatever`,
          ['Thing'],
        )
        if (typeof said === 'string') throw new Error(said)
        const [only] = said.entities
        expect([only!.schema.text, only!.schema.name, said.tickRate, said.messages.length]).toEqual([
          schema.text,
          'Thing',
          20,
          1,
        ])
        expect(only!.schema.initialRow).toEqual(schema.initialRow)
        expect(only!.schema.masks.map(({ width }) => width)).toEqual(schema.masks.map(({ width }) => width))
      }),
      { numRuns: 500, seed: 5 },
    )
    expect(count).toBeGreaterThan(200)
  })

  test.each([
    ['entity 0 {x:manual("f",0:)}', 'manual'],
    ['entity 1 {x:bool}', 'definition 0 is missing, or in the wrong place'],
    ['entity 0 {x:fly}', 'fly'],
    ['entity 0 {x:bool', 'expected }'],
    ['entity 0 {x:int(9,1)}', 'x'],
    ['entity 0 {id:bool}', 'id'],
    ['entity 0 {x:bool@kings}', 'expected team'],
    [`entity 0 {x:${'list('.repeat(500)}`, 'depth'],
    [`entity 0 {x:bool=${'['.repeat(5000)}`, 'depth'],
    ['entity 0 {x: bool}', 'expected'],
    [`entity 0 {x:int(0,5)=05}`, 'the same text'],
    ['entity 0 {x:i64=99999999999999999999999n}', 'whole number'],
    ['codec packed every 0', 'every 0 ticks'],
    ['codec packed every 1001', 'every 1001 ticks'],
    [`codec packed every ${'9'.repeat(400)}`, 'every Infinity ticks'],
  ])('[REC6] %j is refused, with the reason', (line, why) => {
    expect(readGameText(`tickRate 20\ninput {a:bool}\n${line}`)).toContain(why)
  })

  test('[REC6] a text without an input is not a game', () => {
    expect([readGameText(''), readGameText('entity 0 {a:bool}')]).toEqual(['it has no input', 'it has no input'])
  })
})

const Late = entity({ n: u8 }, { name: 'Late' })

test('[REC5] a world that jumps ahead or back is recorded from the next key on', () => {
  const world = new World([Late])
  const sink = new MemorySink()
  const recorder = new Recorder(gameOf([Late]), world, { sink })
  const run = (): void => {
    world.beginTick()
    for (const late of world.each(Late)) late.n = world.tick & 255
    world.endTick()
    recorder.tick()
  }
  world.spawn(Late, {})
  for (let count = 0; count < 10; count++) run()
  world.tick = 100
  for (let count = 0; count < 10; count++) run()
  world.tick = 95
  for (let count = 0; count < 30; count++) run()
  recorder.close()
  const playback = new Playback(opened(sink.bytes()), gameOf([Late]))
  const seen: number[] = []
  for (let tick = 0; tick <= 130; tick++) {
    if (playback.seek(tick) !== 'ok' || playback.tick !== tick) continue
    seen.push(tick)
    expect([...playback.world.each(Late)].map(({ n }) => n)).toEqual([tick])
  }
  expect(seen).toEqual([
    ...Array.from({ length: 10 }, (_, at) => at + 1),
    ...Array.from({ length: 25 }, (_, at) => at + 101),
  ])
})
