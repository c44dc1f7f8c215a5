import { expect, test } from 'vitest'
import { gameOf, opened } from '../../../../../test/reference/recording-games.ts'
import { entropy } from '../codec/snapshot-codec.ts'
import { entity } from '../schema/definition.ts'
import { angle, bool, bytes, group, list, ref, text, u8, vec2 } from '../schema/field-kinds.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { CHUNK } from './chunk.ts'
import { Playback } from './playback.ts'
import { Recorder, type RecorderOptions } from './recorder.ts'
import { CODEC, type RecordingCodec } from './recording-head.ts'
import { MemorySink } from './recording-memory.ts'
import { RecordingRing } from './recording-ring.ts'

const Boat = entity(
  {
    at: vec2(-500, 500, 0.01).position(),
    speed: vec2(-20, 20, 0.01).velocity(),
    heading: angle(12),
    name: text(12),
    crew: list(ref(), 3),
    sails: group({ count: u8, torn: bool }),
    plan: u8.owner(),
    luck: u8.server(),
  },
  { name: 'Boat' },
)
const game = gameOf([Boat], 60)

/** A harbour in which boats sail, rest, are renamed, change hands, sink and are launched. */
function harbour(
  boats: number,
  ticks: number,
  options: Partial<RecorderOptions>,
  see: (world: World) => void = () => {},
): Recorder {
  const world = new World([Boat], { seed: 4 })
  const recorder = new Recorder(game, world, { sink: new MemorySink(), ...options })
  const { prng } = world
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    const launched = tick === 1 ? boats : tick % 13 === 0 ? 1 : 0
    for (let count = 0; count < launched; count++)
      world.spawn(
        Boat,
        { at: { x: prng.nextInt(-400, 400), y: count }, name: `b${count}`, luck: tick % 256 },
        count % 5,
      )
    for (const boat of world.each(Boat)) {
      const fate = prng.nextInt(0, 999)
      if (fate < 20) boat.speed = { x: prng.nextFloat() * 20 - 10, y: prng.nextFloat() * 20 - 10 }
      else if (fate < 60) boat.speed = { x: 0, y: 0 }
      else if (fate < 64) boat.name = `n${tick % 7}`
      else if (fate < 68) boat.sails = boat.sails === null ? { count: 3, torn: fate % 2 === 0 } : null
      else if (fate < 71) boat.at = { x: prng.nextInt(-400, 400), y: prng.nextInt(-400, 400) }
      else if (fate < 74) boat.crew = [boat.id]
      else if (fate < 77) boat.plan = tick % 256
      boat.at = {
        x: Math.max(-500, Math.min(500, boat.at.x + boat.speed.x / 60)),
        y: Math.max(-500, Math.min(500, boat.at.y + boat.speed.y / 60)),
      }
      if (boat.speed.x !== 0) boat.heading += 0.01
      if (fate === 500) world.setOwner(boat, tick)
      if (fate === 501) world.despawn(boat)
    }
    world.endTick()
    recorder.tick()
    see(world)
  }
  return recorder
}

const stateOf = (world: World): string =>
  JSON.stringify([...world.each(Boat)].map((boat) => [boat.id, boat.owner, boat]))

function recorded(
  codec: RecordingCodec,
  boats: number,
  ticks: number,
  options: Partial<RecorderOptions> = {},
): Uint8Array {
  const sink = new MemorySink()
  harbour(boats, ticks, { sink, codec, ...options }).close()
  return sink.bytes()
}

test('[REC19] range-coded, a match plays back the same, tick for tick, in about half the bytes', () => {
  for (const fields of ['everything', 'all', 'owner'] as const) {
    const files = (['packed', 'entropy'] as const).map((codec) => recorded(codec, 60, 240, { fields }))
    const [plain, coded] = files.map((file) => new Playback(opened(file), game))
    expect(files.map((file) => opened(file).head.codec)).toEqual([CODEC.packed, CODEC.entropy])
    expect(opened(files[1]!).chunks.map(({ type, flags, tick }) => [type, flags, tick])).toEqual(
      opened(files[0]!).chunks.map(({ type, flags, tick }) => [type, flags, tick]),
    )
    for (let tick = 1; tick <= 240; tick++) {
      expect([plain!.step(), coded!.step()]).toEqual(['ok', 'ok'])
      expect(stateOf(coded!.world)).toBe(stateOf(plain!.world))
      expect([...coded!.world.prng.state]).toEqual([...plain!.world.prng.state])
    }
    expect(files[1]!.length).toBeLessThan(files[0]!.length * 0.6)
  }
})

test('[REC20] playback from any key is the same, whatever was read before', () => {
  const file = recorded('entropy', 20, 400, { keyMs: 700, flushMs: 300 })
  const truth = new Playback(opened(file), game)
  const states = Array.from({ length: 400 }, () => {
    truth.step()
    return stateOf(truth.world)
  })
  const jumping = new Playback(opened(file), game)
  for (let jump = 0; jump < 60; jump++) {
    const tick = 1 + ((jump * 7919) % 400)
    expect(jumping.seek(tick)).toBe('ok')
    for (let step = 0; step < 8 && jumping.tick < 400; step++) {
      expect(stateOf(jumping.world)).toBe(states[jumping.tick - 1])
      jumping.step()
    }
  }
})

test('[REC20] a recorder gives the same bytes with a Timeline that other code samples as with its own', () => {
  const world = new World([Boat])
  const timeline = new Timeline(world, 32)
  const [own, shared] = [new MemorySink(), new MemorySink()]
  const recorders = [
    new Recorder(game, world, { sink: own, codec: 'entropy' }),
    new Recorder(game, world, { sink: shared, codec: 'entropy', timeline }),
  ]
  for (let tick = 1; tick <= 90; tick++) {
    world.beginTick()
    if (tick % 9 === 1) world.spawn(Boat, { speed: { x: tick / 10, y: 1 } })
    for (const boat of world.each(Boat)) boat.at.x += boat.speed.x / 60
    world.endTick()
    timeline.sample()
    for (const recorder of recorders) recorder.tick()
  }
  for (const recorder of recorders) recorder.close()
  expect(shared.bytes()).toEqual(own.bytes())
})

test('[REC12, REC19] a ring of range-coded rows can be played while it grows, and saved', () => {
  const ring = new RecordingRing({ windowMs: 2000 })
  const late: { playback?: Playback } = {}
  const states = new Map<number, string>()
  const recorder = harbour(10, 400, { sink: ring, codec: 'entropy' }, (world) => {
    states.set(world.tick, stateOf(world))
    late.playback ??= ring.chunks.length > 0 ? new Playback(ring, game) : undefined!
    while (late.playback !== undefined && late.playback.tick < world.tick - 60 && late.playback.step() === 'ok')
      expect(stateOf(late.playback.world)).toBe(states.get(late.playback.tick))
  })
  expect(late.playback!.tick).toBeGreaterThan(300)
  const saved = opened(recorder.save()!)
  expect(saved.chunks.length).toBeLessThan(20)
  const playback = new Playback(saved, game)
  while (playback.step() === 'ok') expect(stateOf(playback.world)).toBe(states.get(playback.tick))
  expect(playback.tick).toBe(400)
})

test('[REC5, REC19] a tick that does not fit into a chunk is written again into the next, and reads the same', () => {
  const file = recorded('entropy', 3000, 12, { flushMs: 60_000, keyMs: 60_000 })
  const { chunks } = opened(file)
  expect(chunks.filter(({ type }) => type === CHUNK.rows).map(({ length }) => length)).toEqual([expect.any(Number)])
  expect(chunks[0]!.length).toBeGreaterThan(16_384)
  const playback = new Playback(opened(file), game)
  harbour(3000, 12, {}, (world) => {
    expect(playback.step()).toBe('ok')
    expect(stateOf(playback.world)).toBe(stateOf(world))
  })
})

test.each(['packed', 'entropy'] as const)(
  '[REC5] a tick too large for any chunk is lost, up to the next key, and earlier ticks are not (%s)',
  (codec) => {
    const Hoard = entity({ gold: bytes(16_383), count: u8 }, { name: 'Hoard' })
    const world = new World([Hoard])
    const sink = new MemorySink()
    const recorder = new Recorder(gameOf([Hoard]), world, { sink, codec, flushMs: 1000, keyMs: 5000 })
    const gold = (tick: number, at: number, size: number): Uint8Array => {
      const made = new Uint8Array(size)
      for (let place = 0; place < size; place++) made[place] = tick + at * 7 + (place >>> 8)
      return made
    }
    for (let tick = 1; tick <= 8; tick++) {
      world.beginTick()
      if (tick === 1) for (let count = 0; count < 1100; count++) world.spawn(Hoard, {})
      ;[...world.each(Hoard)].forEach((hoard, at) => {
        hoard.gold = gold(tick, at, tick === 4 ? 16_383 : 5)
        hoard.count = tick
      })
      world.endTick()
      recorder.tick()
    }
    recorder.close()
    expect([recorder.tickCount, recorder.lostTicks]).toEqual([7, 1])
    const playback = new Playback(opened(sink.bytes()), gameOf([Hoard]))
    for (const tick of [1, 2, 3, 5, 6, 7, 8]) {
      expect(playback.seek(tick)).toBe('ok')
      expect(
        [...playback.world.each(Hoard)].every(
          ({ count, gold: held }, at) => count === tick && held.join() === gold(tick, at, 5).join(),
        ),
      ).toBe(true)
    }
  },
)

test('[REC11] an unknown codec, and a Timeline that is too short for the codec, are refused by name', () => {
  const world = new World([Boat])
  const make = (options: object) => () => new Recorder(game, world, { sink: new MemorySink(), ...options })
  expect(make({ codec: 'zip' })).toThrow('codec: unknown codec "zip"')
  expect(make({ codec: 'toString' })).toThrow("give 'packed' or 'entropy'")
  expect(make({ codec: 'entropy', timeline: new Timeline(world, 2) })).toThrow(
    'timeline: too short (expected at least 3 ticks, got 2)',
  )
  expect(make({ codec: 'packed', timeline: new Timeline(world, 2) })).not.toThrow()
})

test('[REC19] the codec number stands for these tables: other tables need another number, and these must stay', () => {
  expect([entropy().text, CODEC]).toEqual(['entropy(2)', { packed: 0, entropy: 1 }])
})
