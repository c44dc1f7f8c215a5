/**
 * The cost of recording a match, in bytes and in time, of playing it again, and of the count of sent bits.
 *
 * Two matches: the two walking players of hello; and the standard crowd (scenario.ts), 24 players that walk, stand,
 * jump and look around at 60 ticks a second. All fields of the rows are recorded. The comparison is a snapshot of the
 * whole world with 4 bytes for each number.
 */

import { parseArgs } from 'node:util'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { BitAccount } from '../packages/tickwire/src/core/bandwidth/bit-account.ts'
import { AllRelevant } from '../packages/tickwire/src/core/replication/interest/all-relevant.ts'
import { Replicator } from '../packages/tickwire/src/core/replication/replicator.ts'
import { SnapshotSource } from '../packages/tickwire/src/core/replication/snapshot-source.ts'
import { sourceOf } from '../packages/tickwire/src/core/replay/byte-source.ts'
import { Playback } from '../packages/tickwire/src/core/replay/playback.ts'
import { Recorder } from '../packages/tickwire/src/core/replay/recorder.ts'
import type { RecordingCodec } from '../packages/tickwire/src/core/replay/recording-head.ts'
import { openRecording } from '../packages/tickwire/src/core/replay/recording.ts'
import { MemorySink } from '../packages/tickwire/src/core/replay/recording-memory.ts'
import { entity, type Entity } from '../packages/tickwire/src/core/schema/definition.ts'
import { fixed, int, u8 } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import type { Handle } from '../packages/tickwire/src/core/world/handle.ts'
import { Timeline } from '../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../packages/tickwire/src/core/world/world.ts'
import { gameOf } from '../test/reference/recording-games.ts'
import { allocatedBytes, median, type Bench, type BenchResult, type Table } from './harness.ts'
import { CROWD_SHAPE } from './scenario/crowd-rows.ts'
import { FIELD_BITS, FIELD_COUNT, FIELD_MIN, FIELDS, makeCrowd } from './scenario.ts'

const Walker = entity(CROWD_SHAPE, { name: 'Walker' })
/** Converts a field of the frame to the live value of a walker. */
const CELL_SCALES: readonly number[] = [
  1 / 512,
  1 / 512,
  1 / 512,
  1 / 64,
  1 / 64,
  1 / 64,
  (2 * Math.PI) / 4096,
  1,
  1,
  1,
]
/** The same entity without roles on its fields. */
const Plain = entity(
  Object.fromEntries(FIELDS.map((name, at) => [name, int(FIELD_MIN[at]!, FIELD_MIN[at]! + 2 ** FIELD_BITS[at]! - 1)])),
  { name: 'Plain' },
)
const Player = entity({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1), hue: u8 }, { name: 'Player' })

const CODECS: readonly RecordingCodec[] = ['packed', 'entropy']
const NO_SINK = { write: () => true }

/** A match that plays by itself. */
interface Match {
  readonly name: string
  readonly entities: readonly Entity[]
  readonly tickRate: number
  readonly world: World
  step(tick: number): void
}

function hello(): Match {
  const world = new World([Player])
  const players = [1, 2].map((owner) => world.spawn(Player, { x: 320, y: 180, hue: owner * 47 }, owner))
  return {
    name: 'hello, 2 players at 30 Hz', entities: [Player], tickRate: 30, world,
    step: (tick) => players.forEach((player, at) => {
      // Two seconds to the right, two to the left, one of rest.
      const phase = (tick + at * 40) % 150
      player.x += phase < 60 ? 6 : phase < 120 ? -6 : 0
    }),
  }
}

function crowd(players: number, ticks: number, isPlain = false): Match {
  const Person = (isPlain ? Plain : Walker) as Entity
  const scales = isPlain ? FIELDS.map(() => 1) : CELL_SCALES
  const world = new World([Person])
  const frames = makeCrowd(players, ticks)
  const walkers = Array.from({ length: players }, (_, at) => world.spawn(Person, {}, at + 1) as unknown as Handle)
  return {
    name: `the crowd, ${players} players at 60 Hz${isPlain ? ', plain ints' : ''}`,
    entities: [Person],
    tickRate: 60,
    world,
    step(tick) {
      const frame = frames[tick % frames.length]!
      walkers.forEach((walker, at) => {
        for (let field = 0; field < FIELD_COUNT; field++)
          walker.$cells[field] = frame[at * FIELD_COUNT + field]! * scales[field]!
      })
    },
  }
}

function play({ world, step }: Match, after: () => void): void {
  world.beginTick()
  step(world.tick)
  world.endTick()
  after()
}

/** Bytes and time of recording one match. */
function record(match: Match, ticks: number, codec: RecordingCodec): readonly (string | number)[] {
  const game = gameOf(match.entities, match.tickRate)
  const sink = new MemorySink()
  const recorder = new Recorder(game, match.world, { sink, codec })
  const times: number[] = []
  for (let tick = 0; tick < ticks; tick++) {
    play(match, () => {
      const start = performance.now()
      recorder.tick()
      times.push(performance.now() - start)
    })
  }
  recorder.close()
  const bytes = sink.bytes()
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  const playback = new Playback(recording, game)
  const start = performance.now()
  while (playback.step() === 'ok');
  const playedMs = performance.now() - start
  const seeks = Array.from({ length: 50 }, (_, at) => {
    const begin = performance.now()
    playback.seek(1 + ((at * 7919) % ticks))
    return performance.now() - begin
  })
  const lanes = match.world.stores.reduce((sum, store) => sum + store.count * store.schema.laneCount, 0)
  const heap = new Recorder(game, match.world, { sink: NO_SINK, codec })
  const heapBytes = allocatedBytes(
    () => {
      for (let tick = 0; tick < 600; tick++) play(match, () => heap.tick())
    },
    600,
    5,
  )
  return [
    match.name,
    codec,
    bytes.length / ticks,
    lanes * 4,
    1000 * median(times.toSorted((a, b) => a - b)),
    (1000 * times.reduce((sum, each) => sum + each, 0)) / ticks,
    heapBytes,
    (1000 * playedMs) / ticks,
    median(seeks.toSorted((a, b) => a - b)),
  ]
}

/** One tick of snapshots to all clients, with and without the count of bits, in turns. */
function account(
  players: number,
  ticks: number,
): { readonly nsPerEntry: number; readonly share: number; readonly tickUs: number } {
  const match = crowd(players, ticks)
  const { world } = match
  const timeline = new Timeline(world, 64)
  const replicator = new Replicator(world, timeline)
  const sources = Array.from(
    { length: players },
    (_, at) => new SnapshotSource(replicator, new AllRelevant(world, at + 1), at + 1),
  )
  const bits = new BitAccount(world)
  const out = new BitWriter(new Uint8Array(1200))
  /** Milliseconds by block of ticks: without, with, without, … */
  const spent: number[] = []
  let sequence = 0
  for (let tick = 0; tick < ticks * 2; tick++) {
    play(match, () => timeline.sample())
    // Blocks of ticks instead of single ticks: a turn must be longer than the resolution of the clock.
    const isOn = (tick >>> 3) % 2 === 1
    replicator.probe = isOn ? bits : undefined
    const start = performance.now()
    for (const source of sources) {
      source.begin()
      for (let more = true; more; ) {
        out.reset(out.bytes)
        more = source.fill(0, ++sequence, out)
        if (more) source.onDelivered(0, sequence)
      }
    }
    const block = (tick - ticks) >> 3
    if (block >= 0) spent[block] = (spent[block] ?? 0) + performance.now() - start
  }
  const pairs = Array.from({ length: spent.length >> 1 }, (_, at) => [spent[2 * at]!, spent[2 * at + 1]!] as const)
  const share = median(pairs.map(([off, on]) => on / off).sort((a, b) => a - b)) - 1
  const offUs = median(pairs.map(([off]) => (1000 * off) / 8).sort((a, b) => a - b))
  replicator.settle()
  const entries = bits.report().entities.reduce((sum, entity) => sum + entity.entries, 0) / ticks
  return { nsPerEntry: (1000 * offUs * share) / entries, share, tickUs: offUs }
}

/** The count of bits alone: one entry after the other, of clients in turn. */
function accountAlone(): number {
  const bits = new BitAccount(new World([Walker]))
  const rounds = Array.from({ length: 20 }, () => {
    const start = performance.now()
    for (let entry = 0; entry < 1_000_000; entry++) bits.onEntry((entry >>> 5) & 31, entry & 31, 0, entry % 5, 40)
    return performance.now() - start
  })
  return median(rounds.toSorted((a, b) => a - b))
}

export const bench: Bench = {
  name: 'recording',
  summary: 'bytes and time of recording a match, of playing it again, and of counting every bit sent',
  options: ['--ticks N       (default 3600)'],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { ticks: { type: 'string', default: '3600' } } })
    return run(Number(values.ticks))
  },
}

function run(ticks: number): BenchResult {
  const short = Math.min(ticks, 600)
  const matches = CODECS.map(
    (codec) =>
      [
        record(hello(), ticks, codec),
        record(crowd(24, ticks), ticks, codec),
        record(crowd(24, ticks, true), ticks, codec),
        record(crowd(200, short), short, codec),
        record(crowd(1000, short), short, codec),
      ] as const,
  )
  const [[, packedCrowd], [, entropyCrowd]] = [matches[0]!, matches[1]!]
  const counted = account(24, ticks)
  const recorded: Table = {
    title: `${ticks} ticks`,
    columns: [
      'match',
      'codec',
      'bytes a tick',
      'plain rows',
      'us a tick',
      'flushes spread',
      'heap B a tick',
      'us to play a tick',
      'ms to seek',
    ],
    rows: matches[0]!.flatMap((row, at) => [row, matches[1]![at]!]),
  }
  return {
    tables: [recorded],
    figures: [
      {
        name: 'recording_crowd_bytes_per_tick',
        value: Number(packedCrowd[2]),
        unit: 'B/tick',
        against: `plain rows, ${packedCrowd[3]} B`,
      },
      { name: 'recording_crowd_us_per_tick', value: Number(packedCrowd[4]), unit: 'us/tick', against: null },
      {
        name: 'recording_crowd_entropy_bytes_per_tick',
        value: Number(entropyCrowd[2]),
        unit: 'B/tick',
        against: `packed, ${Number(packedCrowd[2]).toFixed(1)} B`,
      },
      {
        name: 'recording_crowd_entropy_us_per_tick',
        value: Number(entropyCrowd[4]),
        unit: 'us/tick',
        against: `packed, ${Number(packedCrowd[4]).toFixed(1)} us`,
      },
      { name: 'account_ns_per_entry', value: accountAlone(), unit: 'ns', against: null },
      { name: 'account_ns_per_entry_in_place', value: counted.nsPerEntry, unit: 'ns', against: 'no account' },
      {
        name: 'account_share_of_snapshots',
        value: counted.share,
        unit: `of ${counted.tickUs.toFixed(0)} us`,
        against: 'no account',
        atMost: 0.1,
      },
    ],
  }
}
