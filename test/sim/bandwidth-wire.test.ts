/**
 * The profiler and the training measure the rows that are really sent. A match is sent to a client over a calm link and
 * recorded. Each row that the server then writes is one that `tickwire bandwidth` codes from the recording, against the
 * same baseline rows, in the same bits.
 */

import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import {
  angle, bool, defineGame, entity, entropy, fixed, int, math, openRecording, sourceOf, u8, type Game, type Priors,
} from 'tickwire'
import { measureBandwidth, MemorySink, trainRecording, type Recording } from 'tickwire/engine'
import { simulate } from 'tickwire/testing'
import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import type { FieldSet, MakeRowCoder, RowCoder, RowPair } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import type { SnapshotCodec } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import { readGameText } from '../../packages/tickwire/src/core/replay/game-text.ts'
import type { ValueStore } from '../../packages/tickwire/src/core/schema/values.ts'

const TICK_RATE = 60
const INPUT = { idle: bool }
/** The first entity. A reader that codes tick by tick reads the tick from it. */
const Clock = entity({ beat: int(0, 65_535) }, { name: 'Clock' })
/** Never at rest. */
const Runner = entity(
  { x: fixed(-500, 500, 0.02), y: fixed(-500, 500, 0.02), heading: angle(10), speed: fixed(-10, 10, 0.1), hp: u8 },
  { name: 'Runner' },
)
/** At rest, except for one tick now and then. */
const Lamp = entity({ hue: int(0, 999), glow: int(0, 999) }, { name: 'Lamp' })
const LAMP_TICKS = 60

type Note = (by: 'write' | 'account', pair: RowPair, text: string) => void

/**
 * Writes like the real coder, and records its calls: a sender calls `write`, a profiler calls `account`, and then
 * `write` with rows that were never sent.
 */
class NotingCoder implements RowCoder {
  readonly usesOlder: boolean
  readonly #coder: RowCoder
  readonly #laneCount: number
  readonly #note: Note

  constructor(coder: RowCoder, laneCount: number, note: Note) {
    this.usesOlder = coder.usesOlder === true
    this.#coder = coder
    this.#laneCount = laneCount
    this.#note = note
  }

  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const before = out.bitLength
    const isChanged = this.#coder.write(out, set, pair, heap)
    this.#note('write', pair, this.#textOf(pair, out.bitLength - before))
    return isChanged
  }

  account(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore, leafBits: Float64Array): boolean {
    const before = out.bitLength
    const isCounted = this.#coder.account?.(out, set, pair, heap, leafBits) === true
    this.#note('account', pair, this.#textOf(pair, out.bitLength - before))
    return isCounted
  }

  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    this.#coder.read(reader, set, pair, heap)
  }

  #textOf({ rows, at, baseRows, baseAt, age, olderRows, olderAt, olderTicks }: RowPair, bits: number): string {
    const lanes = (from: Int32Array, first: number): string => from.subarray(first, first + this.#laneCount).join(' ')
    const older = olderAt < 0 ? 'no older' : `${olderTicks} before it: ${lanes(olderRows, olderAt)}`
    return `${lanes(rows, at)} of ${age}: ${lanes(baseRows, baseAt)}, ${older}, ${bits} bits`
  }
}

type Notes = Map<number, string[]>

function noteAt(notes: Notes, tick: number, text: string): void {
  const of = notes.get(tick)
  if (of === undefined) notes.set(tick, [text])
  else of.push(text)
}

interface Play {
  readonly game: Game<typeof INPUT>
  /** The rows that were written, by tick. */
  readonly wire: Notes
  readonly recording: Recording
  readonly bits: number
  /** The rows that `watch.fieldBits` had examined at the end. */
  readonly looked: readonly string[]
}

interface PlayOptions {
  readonly priors?: Priors
  /** Runners stop, too, and turn in ways that no prediction foresees. */
  readonly isNoisy?: boolean
  /** Latency in each direction. */
  readonly latencyMs?: number
}

function play(
  snapshotRate: number,
  seed: number,
  seconds: number,
  { priors, isNoisy = false, latencyMs = 40 }: PlayOptions = {},
): Play {
  const wire: Notes = new Map()
  const looked: string[] = []
  let now = 0
  const plain = priors === undefined ? entropy() : entropy(priors)
  const codec: SnapshotCodec = {
    ...plain,
    make: (schema, rate) =>
      new NotingCoder(plain.make(schema, rate), schema.laneCount, (by, _pair, text) => {
        if (by === 'account') looked.push(text)
        else if (looked.length === 0) noteAt(wire, now, text)
      }),
  }
  const game = defineGame({
    tickRate: TICK_RATE, input: INPUT, entities: [Clock, Runner, Lamp], predict: 'none', codec, net: { snapshotRate },
    step(world) {
      now = world.tick
      if ([...world.each(Clock)].length === 0) {
        world.spawn(Clock, {})
        for (let count = 0; count < 12; count++)
          world.spawn(Runner, {
            x: 40 * count - 240,
            y: 30 * count - 180,
            heading: count + seed,
            speed: 4 + count / 3,
            hp: 100,
          })
        for (let count = 0; count < 4; count++) world.spawn(Lamp, { hue: count })
      }
      for (const clock of world.each(Clock)) clock.beat = now
      for (const runner of world.each(Runner)) {
        const { random } = world
        if (isNoisy && random.int(runner, 0, 60) === 0)
          runner.speed = random.int(runner, 0, 2) === 0 ? 0 : 4 + random.float(runner) * 4
        if (runner.speed > 0)
          runner.heading += math.sin(now / 40 + runner.id) * 0.02 + (isNoisy ? (random.float(runner) - 0.5) * 0.03 : 0)
        runner.x += (math.cos(runner.heading) * runner.speed) / TICK_RATE
        runner.y += (math.sin(runner.heading) * runner.speed) / TICK_RATE
        // So that no row repeats an earlier one.
        if (!isNoisy) runner.hp = (runner.hp + 1) % 256
      }
      for (const lamp of world.each(Lamp))
        if (now % LAMP_TICKS === 0) Object.assign(lamp, { hue: (lamp.hue + 37) % 1000, glow: (lamp.glow + 611) % 1000 })
    },
  })
  const sink = new MemorySink()
  const sim = simulate(game, { seed, clients: 1, link: { latencyMs } })
  sim.run(2000)
  const before = sim.host.bandwidth().bits
  const recorder = sim.host.record(sink)
  sim.run(seconds * 1000)
  recorder.close()
  const recording = openRecording(sourceOf(sink.bytes()))
  if (typeof recording === 'string') throw new Error(recording)
  const bits = sim.host.bandwidth().bits - before
  sim.host.watch.fieldBits(ageIn(wire.get(Math.max(...wire.keys()))!))
  return { game, wire, recording, bits, looked }
}

/** The rows that the profiler codes from a recording, by tick. */
function profile(recording: Recording, ageTicks: number): { readonly notes: Notes; readonly bits: number } {
  const notes: Notes = new Map()
  let now = 0
  const makeCoder: MakeRowCoder = (schema, rate) =>
    new NotingCoder(entropy().make(schema, rate), schema.laneCount, (by, pair, text) => {
      if (by === 'write') return
      if (schema.name === Clock.schema.name) now = pair.rows[pair.at]!
      noteAt(notes, now, text)
    })
  const game = readGameText(recording.head.text, recording.head.names)
  if (typeof game === 'string') throw new Error(game)
  return { notes, bits: measureBandwidth(recording, game, { ageTicks, makeCoder }).bits }
}

/** How old the baselines of a tick are: rows of objects at rest look younger. */
function ageIn(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => Number(/ of (\d+): /.exec(text)?.[1])))
}

const bitsOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Number(/(\d+) bits$/.exec(text)?.[1]), 0)

describe.each([
  [60, 1, 40],
  [30, 2, 40],
  [20, 3, 40],
  [60, 1, 2],
  [30, 2, 2],
  [20, 3, 2],
])('sent %d times a second', (snapshotRate, strideTicks, latencyMs) => {
  test(`[REC14] the profiler codes rows in the bits of the server: every ${strideTicks}, ${latencyMs} ms away`, () => {
    const { wire, recording } = play(snapshotRate, 5, 4, { latencyMs })
    const ages = new Map([...wire].map(([tick, texts]) => [tick, ageIn(texts)] as const))
    // A path of four and a half ticks has baselines that are five and four ticks old, in turn.
    const profiles = new Map(
      [...new Set(ages.values())]
        .filter((age) => age > 0 && age < TICK_RATE / 2)
        .map((age) => [age, profile(recording, age)] as const),
    )
    const recorded = [...profiles.values()][0]!.notes
    const [first, last] = [Math.min(...recorded.keys()), Math.max(...recorded.keys())]
    let lit = 0
    let compared = 0
    for (const [tick, texts] of wire) {
      const age = ages.get(tick)!
      if (tick < first + age + strideTicks || tick > last) continue
      expect(tick % strideTicks).toBe(0)
      compared++
      lit += texts.filter((text) => / of 1: .*, 1 before it: /.test(text)).length
      expect([...profiles.get(age)!.notes.get(tick)!].sort(), `tick ${tick}`).toEqual([...texts].sort())
    }
    expect(compared).toBeGreaterThan((3 * TICK_RATE) / strideTicks)
    expect(lit).toBeGreaterThan(0)
    expect(profiles.has(strideTicks), 'on short paths the snapshot before is the baseline').toBe(latencyMs < 10)
    for (const { notes, bits } of profiles.values()) {
      expect([...notes.keys()].every((tick) => tick % strideTicks === 0)).toBe(true)
      expect(bits).toBe([...notes.values()].reduce((sum, texts) => sum + bitsOf(texts), 0))
    }
  })
})

test.each([60, 30, 20])(
  '[BAND2] field costs of a running match are those of rows as they were sent: %d times a second',
  (snapshotRate) => {
    const { wire, looked } = play(snapshotRate, 5, 2)
    const last = Math.max(...wire.keys())
    const [age, strideTicks] = [ageIn(wire.get(last)!), TICK_RATE / snapshotRate]
    const isRunner = (text: string): boolean => text.split(' of ')[0]!.split(' ').length === Runner.schema.laneCount
    const sent = [...wire]
      .filter(([tick, texts]) => tick > last - TICK_RATE / 2 && ageIn(texts) === age)
      .flatMap(([, texts]) => texts)
      .filter(isRunner)
    expect(sent.length).toBeGreaterThan(12 * 4)
    expect(sent.filter((text) => !looked.includes(text))).toEqual([])
    const runners = looked.filter(isRunner)
    expect(runners.length).toBeLessThanOrEqual(12 * snapshotRate)
    // The row before the baseline of the oldest examined tick is no longer remembered.
    expect(
      runners
        .filter((text) => !text.includes(` of ${age}: `) || !text.includes(`, ${strideTicks} before it: `))
        .every((text) => text.includes('no older')),
    ).toBe(true)
  },
)

test('[CODEC14] tables trained on a match sent every tick save bytes on short paths too', () => {
  const { game, recording } = play(60, 7, 12, { isNoisy: true })
  const { priors } = trainRecording(recording, game, 1)
  for (const latencyMs of [2, 40]) {
    const [learnt, untrained] = [{ priors }, {}].map(
      (options) => play(60, 8, 4, { ...options, isNoisy: true, latencyMs }).bits,
    )
    expect(learnt!, `${latencyMs} ms`).toBeLessThan(untrained!)
  }
})

test.each(form([20], [30, 20]))(
  '[CODEC14] tables trained on rows as sent save more bytes than tables of every tick: sent %d times a second',
  (snapshotRate) => {
    const { game, recording } = play(snapshotRate, 7, 12, { isNoisy: true })
    const grid = trainRecording(recording, game, 1).priors
    const every = trainRecording(recording, { ...game, snapshotTicks: 1 }, 1).priors
    const [now, before, untrained] = [{ priors: grid }, { priors: every }, {}].map(
      (options) => play(snapshotRate, 8, 4, { ...options, isNoisy: true }).bits,
    )
    expect(now!).toBeLessThan(before!)
    expect(now!).toBeLessThan(untrained!)
  },
)
