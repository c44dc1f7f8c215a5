/**
 * Blocks that are sent in bulk: the rows that clients hold are correct and become current, in any weather and however
 * often blocks enter and leave the bulk path. A block delta has the same bits as its entries one by one.
 */

import { describe, expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { writeVarint } from '../../packages/tickwire/src/core/bits/varint.ts'
import { BitAccount } from '../../packages/tickwire/src/core/bandwidth/bit-account.ts'
import { NO_BASE } from '../../packages/tickwire/src/core/replication/encode/delta-cache.ts'
import { NO_MANNER, writeDeltaHead } from '../../packages/tickwire/src/core/replication/encode/delta-head.ts'
import { Replicator } from '../../packages/tickwire/src/core/replication/replicator.ts'
import { FrameWriter } from '../../packages/tickwire/src/core/replication/client/frame-writer.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed, u16, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { CODERS, EQUAL, fair, foul, Game, hasty, WILD, type Mood } from './replication-game.ts'
import { form } from '../form.ts'
import { CLEAR, Party, type Line } from './replication-party.ts'

const SEEDS = Number(process.env['TICKWIRE_SEEDS'] ?? form(1, 2))
/** It has fields for the owner only, so its block is not common for the owner. */
const Buoy = entity({ x: fixed(-500, 500, 0.1), y: fixed(0, 100, 0.1), fuel: u16.owner() }, { name: 'Buoy' })
/** No object is special to any client, and many spawn and despawn. */
const CROWD: Mood = { ...EQUAL, churn: 3, whim: 30 }
/** A long path, as with a hundred clients. */
const far = (dice: Prng): Line => ({
  ...CLEAR,
  loss: 0.05,
  ackLoss: 0.05,
  delay: dice.nextInt(0, 5),
  jitter: 1,
  patience: 25,
})

/** A little of every change: blocks become common and stop being common again and again. */
const MOODY: Mood = { churn: 3, handover: 3, whim: 30, blink: 60, sleep: 12, rarity: 60 }
const rough = (dice: Prng): Line => ({ ...foul(dice), packetBytes: dice.nextInt(300, 1150), packetsPerTick: 64 })

/** After the game rests and the weather clears, every client holds all objects. */
function settle(game: Game): void {
  game.freeze()
  for (const receiver of game.party.receivers) receiver.line = { ...CLEAR, packetsPerTick: 64 }
  for (let tick = 0; tick < 60; tick++) game.party.tick(() => {})
  for (const receiver of game.party.receivers) expect(receiver.whyNotCurrent()).toBe(undefined)
}

describe('sent in bulk', () => {
  for (const [name, coder] of Object.entries(CODERS)) {
    const weathers: readonly (readonly [string, Mood, (dice: Prng) => Line])[] = [
      ['a crowd on long links', CROWD, far],
      ['no spawns and no despawns', EQUAL, fair],
      ['owners and teams', { ...MOODY, blink: 0, sleep: 0 }, far],
      ['everything in foul weather', MOODY, rough],
      ['objects that enter and leave views', { ...CROWD, blink: 40, rarity: 60 }, hasty],
      ['hosts that stall', { ...CROWD, sleep: 5 }, rough],
      ['wild games and too little bandwidth', WILD, foul],
    ]
    for (const [weather, mood, line] of weathers) {
      test(`[REPL1, REPL2, REPL27] ${weather}, ${name}`, { timeout: 600_000 }, () => {
        let bulkTicks = 0
        for (let seed = 1; seed <= SEEDS; seed++) {
          const game = new Game(500 + seed, coder, mood, seed % 3 === 2 ? 32 : 64, line, true)
          for (let tick = 0; tick < 220; tick++) {
            game.run(1, line)
            if (game.party.receivers.some(({ source }) => source.bulkCount > 0)) bulkTicks++
          }
          settle(game)
        }
        if (mood !== WILD) expect(bulkTicks, 'blocks were sent in bulk').toBeGreaterThan(20 * SEEDS)
      })
    }
  }
})

test('[BAND1, REPL14] every bit that is sent in bulk is reported to the probe', () => {
  for (const [name, coder] of Object.entries(CODERS)) {
    const game = new Game(77, coder, CROWD, 64, far, true)
    const { replicator, world, receivers } = game.party
    const account = new BitAccount(world)
    replicator.probe = account
    game.run(400, far)
    replicator.settle()
    const sent = receivers.reduce((sum, { bytesSent }) => sum + bytesSent, 0)
    expect(replicator.blockDeltas.madeCount, name).toBeGreaterThan(200)
    expect(account.report().bits, name).toBe(sent * 8)
  }
})

test('[REPL13, REPL27] a block delta is to the bit what its entries are one by one', () => {
  const game = new Game(5, CODERS['entropy']!, { ...CROWD, churn: 8 }, 64, fair)
  const { replicator } = game.party
  game.run(80, fair)
  let [blockCount, deltaCount] = [0, 0]
  for (let round = 0; round < 24; round++) {
    game.run(1, fair)
    const { marks, blockDeltas, strideTicks } = replicator
    for (let block = 0; block < marks.alives.length; block++) {
      for (const base of [marks.tick - 1, marks.tick - 9, marks.tick - 40]) {
        const delta = blockDeltas.find(block, base)
        if (delta < 0) continue
        const [is, should] = [new FrameWriter(replicator.cache), new FrameWriter(replicator.cache)]
        const [bits, wanted] = [new BitWriter(new Uint8Array(4000)), new BitWriter(new Uint8Array(4000))]
        for (const frame of [is, should]) frame.begin(marks.tick, Infinity)
        if (blockDeltas.countOf(delta) > 0) expect(is.putBlock(bits, blockDeltas, delta)).toBe(true)
        for (let index = block << 5; index < (block + 1) << 5; index++) {
          const isAlive = marks.ids[index] !== 0
          const from = blockDeltas.isComplete ? base : Math.max(base, marks.tick - strideTicks)
          if (!isAlive && marks.diedAt[index]! > base) should.putGone(wanted, index, true)
          else if (isAlive && marks.bornAt[index]! > base)
            should.put(wanted, index, replicator.deltaFor(index, 0, NO_BASE, false))
          else if (isAlive && marks.hasChanged(index, 0, from, marks.tick))
            should.put(wanted, index, replicator.deltaFor(index, 0, base, false))
          else continue
          deltaCount++
        }
        blockCount++
        const [sent, truth] = [bits, wanted].map((writer) =>
          Buffer.from(writer.bytes.subarray(0, writer.finish())).toString('hex'),
        )
        expect(sent, `block ${block} over ${base} at ${marks.tick}`).toBe(truth)
      }
    }
  }
  expect(blockCount).toBeGreaterThan(100)
  expect(deltaCount).toBeGreaterThan(1000)
})

test('[REPL28] a baseline is the row that was valid at its tick, whenever it was sent', () => {
  const Lamp = entity({ hue: u8, glow: u8 }, { name: 'Lamp' })
  const [from, to] = [new World([Lamp]), new World([Lamp], { isReadOnly: true })]
  const [rows, sent] = [new Timeline(from, 16), new Timeline(to, 16)]
  const replicator = new Replicator(from, rows)
  const sink = new SnapshotSink(to, sent)
  const lamp = from.spawn(Lamp, { hue: 1 })
  const tell = (base: number): string => {
    replicator.update()
    const [frame, out] = [new FrameWriter(replicator.cache), new BitWriter(new Uint8Array(64))]
    const { tick } = replicator.marks
    writeVarint(out, tick)
    frame.begin(tick, Infinity)
    frame.put(out, 0, replicator.deltaFor(0, 0, base, false))
    return sink.accept(0, 0, new BitReader(out.bytes.slice(0, out.finish())))
  }
  const hueAt = (tick: number): number => sent.lane(0, lamp.id, tick, 0)
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
  expect(tell(rows.newest - 4), 'four ticks ago the client held the row that was sent eight ticks ago').toBe('ok')
  expect([hueAt(rows.newest), hueAt(rows.newest - 4), hueAt(first)]).toEqual([2, 1, 1])
  step(30, 3)
  expect(tell(rows.newest - 12), 'a rest that is longer than the window').toBe('ok')
  expect([hueAt(rows.newest), hueAt(rows.newest - 12)]).toEqual([3, 2])
  step(1, 4)
  expect(tell(rows.newest - 11), 'and the row from before the last packet is still known').toBe('ok')
  expect(hueAt(rows.newest)).toBe(4)
  const out = new BitWriter(new Uint8Array(8))
  writeVarint(out, rows.newest + 1)
  writeDeltaHead(out, 1, 0, rows.newest + 1 - (first - 1), 0, NO_MANNER)
  expect(
    sink.accept(0, 0, new BitReader(out.bytes.slice(0, out.finish()))),
    'before the first packet there was no row',
  ).toBe('no-ack')
})

test('[REPL1, REPL2, REPL27] clients that own objects are sent the other blocks in bulk', { timeout: 600_000 }, () => {
  for (const [name, coder, strideTicks] of [
    ['packed', CODERS['packed']!, 1],
    ['entropy', CODERS['entropy']!, 1],
    ['entropy, every third tick', CODERS['entropy']!, 3],
  ] as const) {
    const party = new Party(9, [Buoy], 64, () => [coder(Buoy.schema)], strideTicks)
    party.replicator.schedule.fix(true)
    const account = new BitAccount(party.world)
    party.replicator.probe = account
    const buoys = Array.from({ length: 250 }, (_, at) => party.world.spawn(Buoy, { x: at / 4, y: at % 50 }))
    for (let peer = 1; peer <= 10; peer++) {
      const receiver = party.join(peer, (index) => (party.world.objects.ownerAt(index) === peer ? 2 : 0))
      receiver.line = {
        ...CLEAR,
        delay: peer % 3,
        loss: peer % 4 === 0 ? 0.05 : 0,
        packetBytes: 900 + (peer % 2) * 100,
        packetsPerTick: 64,
      }
    }
    const dice = new Prng(4)
    for (let tick = 0; tick < form(40, 90) * strideTicks; tick++) {
      party.tick(() => {
        for (const buoy of buoys) if (dice.nextInt(0, 2) > 0) buoy.x += dice.nextInt(-3, 3) / 10
        // A client gets an object, and gives it back.
        if (tick % 9 === 4) party.world.setOwner(buoys[dice.nextInt(0, 249)]!, dice.nextInt(0, 10))
      })
    }
    for (let tick = 0; tick < 40 || party.world.tick % strideTicks !== 0; tick++) party.tick(() => {})
    for (const receiver of party.receivers) expect(receiver.whyNotCurrent(), name).toBe(undefined)
    party.replicator.settle()
    expect(account.report().bits, name).toBe(8 * party.receivers.reduce((sum, { bytesSent }) => sum + bytesSent, 0))
    expect(party.receivers.every(({ source }) => source.bulkCount > 0), name).toBe(true)
  }
})
