import { describe, expect, test } from 'vitest'
import { form } from '../../../../../test/form.ts'
import { gameOf, opened } from '../../../../../test/reference/recording-games.ts'
import {
  happened, makeGame, makePieces, PlayedWorld, playTick, type RandomGame,
} from '../../../../../test/reference/world-games.ts'
import { hashHex } from '../base/hash.ts'
import { entity } from '../schema/definition.ts'
import { fixed, group, text, u8 } from '../schema/field-kinds.ts'
import { StateHash } from '../world/state-hash.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { sourceOf } from './byte-source.ts'
import { Playback } from './playback.ts'
import { Recorder, type RecordableGame, type RecorderOptions } from './recorder.ts'
import { openRecording } from './recording.ts'
import { MemorySink } from './recording-memory.ts'

/** The content of a world as text, without external state. */
const contentOf = (hash: StateHash, world: World): string => {
  hash.update()
  return `${world.tick} ${hashHex(hash.entities.nodes, 0)} ${world.prng.state.join()}`
}

/** Plays a random game to its end. Returns its content after each tick, and its recording. */
function play(
  game: RandomGame,
  options: Partial<RecorderOptions> = {},
): { recorded: RecordableGame; bytes: Uint8Array; truth: string[] } {
  const played = new PlayedWorld(game)
  const recorded = gameOf(game.pieces.map((piece) => piece.entity))
  const sink = new MemorySink()
  const recorder = new Recorder(recorded, played.world, { sink, flushMs: 200, keyMs: 400, ...options })
  const hash = new StateHash(played.world)
  const truth: string[] = []
  for (let tick = 1; tick <= game.ticks; tick++) {
    played.world.beginTick()
    playTick(game, tick, 0, played)
    played.world.endTick()
    recorder.tick()
    truth[tick] = contentOf(hash, played.world)
  }
  recorder.close()
  expect([recorder.tickCount, recorder.lostTicks, recorder.refusedCount]).toEqual([game.ticks, 0, 0])
  return { recorded, bytes: sink.bytes(), truth }
}

const pieces = makePieces(11)

const CODECS = ['packed', 'entropy'] as const

describe.each(CODECS)('random games of every field kind, %s', (codec) => {
  test.each([0, 1, 2, 3])(
    '[REC1] play back as they were, tick for tick, and after a seek to any tick (part %i)',
    (part) => {
      for (let seed = part * 100; seed < part * 100 + (codec === 'packed' ? form(8, 100) : form(4, 40)); seed++) {
        const game = { ...makeGame(pieces, seed), ticks: 12 }
        const { recorded, bytes, truth } = play(game, { codec })
        const playback = new Playback(opened(bytes), recorded)
        const hash = new StateHash(playback.world)
        expect([playback.first, playback.last]).toEqual([1, game.ticks])
        for (let tick = 1; tick <= game.ticks; tick++) {
          expect(playback.step()).toBe('ok')
          expect(contentOf(hash, playback.world), `seed ${seed}`).toBe(truth[tick])
        }
        expect(playback.step()).toBe('missing')
        for (let jump = 0; jump < 12; jump++) {
          const tick = 1 + ((jump * 7 + seed) % game.ticks)
          expect(playback.seek(tick)).toBe('ok')
          expect(contentOf(hash, playback.world), `seed ${seed}, seek ${tick}`).toBe(truth[tick])
        }
      }
      expect(happened).toMatchObject({ spawns: expect.any(Number), despawns: expect.any(Number) })
    },
  )

  test('[REC2] every truncation of a file plays up to its last whole chunk, and reports how it ends', () => {
    const { recorded, bytes, truth } = play({ ...makeGame(pieces, 5), ticks: 25 }, { codec })
    const whole = opened(bytes)
    const headEnd = whole.chunks[0]!.offset
    let lastTick = 0
    for (let size = 0; size <= bytes.length; size++) {
      const recording = openRecording(sourceOf(bytes.slice(0, size)))
      if (size < headEnd) {
        expect(recording).toBe(size < 12 ? 'not-a-recording' : 'damaged-head')
        continue
      }
      if (typeof recording === 'string') throw new Error(`${size}: ${recording}`)
      expect(recording.end).toBe(size === bytes.length ? 'closed' : recording.tornBytes === 0 ? 'open' : 'torn')
      const playback = new Playback(recording, recorded)
      expect(playback.last).toBeGreaterThanOrEqual(lastTick === 0 ? -1 : lastTick)
      if (playback.last === -1 || (playback.last === lastTick && size < bytes.length)) continue
      lastTick = playback.last
      const hash = new StateHash(playback.world)
      for (let tick = 1; tick <= lastTick; tick++) {
        expect(playback.step()).toBe('ok')
        expect(contentOf(hash, playback.world)).toBe(truth[tick])
      }
    }
    expect(lastTick).toBe(25)
  })
})

describe.each(CODECS)('long games, %s', (codec) => {
  test('[REC3] a damaged byte in the middle loses only its chunk, and playback continues at the next key', () => {
    const { recorded, bytes, truth } = play({ ...makeGame(pieces, 9), ticks: 40 }, { codec })
    const { chunks } = opened(bytes)
    for (const spot of chunks) {
      const damaged = bytes.slice()
      damaged[spot.offset + 13]! ^= 1
      // By the index, which is whole, and by reading everything, when the index is gone.
      for (const each of [damaged, damaged.slice(0, -1)]) {
        const playback = new Playback(opened(each), recorded)
        const hash = new StateHash(playback.world)
        const seen: number[] = []
        for (let tick = 1; tick <= 40; tick++) {
          if (playback.seek(tick) !== 'ok') continue
          seen.push(tick)
          expect(contentOf(hash, playback.world)).toBe(truth[tick])
        }
        expect(seen.length).toBeGreaterThanOrEqual(40 - 4)
        expect(seen.length).toBeLessThan(40)
        expect(seen.at(-1)! >= 40 - 4).toBe(true)
      }
    }
  })

  test('[REC1] play back as they were when many ticks pass without a key', () => {
    for (let seed = 500; seed < form(507, 520); seed++) {
      const game = { ...makeGame(pieces, seed), ticks: 60 }
      const { recorded, bytes, truth } = play(game, { codec, flushMs: 100 + (seed % 7) * 300, keyMs: 2500 })
      const playback = new Playback(opened(bytes), recorded)
      const hash = new StateHash(playback.world)
      for (let tick = 1; tick <= game.ticks; tick++) {
        expect(playback.step()).toBe('ok')
        expect(contentOf(hash, playback.world), `seed ${seed}`).toBe(truth[tick])
      }
    }
  })
})

const Ball = entity(
  { x: fixed(0, 100, 0.1), label: text(20), shield: group({ hp: u8 }), secret: u8.server(), plan: u8.owner() },
  { name: 'Ball' },
)

/** Ten seconds of three balls, in a sink. */
function playTheBalls(
  sink: RecorderOptions['sink'],
  options: Partial<RecorderOptions> = {},
  ticks = 100,
): { recorder: Recorder; world: World } {
  const world = new World([Ball])
  const recorder = new Recorder(gameOf([Ball]), world, { sink, ...options })
  for (let tick = 1; tick <= ticks; tick++) {
    world.beginTick()
    if (tick === 1)
      for (const owner of [1, 2, 3]) world.spawn(Ball, { x: owner, label: 'a', secret: 7, plan: owner }, owner)
    for (const ball of world.each(Ball)) ball.x += 0.3
    if (tick === 50) for (const ball of world.each(Ball)) ball.label = `b${ball.owner}`
    world.endTick()
    recorder.tick()
  }
  return { recorder, world }
}

describe.each(CODECS)('a recording, %s', (codec) => {
  const playBalls = (sink: RecorderOptions['sink'], options: Partial<RecorderOptions> = {}) =>
    playTheBalls(sink, { codec, ...options })

  test('[REC4] has only the requested fields, and no generator state', () => {
    for (const [fields, secret, plan] of [
      ['everything', 7, 1],
      ['owner', 0, 1],
      ['team', 0, 0],
      ['all', 0, 0],
    ] as const) {
      const sink = new MemorySink()
      playBalls(sink, { fields }).recorder.close()
      const recording = opened(sink.bytes())
      expect(recording.head.fields).toBe(fields)
      const playback = new Playback(recording, gameOf([Ball]))
      playback.seek(60)
      const [ball] = [...playback.world.each(Ball)]
      expect([ball!.secret, ball!.plan, ball!.label, ball!.x]).toEqual([secret, plan, 'b1', 19])
    }
  })

  test('[REC5] a sink that refuses loses the ticks up to the next key, which are counted, and nothing else', () => {
    const memory = new MemorySink()
    let chunks = 0
    const { recorder } = playBalls({
      write: (bytes, chunk) => (chunk?.type === 2 && [3, 4, 9].includes(++chunks) ? false : memory.write(bytes)),
    })
    recorder.close()
    expect([recorder.refusedCount, recorder.lostTicks + recorder.tickCount]).toEqual([3, 100])
    expect(recorder.lostTicks).toBeGreaterThan(0)
    const recording = opened(memory.bytes())
    expect(recording.end).toBe('closed')
    const playback = new Playback(recording, gameOf([Ball]))
    const seen = new Set<number>()
    for (let tick = playback.first; tick !== -1; tick = playback.keyAfter(playback.tick)) {
      for (let played = playback.seek(tick); played === 'ok'; played = playback.step()) {
        seen.add(playback.tick)
        expect([...playback.world.each(Ball)].map(({ x }) => x)).toEqual(
          [1, 2, 3].map((start) => expect.closeTo(start + playback.tick * 0.3, 5)),
        )
      }
    }
    expect(seen.size).toBe(recorder.tickCount)
  })
})

describe.each(CODECS)('a recording of a different game, %s', (codec) => {
  const playBalls = (sink: RecorderOptions['sink']) => playTheBalls(sink, { codec })

  test('[REC6] is refused, and the error names the game', () => {
    const sink = new MemorySink()
    playBalls(sink).recorder.close()
    const Other = entity({ y: u8 })
    expect(() => new Playback(opened(sink.bytes()), gameOf([Other]))).toThrow('game: the recording is of another game')
    expect(() => new Playback(opened(sink.bytes()), { entities: [] })).toThrow('readGameText')
  })

  test('[REC7] fills a sparse Timeline, and its world a dense one', () => {
    const sink = new MemorySink()
    playBalls(sink).recorder.close()
    const playback = new Playback(opened(sink.bytes()), gameOf([Ball]))
    const received = new Timeline(playback.world, 16)
    const sampled = new Timeline(playback.world, 16)
    playback.seek(30)
    for (; playback.tick < 70; playback.step()) {
      playback.writeTo(received)
      sampled.sample()
    }
    const { id } = [...playback.world.each(Ball)][1]!
    for (const timeline of [received, sampled]) {
      expect(timeline.newest).toBe(69)
      expect([54, 60, 69].map((tick) => timeline.read(Ball, id, tick, 'x'))).toEqual(
        [18.2, 20, 22.7].map((x) => expect.closeTo(x, 5)),
      )
      expect(timeline.read(Ball, id, 60, 'label')).toBe('b2')
      expect(timeline.owner(0, id, 60)).toBe(2)
    }
  })

  test('[REC8] chunks of an unknown kind are skipped', () => {
    const sink = new MemorySink()
    playBalls(sink).recorder.close()
    const bytes = sink.bytes()
    const { chunks } = opened(bytes)
    const at = chunks[3]!.offset
    const stranger = MemorySink.chunk(200, 5, new Uint8Array(70_000))
    const longer = new Uint8Array([...bytes.slice(0, at), ...stranger, ...bytes.slice(at)])
    const playback = new Playback(opened(longer), gameOf([Ball]))
    expect([playback.first, playback.last, playback.seek(100)]).toEqual([1, 100, 'ok'])
  })
})
