/**
 * A match is recorded by its host and played again: rows give the hash of the live run, and inputs give the same rows
 * when the game is stepped with them again.
 */

import { expect, test } from 'vitest'
import { bool, defineGame, message, openRecording, Playback, Recorder, RecordingRing, sourceOf, text } from 'tickwire'
import {
  hashHex, InputsReader, MemorySink, readNotes, readPackets, RECORDING_CHUNK, StateHash, Timeline, type Recording,
} from 'tickwire/engine'
import { simulate } from 'tickwire/testing'
import { game, Player } from '../../games/hello/game.ts'

const opened = (bytes: Uint8Array): Recording => {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  return recording
}

test.each(['packed', 'entropy'] as const)(
  '[REC16] a demo replays identically: after every tick the hash is that of the live run (%s)',
  (codec) => {
    const sim = simulate(game, { seed: 7, clients: 3, link: { latencyMs: 60, jitterMs: 20, loss: 0.1 } })
    const { host } = sim
    const sink = new MemorySink()
    const recorder = host.record(sink, { codec })
    const hash = new StateHash(host.world)
    const truth = new Map<number, string>()
    for (let step = 0; step < 300; step++) {
      sim.hold(step % 3, { right: step % 5 < 3, up: step % 7 < 2, left: step % 11 === 0 })
      const before = host.world.tick
      sim.run(10)
      if (host.world.tick > before) truth.set(host.world.tick, hashHex(hash.update(), 0))
    }
    recorder.close()
    const recording = opened(sink.bytes())
    const playback = new Playback(recording, game)
    const played = new StateHash(playback.world)
    let compared = 0
    while (playback.step() === 'ok') {
      const live = truth.get(playback.tick)
      if (live === undefined) continue
      expect(hashHex(played.update(), 0), `tick ${playback.tick}`).toBe(live)
      compared++
    }
    expect([compared, recorder.tickCount]).toEqual([truth.size, playback.last - playback.first + 1])
    expect(compared).toBeGreaterThan(80)
  },
)

test('[REC16] the recorded inputs are those that step saw: stepped with them, the match is the same', () => {
  const sim = simulate(game, { seed: 3, clients: 2, link: { latencyMs: 30 } })
  const { host } = sim
  const sink = new MemorySink()
  const recorder = host.record(sink)
  for (let step = 0; step < 40; step++) {
    sim.hold(step % 2, { right: step % 3 === 0, down: step % 4 < 2 })
    sim.run(50)
  }
  recorder.close()
  const recording = opened(sink.bytes())
  const playback = new Playback(recording, game)
  const inputs = new InputsReader(recording, game.inputSchema)
  playback.step()
  const places = new Map([...playback.world.each(Player)].map((player) => [player.owner, { x: player.x, y: player.y }]))
  let moves = 0
  while (playback.step() === 'ok') {
    const held = inputs.at(playback.tick)!
    for (const player of playback.world.each(Player)) {
      const { left, right, up, down } = inputs.valuesOf(held.get(player.owner)!)
      const place = places.get(player.owner)!
      place.x = Math.min(640, Math.max(0, place.x + (Number(right) - Number(left)) * 6))
      place.y = Math.min(360, Math.max(0, place.y + (Number(down) - Number(up)) * 6))
      expect([player.x, player.y], `tick ${playback.tick}`).toEqual([
        expect.closeTo(place.x, 4),
        expect.closeTo(place.y, 4),
      ])
      moves += Number(right) + Number(down)
    }
  }
  expect(moves).toBeGreaterThan(20)
})

test('[REC16] clients that join and leave are noted, and the summary lists every client', () => {
  const sim = simulate(game, { seed: 5, clients: 2 })
  const { host } = sim
  const sink = new MemorySink()
  const recorder = host.record(sink)
  sim.hold(0, { right: true })
  sim.run(500)
  const bot = host.addBot(() => ({ left: true }))
  sim.run(300)
  host.kick(bot)
  sim.run(500)
  recorder.close()
  const recording = opened(sink.bytes())
  const notes = recording.chunks
    .filter(({ type }) => type === 5)
    .flatMap((chunk) => readNotes(recording.load(chunk)!, chunk.tick)!)
  expect(notes.map(({ kind, peer }) => [kind, peer])).toEqual([
    ['joined', bot.id],
    ['left', bot.id],
  ])
  const report = host.bandwidth()
  expect(report.clients.map(({ peer }) => peer)).toEqual(host.peers.map(({ id }) => id))
  expect(report.entities[0]!.bits).toBeGreaterThan(0)
  expect(host.watch.fieldBits(3).map(({ path }) => path)).toContain('entity.x')
  host.watch.resetBandwidth()
  expect(host.bandwidth().bits).toBe(0)
  const size = recorder.sizeBytes
  sim.run(1000)
  expect(recorder.sizeBytes).toBe(size)
})

test('[REC7] spectators with a delay of five seconds see a dense Timeline of the past, tick after tick', () => {
  const sim = simulate(game, { seed: 9, clients: 1 })
  const { host } = sim
  const ring = new RecordingRing({ windowMs: 8000 })
  const recorder = host.record(ring)
  expect(recorder).toBeInstanceOf(Recorder)
  const past = new Playback(ring, game)
  const timeline = new Timeline(past.world, 30)
  const xs = new Map<number, number>()
  for (let step = 0; step < 400; step++) {
    sim.hold(0, { right: step % 60 < 30, left: step % 60 >= 30 })
    const before = host.world.tick
    sim.run(1000 / 30)
    for (const player of host.world.each(Player)) xs.set(host.world.tick, player.x)
    if (host.world.tick === before || host.world.tick < past.first + 150) continue
    while (past.tick < host.world.tick - 150) {
      expect(past.step()).toBe('ok')
      timeline.sample()
    }
    for (const player of past.world.each(Player))
      if (xs.has(past.tick)) expect(player.x).toBeCloseTo(xs.get(past.tick)!, 5)
  }
  expect(timeline.newest).toBe(host.world.tick - 150)
})

const Chat = message({ text: text(40) }, 'Chat')
const talk = defineGame({
  tickRate: 30,
  input: { left: bool },
  entities: [Player],
  messages: [Chat],
  step: () => {},
  onJoin: (world, peer) => world.spawn(Player, {}, peer),
})

test('[REC16] messages with their sender and receiver are recorded, and every datagram on request', () => {
  const sim = simulate(talk, { seed: 4, clients: 2 })
  const { host } = sim
  const [first, second] = host.peers
  const sink = new MemorySink()
  const recorder = host.record(sink, { hasPackets: true })
  sim.run(100)
  sim.players[0]!.host.send(Chat, { text: 'hello' })
  host.send(second!, Chat, { text: 'psst' })
  host.broadcast(Chat, { text: 'all' })
  sim.run(200)
  recorder.close()
  const recording = opened(sink.bytes())
  const bodies = (type: number): readonly (readonly [number, Uint8Array])[] =>
    recording.chunks.filter((chunk) => chunk.type === type).map((chunk) => [chunk.tick, recording.load(chunk)!])
  const notes = bodies(RECORDING_CHUNK.notes).flatMap(([tick, body]) => readNotes(body, tick)!)
  expect(notes.map(({ kind, peer, bytes }) => [kind, peer, String.fromCharCode(...bytes.subarray(2))]).sort()).toEqual([
    ['received', first!.id, 'hello'], ['sent', 0, 'all'], ['sent', second!.id, 'psst'],
  ].sort())
  const packets = bodies(RECORDING_CHUNK.packets).flatMap(([, body]) => readPackets(body)!)
  for (const way of ['sent', 'received'] as const) {
    expect(new Set(packets.filter((packet) => packet.way === way).map(({ peer }) => peer))).toEqual(
      new Set([first!.id, second!.id]),
    )
  }
  const report = host.bandwidth()
  const sent = host.endpoint.connections.reduce((sum, { stats }) => sum + stats.bytesSent * 8, 0)
  expect(report.bits + report.otherBits).toBe(sent)
  expect(report.otherBits).toBeGreaterThan(0)
})
