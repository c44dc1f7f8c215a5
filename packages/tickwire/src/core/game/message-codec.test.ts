import fc from 'fast-check'
import { expect, test } from 'vitest'
import { message } from '../schema/definition.ts'
import { fixed, list, struct, text, u8 } from '../schema/field-kinds.ts'
import { MessageCodec } from './message-codec.ts'

const Chat = message({ text: text(20) }, 'Chat')
const Path = message({ team: u8, points: list(struct({ x: fixed(0, 100, 0.5), label: text(4) }), 5) }, 'Path')
const codec = new MessageCodec([Chat, Path])

test('[GAME3] a message is read back as it was written, and takes one byte beside its fields', () => {
  const bytes = codec.encode(Chat, { text: 'hey' })!.slice()
  expect(bytes).toHaveLength(1 + 1 + 3)
  expect(codec.decode(bytes, bytes.length)).toEqual({ message: Chat, values: { text: 'hey' } })
  const path = { team: 3, points: [{ x: 1.5, label: 'a' }, { x: 99, label: '' }] }
  const more = codec.encode(Path, path)!.slice()
  expect(codec.decode(more, more.length)).toEqual({ message: Path, values: path })
})

test('[GAME3] bytes that are not a message are refused, and never throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
    const received = codec.decode(bytes, bytes.length)
    if (received) expect([...codec.encode(received.message, received.values)!]).toEqual([...bytes])
  }), { numRuns: 2000 })
  expect(codec.decode(new Uint8Array([9]), 1)).toBeUndefined()
})

test('[GAME3] a text that is too long is cut; a value of the wrong type or an unknown message throws', () => {
  const bytes = codec.encode(Chat, { text: 'x'.repeat(21) })!
  expect(codec.decode(bytes, bytes.length)?.values['text']).toBe('x'.repeat(20))
  expect(() => codec.encode(Chat, { text: 5 })).toThrow('Chat.text: 5 is not a string')
  expect(() => codec.encode(message({ hp: u8 }, 'Stray'), { hp: 1 })).toThrow('Stray: not a message of this game')
})
