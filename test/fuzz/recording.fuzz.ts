/**
 * Hostile files: recordings whose heads, indexes, chunks and bodies were changed, with their checksums corrected so
 * that the decoder sees the change and not the checksum. Opened, listed, played from end to end and sought; nothing may
 * throw, and nothing may be allocated by what the file claims.
 */

import { readNotes } from '../../packages/tickwire/src/core/replay/notes-track.ts'
import { InputsReader } from '../../packages/tickwire/src/core/replay/inputs-track.ts'
import { readPackets } from '../../packages/tickwire/src/core/replay/packets-track.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import { CHUNK, isChunkWhole, readChunkHead, sealChunk } from '../../packages/tickwire/src/core/replay/chunk.ts'
import { readGameText } from '../../packages/tickwire/src/core/replay/game-text.ts'
import { Playback } from '../../packages/tickwire/src/core/replay/playback.ts'
import { Recorder } from '../../packages/tickwire/src/core/replay/recorder.ts'
import type { RecordingCodec } from '../../packages/tickwire/src/core/replay/recording-head.ts'
import { openRecording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { RowsReader } from '../../packages/tickwire/src/core/replay/rows-reader.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, fixed, group, list, quat, ref, text, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { gameOf } from '../reference/recording-games.ts'
import type { FuzzTarget } from './target.ts'

const Thing = entity(
  {
    x: fixed(0, 100, 0.1).position(),
    pace: fixed(-20, 20, 0.5).velocity(),
    up: bool,
    label: text(9),
    shield: group({ hp: u8 }),
    pals: list(ref(), 3),
    turn: quat(6),
    plan: u8.server(),
  },
  { name: 'Thing' },
)
const Spark = entity({ left: u8 }, { name: 'Spark' })
const game = gameOf([Thing, Spark])

const TICKS_MAX = 200

/** A short match in which everything happens. */
function match(ticks: number, codec: RecordingCodec = 'packed'): Uint8Array {
  const world = new World([Thing, Spark], { seed: 5 })
  const sink = new MemorySink()
  const recorder = new Recorder(game, world, { sink, codec, flushMs: 300, keyMs: 600, now: () => world.tick * 10 })
  const heap = new ValueHeap()
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    if (tick % 3 === 1) world.spawn(Thing, { x: tick, label: `t${tick}`, plan: 3 }, tick % 4)
    if (tick % 4 === 0) world.spawn(Spark, { left: 2 })
    for (const thing of world.each(Thing)) {
      thing.x += 1.5
      thing.pace = tick % 6 === 0 ? 0 : 15
      thing.up = tick % 2 === 0
      thing.shield = tick % 5 === 0 ? { hp: tick } : null
      thing.turn = { x: world.prng.nextFloat(), y: 0.3, z: 0, w: 1 }
      thing.pals = [thing.id]
      if (thing.x > 30) world.setOwner(thing, tick)
    }
    for (const spark of world.each(Spark)) if (--spark.left === 0) world.despawn(spark)
    recorder.input(1, Int32Array.of(tick % 20), 0, heap, tick % 6 === 0)
    if (tick === 4) recorder.note('joined', 3)
    recorder.packet('sent', 1, Uint8Array.of(1, 2, 3), 3)
    world.endTick()
    recorder.tick()
  }
  recorder.close()
  return sink.bytes()
}

/** Opens a file and does everything that can be done with it. */
function play(bytes: Uint8Array): void {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') return
  const said = readGameText(recording.head.text, recording.head.names)
  const known = recording.head.text === game.text ? game : typeof said === 'string' ? undefined : said
  if (known === undefined || known.entities.length !== recording.head.names.length) return
  const playback = new Playback(recording, known)
  for (let count = 0, played = playback.step(); count < TICKS_MAX && played === 'ok'; count++) {
    for (const store of playback.world.stores) for (const handle of store.living()) handle.toJSON()
    played = playback.step()
  }
  for (const tick of [playback.last, playback.first, 7, 2 ** 40]) playback.seek(tick)
  const inputs = new InputsReader(recording, known.inputSchema, new ValueHeap())
  for (const tick of [1, 8, 2 ** 40]) inputs.at(tick)
  for (const chunk of recording.chunks) {
    const body = recording.load(chunk)
    if (body !== undefined && chunk.type === CHUNK.notes) readNotes(body, chunk.tick)
    if (body !== undefined && chunk.type === CHUNK.packets) readPackets(body)
  }
}

/** Corrects the checksum of every chunk that its head leads to. */
function mend(bytes: Uint8Array): Uint8Array {
  const mended = bytes.slice()
  for (let at = 12; at < mended.length; ) {
    const head = readChunkHead(mended, at, at)
    const size = head === undefined ? 0 : 16 + head.length
    if (head === undefined || at + size > mended.length) break
    const chunk = mended.slice(at, at + size)
    if (!isChunkWhole(chunk)) sealChunk(chunk, head.type, head.flags, head.tick, head.length)
    mended.set(chunk, at)
    at += size
  }
  return mended
}

/**
 * Bytes of the tables of the entropy codec, which are made for every playback from the game's entities, whatever is in
 * the file.
 */
const TABLES_BYTES_MAX = 1 << 23

/**
 * Bodies of range-coded rows, each read after a valid body that begins with a key. Without a file around them, many
 * more can be tried.
 */
function rowBodies(): FuzzTarget {
  const recording = openRecording(sourceOf(match(17, 'entropy')))
  if (typeof recording === 'string') throw new Error(recording)
  const bodies = recording.chunks
    .filter(({ type }) => type === CHUNK.rows)
    .map((chunk) => recording.load(chunk) ?? new Uint8Array(0))
  let world = new World([])
  let reader: RowsReader | undefined
  const readAll = (body: Uint8Array): void => {
    // A world that once had many indexes stays slow.
    if (reader === undefined || world.objects.highWater > 16_384) {
      world = new World(game.entities, { isReadOnly: true })
      reader = new RowsReader(world, 'everything', game.tickRate, 'entropy')
    }
    reader.reset(body)
    for (let count = 0; count < TICKS_MAX && reader.left > 0 && reader.read(false); count++) {
      world.sample()
      world.collectValues()
    }
  }
  return {
    name: 'recording/range-coded-body',
    seeds: () => bodies,
    allocationBytesMax: TABLES_BYTES_MAX,
    run(bytes) {
      readAll(bodies[0] ?? bytes)
      readAll(bytes)
    },
  }
}

export const targets: readonly FuzzTarget[] = [
  { name: 'recording/file', seeds: () => [match(5), match(14)], run: play },
  {
    name: 'recording/mended',
    seeds: () => [match(3), match(9), match(17)],
    run: (bytes) => play(mend(bytes)),
    allocationBytesMax: TABLES_BYTES_MAX,
  },
  {
    name: 'recording/range-coded',
    seeds: () => [match(3, 'entropy'), match(6, 'entropy')],
    run: (bytes) => play(mend(bytes)),
    allocationBytesMax: TABLES_BYTES_MAX,
  },
  rowBodies(),
  {
    name: 'recording/game-text',
    seeds: () =>
      [
        game.text,
        'tickRate 9\ninput {a:bool}\nentity 0 {v:vec2(0,1,0.1|0,2,0.5)=null;l:list(oneOf("a","b"),4)@owner;n:i64~velocity(v)=-5n}',
      ].map((line) => Uint8Array.from(line, (character) => character.charCodeAt(0))),
    run: (bytes) => void readGameText(String.fromCharCode(...bytes.subarray(0, 2000))),
  },
]
