/**
 * The time that a codec takes for an object, beside a control loop in the same run: encode, decode, and copy the
 * encoded bits.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { RowPair, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { interleave, type Contender, type Timing } from '../harness.ts'
import { FIELD_COUNT } from '../scenario.ts'
import { aim, type Crowd } from './codec-level.ts'

const FIRST_TICK = 30
const TICKS = 20
const ROOM_BYTES = 1 << 18

/** Timings in ns per object; the control is a hundred steps of a generator that write to a table. */
export function timeCodec(coder: RowCoder, crowd: Crowd, distance: number, rounds: number): Timing[] {
  const objects = TICKS * crowd.players
  const heap = new ValueHeap()
  const pair = new RowPair()
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const target = new BitWriter(new Uint8Array(ROOM_BYTES))
  const reader = new BitReader(new Uint8Array(0))
  const got = new Int32Array(FIELD_COUNT)
  const encode = (tick: number): void => {
    writer.reset(writer.bytes)
    for (let player = 0; player < crowd.players; player++) {
      aim(pair, crowd, tick, distance, player)
      coder.write(writer, 0, pair, heap)
    }
  }
  const ticks = Array.from({ length: TICKS }, (_, index) => FIRST_TICK + index)
  const packed = ticks.map((tick) => {
    encode(tick)
    return writer.bytes.slice(0, writer.finish())
  })
  // As many bits as a delta has, from word to word, as in the buffer of a tick.
  const bitsEach = Math.max(1, Math.floor((Math.min(...packed.map(({ length }) => length)) * 8) / crowd.players))
  const contenders: Contender[] = [
    { name: 'encode', ops: objects, run() { for (const tick of ticks) encode(tick) } },
    {
      name: 'decode', ops: objects, run() {
        ticks.forEach((tick, index) => {
          reader.reset(packed[index]!)
          for (let player = 0; player < crowd.players; player++) {
            aim(pair, crowd, tick, distance, player)
            pair.rows = got
            pair.at = 0
            coder.read(reader, 0, pair, heap)
          }
        })
      },
    },
    {
      name: 'copy', ops: objects, run() {
        for (const bytes of packed) {
          target.reset(target.bytes)
          for (let player = 0; player < crowd.players; player++)
            target.copyBits(bytes, (player * bitsEach) & ~31, bitsEach)
        }
      },
    },
    control(objects),
  ]
  return interleave(contenders, rounds, 20)
}

function control(ops: number): Contender {
  const table = new Int32Array(1024)
  let state = 1
  return {
    name: 'control', ops, run() {
      for (let step = 0; step < ops * 100; step++) {
        state ^= state << 13
        state ^= state >>> 17
        state ^= state << 5
        table[state & 1023]! ^= state
      }
    },
  }
}
