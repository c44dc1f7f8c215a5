import { expect, test } from 'vitest'
import fc from 'fast-check'
import { nativeCodec } from 'tickwire/lockstep'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { decodeValues, encodeValues } from '../../packages/tickwire/src/core/lockstep/order-values.ts'
import { order } from '../../packages/tickwire/src/core/lockstep/order.ts'
import { ids } from '../../packages/tickwire/src/core/order/ids.ts'
import { OrderCursor, OrdersHead } from '../../packages/tickwire/src/core/order/orders-frame.ts'
import { TickBodyReader, TickBodyWriter } from '../../packages/tickwire/src/core/order/tick-body.ts'
import { TickLog } from '../../packages/tickwire/src/core/order/tick-log.ts'
import { TicksSink, TicksSource } from '../../packages/tickwire/src/core/order/ticks-frame.ts'
import { nobleHashes } from '../../packages/tickwire/src/core/crypto/noble-hashes.ts'
import { RelayFeed } from '../../packages/tickwire/src/core/lockstep/relay-feed.ts'
import { writeVarint } from '../../packages/tickwire/src/core/bits/varint.ts'
import { defineLockstep, LockstepRunner } from 'tickwire/lockstep'
import vectors from '../vectors/lockstep.json' with { type: 'json' }
import {
  readIds, readOrdersFrame, readSeed, readTicks, readTicksFrame, type OrderMeaning,
} from './lockstep-checker.ts'

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

function writeTicks(ticks: readonly (readonly OrderMeaning[])[]): string {
  return ticks.map((orders) => {
    const writer = new TickBodyWriter(4)
    writer.begin()
    for (const { player, time, type, data } of orders) {
      const bytes = unhex(data)
      writer.add(player, time, type, bytes, 0, bytes.length)
    }
    writer.end()
    return hex(writer.bytes.subarray(0, writer.length))
  }).join('')
}

/** The number of whole ticks, or undefined when the engine refuses the bytes. */
function engineCounts(bytes: Uint8Array): number | undefined {
  const reader = new TickBodyReader()
  let [at, count] = [0, 0]
  while (at < bytes.length) {
    at = reader.scan(bytes, at, bytes.length, true)
    if (at <= 0) return undefined
    count++
  }
  return count
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

test.each(vectors.ticks)('[LOCK9] ticks: $name', ({ bytes, meaning }) => {
  expect(readTicks(unhex(bytes))).toEqual(meaning)
  expect(writeTicks(meaning)).toBe(bytes)
  expect(engineCounts(unhex(bytes))).toBe(meaning.length)
})

test.each(vectors.ticksRefused)('[LOCK9] refused ticks: $name', ({ bytes }) => {
  expect(attempt(() => readTicks(unhex(bytes)))).toBeUndefined()
  expect(engineCounts(unhex(bytes))).toBeUndefined()
})

test('[LOCK9] any orders are written and read alike by engine and checker', () => {
  const given = fc.array(fc.record({
    player: fc.nat(20), time: fc.nat(40_000), type: fc.nat(255), data: fc.uint8Array({ maxLength: 20 }).map(hex),
  }), { maxLength: 6 }).map((orders) => orders.sort((a, b) => a.time - b.time || a.player - b.player))
  fc.assert(fc.property(fc.array(given, { maxLength: 5 }), (ticks) => {
    const bytes = unhex(writeTicks(ticks))
    expect(readTicks(bytes)).toEqual(ticks)
    expect(engineCounts(bytes)).toBe(ticks.length)
  }), { seed: 9, numRuns: 60 })
})

test('[LOCK9] engine and checker accept the same bytes', () => {
  const letters = fc.constantFrom(0x5a, 0x4b, 0x50, 0x53, 0x54, 0x44, 0, 1, 1, 2, 0x80)
  fc.assert(fc.property(fc.array(letters, { maxLength: 14 }), (list) => {
    const bytes = Uint8Array.from(list)
    expect(engineCounts(bytes)).toBe(attempt(() => readTicks(bytes))?.length)
  }), { seed: 10, numRuns: 1500 })
})

test('[LOCK9] an empty tick is the byte 5A, and five orders of one player have one K and one P', () => {
  expect(writeTicks([[]])).toBe('5a')
  const five = writeTicks([Array.from({ length: 5 }, (_, at) => ({ player: 3, time: 10 * at, type: 1, data: 'aa' }))])
  expect(five.match(/../g)!.filter((byte) => byte === '4b')).toHaveLength(1)
  expect(five.match(/../g)!.filter((byte) => byte === '50')).toHaveLength(1)
})

test('[LOCK9] ticks are found in a log whatever the cuts between frames', () => {
  const text = vectors.ticks.map(({ bytes }) => bytes).join('')
  const bytes = unhex(text)
  const whole = readTicks(bytes).length
  const sent = new TickLog()
  for (const orders of readTicks(bytes)) {
    const body = unhex(writeTicks([orders]))
    sent.append(body, body.length)
  }
  for (let cut = 1; cut < bytes.length; cut++) {
    const log = new TickLog()
    expect(log.receive(bytes, 0, cut, sent.tickAt(cut))).toBe('ok')
    expect(log.receive(bytes, cut, bytes.length - cut, whole)).toBe('ok')
    for (let tick = 1; tick <= whole; tick++) expect(log.endOf(tick)).toBe(sent.endOf(tick))
  }
  const log = new TickLog()
  expect(log.receive(Uint8Array.of(0x5a, 0x00), 0, 2, 2)).toBe('corrupted')
  expect([log.newest, log.length]).toEqual([0, 0])
})

test.each(vectors.ordersFrames)('[LOCK10] frame of orders: $name', ({ bytes, meaning }) => {
  expect(readOrdersFrame(unhex(bytes))).toEqual(meaning)
  const [head, cursor, reader] = [new OrdersHead(), new OrderCursor(), new BitReader(unhex(bytes))]
  head.read(reader)
  cursor.begin()
  const orders = Array.from({ length: head.count }, () => {
    cursor.read(reader)
    return { age: cursor.ageUs, type: cursor.type, data: hex(cursor.data.subarray(0, cursor.length)) }
  })
  expect(reader.finish()).toBe(true)
  expect(orders).toEqual(meaning.orders)
  const out = new BitWriter(new Uint8Array(400))
  head.write(out)
  cursor.begin()
  for (const { age, type, data } of orders) cursor.write(out, age, type, unhex(data), 0, data.length / 2)
  expect(hex(out.bytes.subarray(0, out.finish()))).toBe(bytes)
})

test.each(vectors.ticksFrames)('[LOCK10] frame of ticks: $name', ({ bytes, log: logged, meaning }) => {
  expect(readTicksFrame(unhex(bytes))).toEqual(meaning)
  const log = new TickLog()
  for (const orders of readTicks(unhex(logged))) {
    const body = unhex(writeTicks([orders]))
    log.append(body, body.length)
  }
  const { token, feedback } = meaning
  const source = new TicksSource({
    log, newest: () => log.newest, tokenOf: () => token,
    takeFeedback: () => feedback && { arrivalUs: feedback[0]!, lateCount: feedback[1]!, jitterUs: feedback[2]! },
  })
  const out = new BitWriter(new Uint8Array(400))
  source.begin()
  expect(source.fill(0, 1, out)).toBe(true)
  const frame = out.bytes.slice(0, out.finish())
  expect(hex(frame)).toBe(bytes)
  const sink = new TicksSink(new TickLog())
  expect(sink.accept(0, 1, new BitReader(frame))).toBe('ok')
  expect([sink.log.newest, sink.token]).toEqual([log.newest, token])
})

test.each(vectors.ids)('[LOCK11] a selection: $name', ({ max, bytes, meaning }) => {
  const Kind = order({ units: ids(max) }, 'Kind')
  expect(readIds(unhex(bytes), max)).toEqual(meaning)
  const written = encodeValues(Kind.schema as never, { units: [...meaning].reverse() })
  expect(hex(written!)).toBe(bytes)
  expect(decodeValues(Kind.schema as never, unhex(bytes), 0, bytes.length / 2)).toEqual({ units: meaning })
})

test('[LOCK11] 200 units among those of seven other players fit an order, and a block of 200 takes 80 bytes', () => {
  const Kind = order({ units: ids(250) }, 'Kind')
  const size = (units: number[]): number => encodeValues(Kind.schema as never, { units })!.length
  const mixed = Array.from({ length: 200 }, (_, at) => (8 * at + (at % 5)) * 65_536 + 1 + (at % 3 === 0 ? 1 : 0))
  expect(size(mixed)).toBeLessThan(320)
  expect(size(Array.from({ length: 200 }, (_, at) => (1000 + at) * 65_536 + 1))).toBeLessThan(80)
})

test('[LOCK12] the native codec returns undefined for any other bytes, and never throws', () => {
  const given = { player: 3, timeUs: 1234, type: 2, data: Uint8Array.of(1, 2, 3) }
  expect(nativeCodec.decode(nativeCodec.encode(given))).toEqual(given)
  expect(nativeCodec.protocolId).toBe('tickwire-tlv-1')
  fc.assert(fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
    const read = nativeCodec.decode(bytes)
    if (read !== undefined) expect(hex(nativeCodec.encode(read))).toBe(hex(bytes))
  }), { seed: 4, numRuns: 500 })
})

/** A client of player 2 that received the ticks, one in a frame, and its world. */
function receiveTicks(bytes: Uint8Array): { feed: RelayFeed; runner: LockstepRunner } {
  const feed = new RelayFeed({ tickRate: 30, player: 2 })
  feed.agree(0, nobleHashes.sha256)
  const reader = new TickBodyReader()
  const end = reader.scan(bytes, 0, bytes.length, true)
  const ranges = [[0, end], [end, bytes.length]] as const
  ranges.forEach(([from, to], at) => {
    const out = new BitWriter(new Uint8Array(500))
    out.writeBits(0, 8)
    out.writeBits(0, 32)
    writeVarint(out, at + 1)
    writeVarint(out, from)
    out.copyBits(bytes, from * 8, (to - from) * 8)
    feed.ticks.accept(0, at, new BitReader(out.bytes.slice(0, out.finish())))
  })
  const game = defineLockstep({ orders: [], entities: [], step: () => {} })
  const runner = new LockstepRunner(game, feed)
  runner.update(10_000)
  return { feed, runner: runner as never }
}

test.each(vectors.seeds)('[LOCK40] an agreed seed: $name', ({ bytes, seed }) => {
  expect(readSeed(unhex(bytes))).toBe(BigInt(seed))
  const { runner } = receiveTicks(unhex(bytes))
  expect([runner.tick, runner.world.seed]).toEqual([2, seed])
})

test.each(vectors.seedsRefused)('[LOCK42] a refused seed: $name', ({ bytes }) => {
  expect(() => readSeed(unhex(bytes))).toThrow()
  const { feed, runner } = receiveTicks(unhex(bytes))
  expect([feed.status(), runner.hasBegun]).toEqual(['ended', false])
})
