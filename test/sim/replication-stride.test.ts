/**
 * Games that are not sent every tick: the row before a baseline is the row of the snapshot before it, a stride earlier.
 * A checking coder compares that row on both sides.
 */

import { describe, expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import type { FieldSet, RowPair } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { ValueStore } from '../../packages/tickwire/src/core/schema/values.ts'
import { CLEAR, Party, type Line } from './replication-party.ts'

const Cart = entity({ x: fixed(0, 1000, 0.1), load: u8 }, { name: 'Cart' })
const LANE_COUNT = 2
const CARTS = 80
const PEERS = 3

const seen = { older: 0, all: 0 }

/** Writes 33 bits about the row before the baseline, and fails to read when the receiver has another row. */
class WaryCoder extends PackedCoder {
  readonly usesOlder = true

  override write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    this.#each(pair, (value, bits) => out.writeBits(value, bits))
    return super.write(out, set, pair, heap)
  }

  override read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    this.#each(pair, (value, bits) => { if (reader.readBits(bits) !== value) reader.fail() })
    if (pair.age > 0) seen.all++
    if (pair.olderAt >= 0) seen.older++
    super.read(reader, set, pair, heap)
  }

  #each({ olderRows, olderAt, olderTicks }: RowPair, see: (value: number, bits: number) => void): void {
    see(olderAt < 0 ? 0 : olderTicks, 3)
    for (let lane = 0; olderAt >= 0 && lane < LANE_COUNT; lane++) see(olderRows[olderAt + lane]! & 0x7fff, 15)
  }
}

function drawLine(dice: Prng): Line {
  return {
    loss: dice.nextInt(0, 2) * 0.15,
    ackLoss: dice.nextInt(0, 2) * 0.15,
    twice: 0.05,
    delay: dice.nextInt(0, 6),
    jitter: dice.nextInt(0, 2) * 4,
    patience: dice.nextInt(6, 40),
    packetBytes: dice.nextInt(0, 2) === 0 ? 120 : 1150,
    packetsPerTick: dice.nextInt(1, 8),
  }
}

/** Carts that roll, stop at any tick (`whim` of a thousand), are loaded, and are replaced now and then. */
function play(seed: number, strideTicks: number, ticks: number, lineOf: (dice: Prng) => Line, whim = 58): Party {
  const dice = new Prng(seed)
  const party = new Party(seed, [Cart], 32, () => [new WaryCoder(Cart.schema)], strideTicks)
  for (let peer = 1; peer <= PEERS; peer++) party.join(peer, () => 0).line = lineOf(dice)
  const rolling = new Set<number>()
  for (let tick = 0; tick < ticks; tick++) {
    party.tick(() => {
      let count = 0
      for (const cart of [...party.world.each(Cart)]) {
        count++
        const fate = dice.nextInt(0, 999)
        if (fate < 2) party.world.despawn(cart)
        else if (fate < 2 + whim) rolling.has(cart.id) ? rolling.delete(cart.id) : rolling.add(cart.id)
        else if (fate >= 980) cart.load = dice.nextInt(0, 255)
        if (fate >= 2 && rolling.has(cart.id)) cart.x = (cart.x + 0.3) % 1000
      }
      for (; count < CARTS; count++) rolling.add(party.world.spawn(Cart, { x: dice.nextInt(0, 999) }).id)
    }, dice.nextInt(0, 19) === 0)
  }
  for (const receiver of party.receivers) receiver.line = { ...CLEAR }
  for (let tick = 0; tick < 60 || party.world.tick % strideTicks !== 0; tick++) party.tick(() => {})
  return party
}

describe.each([2, 3])('sent every %i ticks', (strideTicks) => {
  test(
    `[REPL9] the row before the baseline is the one sent before it, in any weather: every ${strideTicks}`,
    { timeout: 120_000 },
    () => {
      for (let seed = 1; seed <= 4; seed++) {
        const party = play(seed, strideTicks, 200, drawLine)
        for (const receiver of party.receivers) expect(receiver.whyNotCurrent(), `seed ${seed}`).toBe(undefined)
      }
    },
  )

  test(`[REPL9] in calm weather most deltas use that row: every ${strideTicks}`, { timeout: 120_000 }, () => {
    Object.assign(seen, { older: 0, all: 0 })
    play(9, strideTicks, 120, () => ({ ...CLEAR, delay: 3, packetsPerTick: 8 }), 10)
    expect(seen.older / seen.all).toBeGreaterThan(0.7)
  })

  test(`[REPL9] an object that rested after its baseline is sent without the row before: every ${strideTicks}`, () => {
    const party = new Party(5, [Cart], 64, () => [new WaryCoder(Cart.schema)], strideTicks)
    party.join(1, () => 0).line = { ...CLEAR, delay: 4 * strideTicks, patience: 100 }
    const cart = party.world.spawn(Cart, { x: 0 })
    const roll = (ticks: number, step: number): number => {
      Object.assign(seen, { older: 0, all: 0 })
      for (let tick = 0; tick < ticks * strideTicks; tick++) party.tick(() => { cart.x += step })
      return seen.older
    }
    expect(roll(40, 0.3)).toBeGreaterThan(3)
    roll(6, 0)
    roll(7, 0.3)
    // A round trip takes eight strides, so the baseline of these rows is the last row before the rest. The cart rested
    // after it, so the row before the baseline is not used.
    expect(roll(4, 0.3)).toBe(0)
    expect(seen.all).toBeGreaterThan(2)
    expect(roll(40, 0.3)).toBeGreaterThan(3)
  })
})
