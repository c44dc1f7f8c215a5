/**
 * A match, recorded by its client and by its server: the inspector explains a misprediction, and lists what packets
 * held.
 */

import { expect, test } from 'vitest'
import { openRecording, sourceOf } from 'tickwire'
import { ClientRecorder, Inspection, MemorySink, type ClientHost, type Recording } from 'tickwire/engine'
import { simulate } from 'tickwire/testing'
import { Fighter, STICK } from '../../games/arena/definitions.ts'
import { game } from '../../games/arena/game.ts'

const opened = (bytes: Uint8Array): Recording => {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  return recording
}

/** Plays arena with one recorder on each side; `plant` causes a fault half-way. */
function playArena(plant: (sim: ReturnType<typeof simulate<typeof game.input>>) => void): {
  inspection: Inspection
  alone: Inspection
} {
  const sim = simulate(game, { seed: 5, clients: 1, link: { latencyMs: 40, jitterMs: 4 } })
  sim.run(1500)
  const ours = new MemorySink()
  const theirs = new MemorySink()
  const client = new ClientRecorder(sim.players[0]!.host as unknown as ClientHost, ours)
  const server = sim.host.record(theirs)
  sim.hold(0, { ahead: STICK })
  sim.run(700)
  plant(sim)
  sim.run(1200)
  client.close()
  server.close()
  const recording = opened(ours.bytes())
  return {
    inspection: new Inspection(recording, { authority: opened(theirs.bytes()) }),
    alone: new Inspection(recording),
  }
}

test('[DEV9] a misprediction in arena is explained down to the field, both values and the input', () => {
  const { inspection, alone } = playArena((sim) => {
    const body = sim.server(Fighter).find(({ owner }) => owner === sim.players[0]!.host.peer)!
    // A change that only the server makes, which no client can predict.
    body.armour = 33
    const { x, y, z } = body.at
    body.at = { x: x + 0.5, y, z }
  })
  const planted = inspection.mistakes.find(({ field }) => field === 'Fighter.at')!
  expect(planted).toMatchObject({ entity: 'Fighter', field: 'Fighter.at' })
  const explained = inspection.explain(planted)
  expect(explained).toMatchObject({ field: 'Fighter.at', isInputOther: false })
  expect(explained.held).toEqual(explained.used)
  expect(explained.held).toMatchObject({ ahead: STICK })
  expect(explained.why).toContain('the input was the same')
  const [before, after] = [explained.predicted, explained.received] as [{ x: number }, { x: number }]
  expect(Math.abs(after.x - before.x - 0.5)).toBeLessThan(0.1)
  // In the tick before the fault nothing was wrong, and other fields than the first are found too.
  expect(inspection.at(explained.beganAt - 1).differences).toEqual([])
  const differences = inspection
    .at(explained.beganAt)
    .differences.map(({ field, predicted, received }) => ({ field, predicted, received }))
  expect(differences).toContainEqual({ field: 'Fighter.armour', predicted: expect.any(Number), received: 33 })
  // The client's own recording is enough for the field and both values, not for the input that was used.
  expect(alone.explain(planted)).toMatchObject({ field: 'Fighter.at', used: undefined })
})

test('[DEV9] an input that arrived too late is named: the input held here, and the input the server used', () => {
  const { inspection } = playArena((sim) => {
    // The link delays everything for a while: inputs of those ticks arrive when their ticks are over.
    sim.weather({ latencyMs: 260 }, 0)
    sim.run(120)
    sim.hold(0, { side: STICK })
    sim.run(60)
    sim.weather({ latencyMs: 40 }, 0)
  })
  const explained = inspection.mistakes
    .map((mistake) => inspection.explain(mistake))
    .find(({ isInputOther }) => isInputOther)!
  expect(explained.why).toContain('late or lost')
  expect(explained.held).toMatchObject({ side: STICK })
  expect(explained.used).toMatchObject({ ahead: STICK })
  expect(explained.field).toMatch(/^Fighter\./)
})

test('[DEV9] packets are listed with their contents, and a row says why it was sent', () => {
  const { inspection } = playArena(() => {})
  const packets = inspection.packets()
  expect(packets.filter(({ way }) => way === 'sent').length).toBeGreaterThan(40)
  expect(packets.some(({ frames }) => frames.includes('snapshot'))).toBe(true)
  const sent = packets.findLast(({ entries }) => entries > 0)!
  const [entry] = inspection.packet(sent.number)!.entries
  expect(entry!.reason).toBe('changed')
  expect(entry!.why).toMatch(/^since tick \d+, the newest acknowledged: /)
  expect(entry!.changed.length).toBeGreaterThan(0)
  // The recording begins in the middle of the match. Older rows are known because the client had received them.
  const bits = packets.flatMap(({ number }) => inspection.packet(number)!.bits)
  const unread = bits.filter(({ name }) => name === 'row.unread').reduce((sum, { length }) => sum + length, 0)
  expect(unread / bits.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(0.01)
})
