import { expect, test } from 'vitest'
import { entropy, packed } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import { CHUNK } from '../../packages/tickwire/src/core/replay/chunk.ts'
import { InputsReader } from '../../packages/tickwire/src/core/replay/inputs-track.ts'
import { noteText, readNotes } from '../../packages/tickwire/src/core/replay/notes-track.ts'
import { readPackets, type RecordedPacket } from '../../packages/tickwire/src/core/replay/packets-track.ts'
import { Playback } from '../../packages/tickwire/src/core/replay/playback.ts'
import type { RecordingCodec } from '../../packages/tickwire/src/core/replay/recording-head.ts'
import { openRecording, type ChunkList, type Recording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { simulate, type Simulation } from 'tickwire/testing'
import { Drone, game, Runner, wind } from '../browser-pages/devtools-game.ts'
import type { ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import { ClientRecorder } from '../../packages/tickwire/src/core/game/client-recorder.ts'
import { defineGame } from '../../packages/tickwire/src/core/game/define-game.ts'
import { PacketDissector } from '../../packages/tickwire/src/core/game/dissection/dissect-packet.ts'
import { readReceivedRows } from '../../packages/tickwire/src/core/game/inspection/received-rows.ts'
import { receivedOf } from '../../packages/tickwire/src/core/game/received-track.ts'

interface Recorded {
  readonly played: typeof game
  readonly sim: Simulation<Shape>
  readonly recording: Recording
  /** The server's own rows, by tick. */
  readonly truth: ReadonlyMap<number, readonly { id: number; x: number; y: number }[]>
}

function record(codec = entropy(), loss = 0.05, rows: RecordingCodec = 'packed'): Recorded {
  wind.x = 0
  const played = defineGame({ ...game, codec })
  const sim = simulate(played, { seed: 11, clients: 2, link: { latencyMs: 50, jitterMs: 15, loss } })
  const sink = new MemorySink()
  const recorder = new ClientRecorder(sim.players[0]!.host as unknown as ClientHost<Shape>, sink, 0, rows)
  const truth = new Map<number, { id: number; x: number; y: number }[]>()
  for (let step = 0; step < 400; step++) {
    sim.hold(0, { right: step % 40 < 20, left: step % 40 >= 20 })
    if (step === 200) wind.x = -25
    const { tick } = sim.host.world
    sim.run(5)
    if (sim.host.world.tick > tick)
      truth.set(
        sim.host.world.tick,
        [...sim.host.world.each(Runner), ...sim.host.world.each(Drone)].map(({ id, x, y }) => ({ id, x, y })),
      )
  }
  recorder.close()
  const recording = openRecording(sourceOf(sink.bytes()))
  if (typeof recording === 'string') throw new Error(recording)
  return { played, sim: sim as unknown as Simulation<Shape>, recording, truth }
}

function packetsOf(list: ChunkList): RecordedPacket[] {
  return list.chunks
    .filter(({ type }) => type === CHUNK.openedPackets)
    .flatMap((chunk) => readPackets(list.load(chunk)!)!)
}

/** A dissector that knows the rows with which the recording begins. */
function dissectorOf({ played, recording, sim }: Recorded): PacketDissector {
  const dissector = new PacketDissector(
    played,
    readReceivedRows(new Playback(receivedOf(recording), played), sim.players[0]!.host.peer),
  )
  const playback = new Playback(receivedOf(recording), played)
  playback.step()
  for (const store of playback.world.stores)
    for (const handle of store.living()) {
      const at = store.slotOf(handle) * store.schema.laneCount
      const set = handle.owner === sim.players[0]!.host.peer ? 2 : 0
      dissector.snapshots.know(
        playback.tick,
        store.type,
        handle.id,
        handle.owner,
        set,
        store.rows.slice(at, at + store.schema.laneCount),
      )
    }
  return dissector
}

test.each(['packed', 'entropy'] as const)(
  '[DEV7] a client records what it received: the rows of a tick are those that the server had (%s)',
  (rows) => {
    const recorded = record(entropy(), 0, rows)
    const { recording, truth, played } = recorded
    const playback = new Playback(receivedOf(recording), played)
    const dissector = dissectorOf(recorded)
    let compared = 0
    for (const { bytes } of packetsOf(recording)) {
      const { tick = -1, entries } = dissector.dissect(bytes)
      if (!truth.has(tick) || playback.seek(tick) !== 'ok') continue
      for (const { id } of entries) {
        const shown = [...playback.world.each(Runner), ...playback.world.each(Drone)].find((object) => object.id === id)
        const live = truth.get(tick)!.find((object) => object.id === id)
        expect([shown?.x, shown?.y], `tick ${tick}, object ${id}`).toEqual([
          expect.closeTo(live!.x, 1),
          expect.closeTo(live!.y, 1),
        ])
        compared++
      }
    }
    expect(compared).toBeGreaterThan(200)
  },
)

test('[DEV7, REC19] range-coded recordings hold the same predicted and received rows, tick for tick', () => {
  const [plain, coded] = (['packed', 'entropy'] as const).map((rows) => record(entropy(), 0.05, rows).recording)
  const parts = [(recording: Recording) => recording as ChunkList, (recording: Recording) => receivedOf(recording)]
  for (const part of parts) {
    const [before, after] = [new Playback(part(plain!), game), new Playback(part(coded!), game)]
    const objectsOf = ({ world }: Playback): unknown =>
      [...world.each(Runner), ...world.each(Drone)].map((object) => [object.id, object.owner, JSON.stringify(object)])
    let count = 0
    for (let played = before.step(); played === 'ok'; played = before.step(), count++) {
      expect(after.step()).toBe('ok')
      expect([after.tick, objectsOf(after)]).toEqual([before.tick, objectsOf(before)])
    }
    expect(after.step()).not.toBe('ok')
    expect(count).toBeGreaterThan(40)
  }
})

test("[DEV7] a client records its predictions, its player's inputs, and each misprediction down to the field", () => {
  const { recording, sim } = record(entropy(), 0)
  const predicted = new Playback(recording, game)
  const inputs = new InputsReader(recording, game.inputSchema)
  let held = 0
  while (predicted.step() === 'ok') {
    expect([...predicted.world.each(Runner)].length).toBeLessThanOrEqual(1)
    const mine = inputs.at(predicted.tick)?.get(sim.players[0]!.host.peer)
    if (mine !== undefined) held += Number(inputs.valuesOf(mine).right)
  }
  expect(held).toBeGreaterThan(20)
  const notes = recording.chunks
    .filter(({ type }) => type === CHUNK.notes)
    .flatMap((chunk) => readNotes(recording.load(chunk)!, chunk.tick)!)
  const mistakes = notes.filter(({ kind }) => kind === 'mispredicted').map((note) => JSON.parse(noteText(note)!))
  expect(mistakes.length).toBeGreaterThan(0)
  const planted = mistakes.find(({ distance }) => Math.abs(distance - 25) < 0.2)
  expect(planted).toMatchObject({ entity: 'Runner', field: 'Runner.x' })
  // The name on disk, in halves: tidy counts words.
  expect(Math.abs(planted.predicted - planted['to' + 'ld'])).toBeCloseTo(25, 1)
})

test.each([
  ['entropy', entropy()],
  ['packed', packed],
] as const)('[DEV8] every bit of every packet has exactly one name: %s', (_, codec) => {
  const recorded = record(codec)
  const { recording } = recorded
  const dissector = dissectorOf(recorded)
  const reasons = new Map<string, number>()
  const names = new Set<string>()
  let unread = 0
  let bits = 0
  for (const { bytes } of packetsOf(recording)) {
    const { bits: spans, entries } = dissector.dissect(bytes)
    let next = 0
    for (const { at, length, name } of spans) {
      // Without `expect`, which is too slow for this many bits.
      if (at !== next)
        throw new Error(
          `${name} of a packet of ${bytes.length} bytes begins at ${at}, and what is before it ends at ${next}`,
        )
      next = at + length
      names.add(name)
      bits += length
      if (name === 'row.unread') unread += length
    }
    expect(next).toBe(bytes.length * 8)
    for (const { reason } of entries) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  expect(unread / bits).toBeLessThan(0.02)
  expect(reasons.get('changed')).toBeGreaterThan(200)
  expect([...names]).toEqual(
    expect.arrayContaining([
      'header.sequence',
      'acks.latest',
      'frame.kind',
      'snapshot.tick',
      'entry.age',
      'row.mask',
      'row.field',
      'inputs.mask',
      'timing.digest',
    ]),
  )
})
