/**
 * Clients that resume their seat after the tables changed: a new connection begins with the tables of the build,
 * whatever the former one had.
 */

import { expect, test } from 'vitest'
import type { Match, Priors } from 'tickwire'
import { differenceOf } from '../../packages/tickwire/src/testing/simulate-difference.ts'
import { learnMoths, makeMoths, Moth, type MothInput } from './retraining-game.ts'
import { Party, type Guest } from './rooms-party.ts'

const PRIORS: Priors = learnMoths(3)
const OTHERS: Priors = learnMoths(4, 8)
/** Cables of the party have no latency; tables of several packets still take time. */
const WHILE_MS = 4000

interface Scene {
  readonly party: Party
  readonly room: Match
  readonly air: { isCalm: boolean }
  readonly guests: readonly Guest<MothInput>[]
  come(ticketOf?: Guest<MothInput>): Guest<MothInput>
}

function open(count: number): Scene {
  const air = { isCalm: false }
  const game = makeMoths(air)
  const party = new Party({ meadow: { game: game as never, capacity: 4, resumeMs: 60_000, emptyMs: Infinity } })
  const come = (before?: Guest<MothInput>): Guest<MothInput> =>
    party.ask(game, before === undefined ? {} : { resume: before.host.seat!.ticket })
  const guests = Array.from({ length: count }, () => come())
  party.run(1000)
  return { party, room: party.host.rooms[0]!, air, guests, come }
}

/** Every client sees all objects, has the newest tables, and refused nothing. */
function expectRight({ party, room, air }: Scene, all: readonly Guest<MothInput>[]): void {
  air.isCalm = true
  party.run(2000)
  for (const [number, { host }] of all.entries()) {
    expect(differenceOf(number, host, room as never, party.now)).toBeUndefined()
    expect([room.retraining.versionOf(host.peer), host.insides.snapshots.undecodableCount]).toEqual([
      room.retraining.version,
      0,
    ])
  }
  expect(room.retraining.keptCount).toBe(1)
  expect(party.faults).toEqual([])
}

test("[REPL22] a resumed client is sent rows with the build's tables, then with the newest", () => {
  const scene = open(2)
  const { party, room, guests: [first, other], come } = scene
  room.retrain(PRIORS)
  party.run(WHILE_MS)
  expect([first, other].map((guest) => room.retraining.versionOf(guest!.peer))).toEqual([1, 1])
  const own = [...room.world.each(Moth)].find(({ owner }) => owner === first!.peer)!.id
  party.unplug(first as never)
  party.run(300)
  const again = come(first)
  // The versions of the old connection, until the new one is open.
  const versions: number[] = []
  for (let ms = 0; ms < 60; ms++) {
    party.run(1)
    const version = room.retraining.versionOf(first!.peer)
    if (versions.at(-1) !== version) versions.push(version)
  }
  expect([again.peer, again.host.seat!.isBack, versions]).toEqual([first!.peer, true, [1, 0, 1]])
  party.run(WHILE_MS)
  expect(room.retraining.versionOf(again.peer)).toBe(1)
  expect([...room.world.each(Moth)].find(({ id }) => id === own)!.owner).toBe(again.peer)
  expectRight(scene, [again, other!])
})

test.each(['has lost its connection', 'is still connected'])(
  '[REPL23] a client that resumes during a transfer of tables gets them whole again: the old one %s',
  (how) => {
    const held = new Set<number>()
    for (const afterMs of [10, 30, 60, 120, 300]) {
      const scene = open(2)
      const {
        party,
        room,
        guests: [first, other],
        come,
      } = scene
      room.retrain(PRIORS)
      party.run(afterMs)
      held.add(room.retraining.versionOf(first!.peer))
      if (how === 'has lost its connection') party.unplug(first as never)
      const again = come(first)
      party.run(WHILE_MS)
      expect(room.retraining.versionOf(again.peer), `after ${afterMs} ms`).toBe(1)
      if (how !== 'has lost its connection') expect(first!.closed?.code).toBe('replaced')
      expectRight(scene, [again, other!])
    }
    expect([...held]).toContain(0)
  },
)

test('[REPL23] a client that missed two changes is sent the newest tables only, and unused ones are freed', () => {
  const scene = open(2)
  const { party, room, guests: [first, other], come } = scene
  room.retrain(PRIORS)
  party.run(WHILE_MS)
  party.unplug(first as never)
  party.run(12_000)
  expect(room.seats.of(first!.peer)!.state).toBe('held')
  room.retrain(OTHERS)
  party.run(WHILE_MS)
  expect(room.retraining.keptCount).toBe(1)
  room.retrain({})
  party.run(WHILE_MS)
  const again = come(first)
  const seen = new Set<number>()
  for (let ms = 0; ms < WHILE_MS; ms += 20) {
    party.run(20)
    seen.add(room.retraining.versionOf(again.peer))
  }
  expect([...seen]).toEqual([0, 3])
  expectRight(scene, [again, other!])
})

test('[REPL23] a version goes with the last client that holds it, and clients that resume still play', () => {
  const scene = open(1)
  const { party, room, come } = scene
  let [guest] = scene.guests
  for (let round = 1; round <= 5; round++) {
    expect(room.retrain(round % 2 === 0 ? OTHERS : PRIORS)).toBe(round)
    party.run(round % 3 === 0 ? 30 : WHILE_MS)
    party.unplug(guest as never)
    guest = come(guest)
    party.run(400)
    expect(room.retraining.keptCount).toBe(1)
  }
  party.run(WHILE_MS)
  expectRight(scene, [guest!])
})
