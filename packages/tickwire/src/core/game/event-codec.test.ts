import { expect, test } from 'vitest'
import { Dice } from 'tickwire/testing'
import { message } from '../schema/definition.ts'
import { text, u8 } from '../schema/field-kinds.ts'
import { EventCodec, type StepEvent } from './event-codec.ts'

const Boom = message({ power: u8 }, 'Boom')
const Cry = message({ words: text(20) }, 'Cry')

function eventOf(values: Record<string, unknown>, kind: typeof Boom | typeof Cry = Boom): StepEvent {
  return { tick: 70_000, object: 0xffff_ffff, ordinal: 3, birth: [1, 9, 69_990, 2], message: kind as never, values }
}

test('an event is read back as it was written', () => {
  const codec = new EventCodec([Boom, Cry] as never, 4)
  for (const event of [eventOf({ power: 200 }), eventOf({ words: 'héllo' }, Cry)]) {
    const bytes = codec.encode(event)!
    expect(bytes[0]).toBe(6)
    expect(codec.decode(bytes.slice(), bytes.length)).toEqual(event)
  }
})

test('any other bytes are refused: another number, a cut, a changed end, random bytes', () => {
  const codec = new EventCodec([Boom, Cry] as never, 0)
  const bytes = codec.encode(eventOf({ power: 7 }))!.slice()
  for (let length = 0; length < bytes.length; length++) expect(codec.decode(bytes, length), `${length}`).toBeUndefined()
  expect(codec.decode(Uint8Array.of(codec.number + 1, ...bytes.subarray(1)), bytes.length)).toBeUndefined()
  expect(codec.decode(Uint8Array.of(...bytes, 0), bytes.length + 1)).toBeUndefined()
  const dice = new Dice(5)
  for (let round = 0; round < 500; round++) {
    const random = new Uint8Array(24)
    dice.fill(random)
    const event = codec.decode(random, random.length)
    if (event !== undefined) expect(codec.encode(event)).toEqual(random)
  }
})
