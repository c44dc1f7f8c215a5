/** Blocks told by sheets: what is held is true and becomes current, whatever the weather and however often they go over to that and back. */

import { describe, expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { writeVarint } from '../../packages/tickwire/src/core/bits/varint.ts'
import { BitAccount } from '../../packages/tickwire/src/core/replication/bit-account.ts'
import { NO_BASE } from '../../packages/tickwire/src/core/replication/delta-cache.ts'
import { NO_MANNER, writeDeltaHead } from '../../packages/tickwire/src/core/replication/delta-head.ts'
import { Replicator } from '../../packages/tickwire/src/core/replication/replicator.ts'
import { SHEET_SHIFT } from '../../packages/tickwire/src/core/replication/sheet-cache.ts'
import { SnapshotFrame } from '../../packages/tickwire/src/core/replication/snapshot-frame.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed, u16, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { CODERS, EQUAL, fair, foul, Game, hasty, WILD, type Mood } from './replication-game.ts'
import { CLEAR, Party, type Line } from './replication-party.ts'

const SEEDS = Number(process.env['TICKWIRE_SEEDS'] ?? 2)
/** What is the owner's alone makes its block another one to him. */
const Buoy = entity({ x: fixed(-500, 500, 0.1), y: fixed(0, 100, 0.1), fuel: u16.owner() }, { name: 'Buoy' })
/** Nobody is special to anybody, and many come and go. */
const CROWD: Mood = { ...EQUAL, churn: 3, whim: 30 }
/** A long path, as of a hundred clients. */
const far = (dice: Prng): Line => ({ ...CLEAR, loss: 0.05, ackLoss: 0.05, delay: dice.nextInt(0, 5), jitter: 1, patience: 25 })

/** All there is, if only a little of it: blocks in which everybody is for all to see are found again and again. */
const MOODY: Mood = { churn: 3, handover: 3, whim: 30, blink: 60, sleep: 12, rarity: 60 }
const rough = (dice: Prng): Line => ({ ...foul(dice), packetBytes: dice.nextInt(300, 1150), packetsPerTick: 64 })

/** After the game rests and the weather clears, everybody holds all. */
function settle(game: Game): void {
  game.freeze()
  for (const receiver of game.party.receivers) receiver.line = { ...CLEAR, packetsPerTick: 64 }
  for (let tick = 0; tick < 60; tick++) game.party.tick(() => {})
  for (const receiver of game.party.receivers) expect(receiver.whyNotCurrent()).toBe(undefined)
}

describe('told by sheets', () => {
  for (const [name, coder] of Object.entries(CODERS)) {
    const weathers: readonly (readonly [string, Mood, (dice: Prng) => Line, readonly number[]])[] = [
      ['a crowd on long lines', CROWD, far, [4]], ['nobody comes or goes', EQUAL, fair, [4, 2]], ['owners and teams', { ...MOODY, blink: 0, sleep: 0 }, far, [4]],
      ['everything in foul weather', MOODY, rough, [4, 2, 8]], ['who is seen comes and goes', { ...CROWD, blink: 40, rarity: 60 }, hasty, [4, 2]], ['hosts that sleep', { ...CROWD, sleep: 5 }, rough, [4, 2]],
      ['wild games and too little room', WILD, foul, [4, 2]],
    ]
    for (const [weather, mood, line, spans] of weathers) {
      test(`[REPL1, REPL2, REPL27] ${weather}, ${name}`, { timeout: 600_000 }, () => {
        let sheetCount = 0
        for (let seed = 1; seed <= SEEDS; seed++) {
          const game = new Game(500 + seed, coder, mood, seed % 3 === 2 ? 32 : 64, line, spans, true)
          game.run(220, line)
          sheetCount += game.party.replicator.sheets.madeCount
          settle(game)
        }
        if (mood !== WILD) expect(sheetCount, 'sheets were told').toBeGreaterThan(100 * SEEDS)
      })
    }
  }
})

test('[BAND1, REPL14] every bit of what is told by sheets is told to who counts', () => {
  for (const [name, coder] of Object.entries(CODERS)) {
    const game = new Game(77, coder, CROWD, 64, far, [4], true)
    const { replicator, world, receivers } = game.party
    const account = new BitAccount(world)
    replicator.probe = account
    game.run(150, far)
    replicator.settle()
    const sent = receivers.reduce((sum, { bytesSent }) => sum + bytesSent, 0)
    expect(replicator.sheets.madeCount, name).toBeGreaterThan(200)
    expect(account.report().bits, name).toBe(sent * 8)
  }
})

test('[REPL13, REPL27] a sheet is what its entries are one by one, over the rows as of its level', () => {
  const game = new Game(5, CODERS['entropy']!, { ...CROWD, churn: 8 }, 64, fair, [4])
  const { replicator } = game.party
  game.run(80, fair)
  let [sheetCount, deltaCount] = [0, 0]
  for (let round = 0; round < 24; round++) {
    game.run(1, fair)
    const { marks, sheets, strideTicks } = replicator
    for (let block = 0; block < marks.alives.length; block++) {
      for (const level of [marks.tick - 1, marks.tick - 9, marks.tick - 40]) {
        const sheet = sheets.find(block, level)
        if (sheet < 0) continue
        const [is, should] = [new SnapshotFrame(replicator.cache, replicator.strips), new SnapshotFrame(replicator.cache, replicator.strips)]
        const [bits, wanted] = [new BitWriter(new Uint8Array(4000)), new BitWriter(new Uint8Array(4000))]
        for (const frame of [is, should]) frame.begin(marks.tick, Infinity)
        if (sheets.sheets[sheet << SHEET_SHIFT]! > 0) expect(is.putSheet(bits, sheets, sheet)).toBe(true)
        for (let index = block << 5; index < (block + 1) << 5; index++) {
          const isAlive = marks.ids[index] !== 0
          const from = sheets.isComplete ? level : Math.max(level, marks.tick - strideTicks)
          if (!isAlive && marks.diedAt[index]! > level) should.putGone(wanted, index, true)
          else if (isAlive && marks.bornAt[index]! > level) should.put(wanted, index, replicator.deltaFor(index, 0, NO_BASE, false))
          else if (isAlive && marks.hasChanged(index, 0, from, marks.tick)) should.put(wanted, index, replicator.deltaFor(index, 0, level, replicator.needsOlder && marks.hasChanged(index, 0, level - 1, level)))
          else continue
          deltaCount++
        }
        sheetCount++
        const [told, truth] = [bits, wanted].map((writer) => Buffer.from(writer.bytes.subarray(0, writer.finish())).toString('hex'))
        expect(told, `block ${block} from ${level} at ${marks.tick}`).toBe(truth)
      }
    }
  }
  expect(sheetCount).toBeGreaterThan(100)
  expect(deltaCount).toBeGreaterThan(1000)
})

test('[REPL28] a baseline is the row that held at its tick, whenever it was told', () => {
  const Lamp = entity({ hue: u8, glow: u8 }, { name: 'Lamp' })
  const [from, to] = [new World([Lamp]), new World([Lamp], { isReadOnly: true })]
  const [rows, told] = [new Timeline(from, 16), new Timeline(to, 16)]
  const replicator = new Replicator(from, rows)
  const sink = new SnapshotSink(to, told)
  const lamp = from.spawn(Lamp, { hue: 1 })
  const tell = (base: number): string => {
    replicator.update()
    const [frame, out] = [new SnapshotFrame(replicator.cache, replicator.strips), new BitWriter(new Uint8Array(64))]
    const { tick } = replicator.marks
    writeVarint(out, tick)
    frame.begin(tick, Infinity)
    frame.put(out, 0, replicator.deltaFor(0, 0, base, false))
    return sink.accept(0, 0, new BitReader(out.bytes.slice(0, out.finish())))
  }
  const hueAt = (tick: number): number => told.lane(0, lamp.id, tick, 0)
  const step = (ticks: number, hue: number): void => {
    for (let tick = 0; tick < ticks; tick++) {
      from.beginTick()
      if (tick === ticks - 1) lamp.hue = hue
      from.endTick()
      rows.sample()
    }
  }
  step(3, 1)
  expect(tell(NO_BASE)).toBe('ok')
  const first = rows.newest
  step(8, 2)
  expect(tell(rows.newest - 4), 'four ticks ago he held what was told eight ticks ago').toBe('ok')
  expect([hueAt(rows.newest), hueAt(rows.newest - 4), hueAt(first)]).toEqual([2, 1, 1])
  step(30, 3)
  expect(tell(rows.newest - 12), 'a rest that is longer than the window').toBe('ok')
  expect([hueAt(rows.newest), hueAt(rows.newest - 12)]).toEqual([3, 2])
  step(1, 4)
  expect(tell(rows.newest - 11), 'and what held before the last telling is still known').toBe('ok')
  expect(hueAt(rows.newest)).toBe(4)
  const out = new BitWriter(new Uint8Array(8))
  writeVarint(out, rows.newest + 1)
  writeDeltaHead(out, 1, 0, rows.newest + 1 - (first - 1), 0, NO_MANNER)
  expect(sink.accept(0, 0, new BitReader(out.bytes.slice(0, out.finish()))), 'before the first telling nothing held').toBe('no-ack')
})

test('[REPL1, REPL2, REPL27] packets of sheets are copied between receivers of whom each has something of his own', { timeout: 600_000 }, () => {
  for (const [name, coder, strideTicks] of [['packed', CODERS['packed']!, 1], ['entropy', CODERS['entropy']!, 1], ['entropy, every third tick', CODERS['entropy']!, 3]] as const) {
    const party = new Party(9, [Buoy], 64, () => [coder(Buoy.schema)], strideTicks)
    party.replicator.grid.fix(4 * strideTicks, true)
    const account = new BitAccount(party.world)
    party.replicator.probe = account
    const buoys = Array.from({ length: 250 }, (_, at) => party.world.spawn(Buoy, { x: at / 4, y: at % 50 }))
    for (let peer = 1; peer <= 10; peer++) {
      const receiver = party.join(peer, (index) => party.world.objects.ownerAt(index) === peer ? 2 : 0)
      receiver.line = { ...CLEAR, delay: peer % 3, loss: peer % 4 === 0 ? 0.05 : 0, packetBytes: 900 + peer % 2 * 100, packetsPerTick: 64 }
    }
    const dice = new Prng(4)
    for (let tick = 0; tick < 90 * strideTicks; tick++) {
      party.tick(() => {
        for (const buoy of buoys) if (dice.nextInt(0, 2) > 0) buoy.x += dice.nextInt(-3, 3) / 10
        // Somebody gets something, and gives it back.
        if (tick % 9 === 4) party.world.setOwner(buoys[dice.nextInt(0, 249)]!, dice.nextInt(0, 10))
      })
    }
    for (let tick = 0; tick < 40 || party.world.tick % strideTicks !== 0; tick++) party.tick(() => {})
    for (const receiver of party.receivers) expect(receiver.whyNotCurrent(), name).toBe(undefined)
    party.replicator.settle()
    expect(account.report().bits, name).toBe(8 * party.receivers.reduce((sum, { bytesSent }) => sum + bytesSent, 0))
    expect(party.replicator.sheetFrames.copyCount, name).toBeGreaterThan(60)
  }
})
