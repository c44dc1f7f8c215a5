import { expect, test } from 'vitest'
import { BitWriter } from 'tickwire/engine'
import { game, Player } from '../../games/hello/game.ts'
import { quantizeCells } from '../../packages/tickwire/src/core/schema/cells.ts'
import { writeDelta } from '../../packages/tickwire/src/core/schema/row-delta.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { storeValues } from '../../packages/tickwire/src/core/schema/values.ts'

test('[WIRE1] the worked example of the standard is what the engine writes', () => {
  const { schema } = Player
  const heap = new ValueHeap()
  const cells = schema.initialCells.slice()
  const row = new Int32Array(schema.laneCount)
  storeValues(schema, { x: 320, y: 0, hue: 47 }, cells, 0, heap)
  quantizeCells(schema, cells, 0, row, 0)
  const writer = new BitWriter(new Uint8Array(8))
  writeDelta(writer, schema, schema.masks[0], row, 0, schema.initialRow, 0, heap)
  expect(writer.bitLength).toBe(24)
  expect(Buffer.from(writer.bytes.subarray(0, writer.finish())).toString('hex')).toBe('ac802f')
})

test('[WIRE1] the text behind a fingerprint is as the standard shows it', () => {
  expect(game.text).toBe([
    'tickRate 30',
    'codec entropy(2)',
    'input {left:bool;right:bool;up:bool;down:bool}',
    'entity 0 {x:fixed(0,640,0.1);y:fixed(0,360,0.1);hue:int(0,255)}',
  ].join('\n'))
})
