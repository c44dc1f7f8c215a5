/**
 * Hostile bytes that players send to the authority: inputs for any ticks, and messages of every kind.
 *
 * A message that is accepted is written again in the same bytes. Inputs have one effect a tick at most, whatever
 * arrives.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { MessageCodec } from '../../packages/tickwire/src/core/game/message-codec.ts'
import { quantizeCells } from '../../packages/tickwire/src/core/schema/cells.ts'
import { message } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, fixed, list, struct, text, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { storeValues } from '../../packages/tickwire/src/core/schema/values.ts'
import { InputBuffer } from '../../packages/tickwire/src/core/time/input-buffer.ts'
import { InputSource } from '../../packages/tickwire/src/core/time/input-source.ts'
import type { FuzzTarget } from './target.ts'

const Chat = message({ text: text(20) }, 'Chat')
const Path = message({ team: u8, points: list(struct({ x: fixed(0, 100, 0.5), label: text(4) }), 5) }, 'Path')
const codec = new MessageCodec([Chat, Path])

const messages: FuzzTarget = {
  name: 'game-messages',
  seeds: () => [
    codec.encode(Chat, { text: 'hey' })?.slice(), codec.encode(Chat, { text: '' })?.slice(),
    codec.encode(Path, { team: 3, points: [{ x: 1.5, label: 'a' }, { x: 99, label: '' }] })?.slice(),
  ].filter((bytes) => bytes !== undefined),
  run(bytes) {
    const received = codec.decode(bytes, bytes.length)
    if (received === undefined) return
    const again = codec.encode(received.message, received.values)
    if (again === undefined || again.length !== bytes.length || again.some((byte, at) => byte !== bytes[at])) {
      throw new Error('a message has two encodings')
    }
  },
}

const schema = compileSchema('input', { fire: bool, aim: fixed(-1, 1, 0.01), say: text(10) })
const TICKS = 40

/** Frames as an honest client sends them: one input, three, and more than ride in one frame. */
function honestInputs(): Uint8Array[] {
  const source = new InputSource(schema)
  const frames: Uint8Array[] = []
  for (let tick = 0; tick < TICKS; tick++) {
    const cells = schema.initialCells.slice()
    storeValues(
      schema,
      { fire: tick % 3 === 0, aim: (tick % 20) / 10 - 1, say: tick % 7 === 0 ? 'hi' : '' },
      cells,
      0,
      source.heap,
    )
    quantizeCells(schema, cells, 0, source.ring.rows, source.ring.at(tick))
    source.push(tick, Math.max(0, tick - 2.5))
    if (tick !== 0 && tick !== 2 && tick !== TICKS - 1) continue
    const out = new BitWriter(new Uint8Array(1200))
    if (source.fill(0, tick + 1, out)) frames.push(out.bytes.slice(0, out.finish()))
  }
  return frames
}

const inputs: FuzzTarget = {
  name: 'game-inputs',
  seeds: honestInputs,
  run(bytes) {
    const position = { tick: 0, alpha: (): number => 0.5 }
    const buffer = new InputBuffer(schema, new ValueHeap(), position)
    for (let repeat = 0; repeat < 2; repeat++) {
      const verdict = buffer.accept(0, 1 + repeat, new BitReader(bytes))
      if (verdict !== 'ok' && verdict !== 'broken') throw new Error(`a verdict of ${verdict}`)
    }
    for (position.tick = 1; position.tick < TICKS; position.tick++) {
      buffer.take(position.tick)
      if (!(buffer.viewTick >= 0 && buffer.viewTick <= position.tick))
        throw new Error(`looks at tick ${buffer.viewTick}`)
    }
  },
}

export const targets: readonly FuzzTarget[] = [messages, inputs]
