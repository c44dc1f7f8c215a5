/**
 * Hostile bytes for a game's frames of time and inputs: inputs, timing, the inputs of others, and events of `step`.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EventCodec } from '../../packages/tickwire/src/core/game/event-codec.ts'
import { message } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, fixed, list, text, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { InputBuffer } from '../../packages/tickwire/src/core/time/input-buffer.ts'
import { InputSource } from '../../packages/tickwire/src/core/time/input-source.ts'
import { PeerInputsSink, PeerInputsSource } from '../../packages/tickwire/src/core/time/peer-inputs.ts'
import { TimingSink, TimingSource } from '../../packages/tickwire/src/core/time/timing-frame.ts'
import type { FrameSink, FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import type { FuzzTarget } from './target.ts'

const schema = compileSchema('input', { fire: bool, aim: fixed(-1, 1, 0.01), say: text(10), path: list(u8, 4) })
const position = { tick: 100, alpha: (): number => 0.25 }

function frameOf(source: FrameSource): Uint8Array {
  const writer = new BitWriter(new Uint8Array(1200))
  source.fill(0, 1, writer)
  return writer.bytes.slice(0, writer.finish())
}

/** Feeds the bytes twice, in two packets: the second is read in the state that the first left. */
function feed(sink: FrameSink, bytes: Uint8Array): void {
  sink.accept(0, 1, new BitReader(bytes))
  sink.accept(1, 2, new BitReader(bytes))
}

const inputs: FuzzTarget = {
  name: 'input-frames',
  seeds: () => [1, 5, 32].map((count) => {
    const source = new InputSource(schema)
    for (let tick = 101; tick < 101 + count; tick++) source.push(tick, tick - 3.5 - tick % 3)
    return frameOf(source)
  }),
  run: (bytes) => {
    const buffer = new InputBuffer(schema, new ValueHeap(), position)
    feed(buffer, bytes)
    for (let tick = 101; tick < 110; tick++) buffer.take(tick)
  },
}

const timing: FuzzTarget = {
  name: 'timing-frames',
  seeds: () =>
    [NaN, 0xdead_beef].map((digest) =>
      frameOf(new TimingSource(position, new InputBuffer(schema, new ValueHeap(), position), () => digest)),
    ),
  run: (bytes) => feed(new TimingSink({ handleTiming: () => {} }), bytes),
}

const others: FuzzTarget = {
  name: 'peer-input-frames',
  seeds: () => [0, 3].map((count) => frameOf(new PeerInputsSource(schema, new ValueHeap(), {
    tick: 100, forEachHeld: (each) => { for (let peer = 1; peer <= count; peer++) each(peer, schema.initialRow) },
  }, 99, 1))),
  run: (bytes) => feed(new PeerInputsSink(schema, new ValueHeap()), bytes),
}

const Boom = message({ size: u8, label: text(10) }, 'Boom')
const codec = new EventCodec([Boom], 3)

const events: FuzzTarget = {
  name: 'step-events',
  seeds: () => [
    codec
      .encode({
        tick: 900,
        object: 65_537,
        ordinal: 0,
        birth: [0, 1, 800, 2],
        message: Boom,
        values: { size: 3, label: 'hey' },
      })!
      .slice(),
  ],
  run: (bytes) => {
    codec.decode(bytes, bytes.length)
  },
}

export const targets: readonly FuzzTarget[] = [inputs, timing, others, events]
