import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bool, text, u8 } from '../schema/field-kinds.ts'
import { rpc } from './rpc.ts'
import { RpcCodec } from './rpc-codec.ts'

const Ask = rpc({ item: text(10) }, { to: 'server', reply: { isSold: bool }, name: 'Ask' })
const Say = rpc({ hp: u8 }, { to: 'all', name: 'Say' })

test('[RPC9] a contradictory definition of a call is refused, with the path and the fix', () => {
  expect(() => rpc({ hp: u8 }, { to: 'all', by: 'owner', name: 'Hit' })).toThrow('Hit.by')
  expect(() => rpc({ hp: u8 }, { to: 'all', reply: { ok: bool }, name: 'Hit' })).toThrow('Hit.reply')
  expect(() => rpc({ hp: u8.owner() }, { to: 'all', name: 'Hit' })).toThrow('Hit.hp')
  expect(() => rpc({ hp: u8 }, { to: 'everyone' as 'all', name: 'Hit' })).toThrow(
    "Hit.to: unknown target \"everyone\". Fix: write who is called: 'server', 'owner', 'all', 'peer'.",
  )
})

test('[RPC9] everything that two builds must agree on is in its text', () => {
  const texts = [
    rpc({ hp: u8 }, { to: 'all' }),
    rpc({ hp: u8 }, { to: 'owner' }),
    rpc({ hp: u8 }, { to: 'all', delivery: 'unreliable' }),
    rpc({ hp: u8 }, { to: 'peer', reply: { ok: bool } }),
    rpc({ hp: u8 }, { to: 'server' }),
    rpc({ hp: u8 }, { to: 'server', by: 'owner' }),
  ].map(({ text: each }) => each)
  expect(new Set(texts).size).toBe(texts.length)
})

test('[RPC10] bytes that are not a call are refused without a throw, and a call has one encoding', () => {
  const codec = new RpcCodec([Ask, Say], 2)
  const start = fc.constantFrom(2, 3, 4)
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 20 }), (first, rest) => {
      const bytes = Uint8Array.of(first, ...rest)
      const received = codec.decode(bytes, bytes.length)
      if (received === undefined) return
      const again =
        received.refusal === undefined
          ? codec.encode(received, received.values)
          : codec.encodeRefusal(received, received.refusal)
      expect([...again!]).toEqual([...bytes])
    }),
    { numRuns: 5000 },
  )
})

test('[RPC10] a call of another game is an error of the caller', () => {
  const stray = rpc({ hp: u8 }, { to: 'all', name: 'Stray' })
  expect(() => new RpcCodec([Ask], 0).encode({ rpc: stray, kind: 'say', tick: 0, object: 0, call: 0 }, {})).toThrow(
    'Stray: not a call of this game',
  )
})
