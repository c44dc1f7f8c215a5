import { describe, expect, test } from 'vitest'
import { familyOf, readXorAddress, writeXorAddress } from './net-address.ts'
import {
  STUN_CLASS, STUN_METHOD, StunMessage, StunWriter, answerBinding, readBindingResponse, readStun, writeBindingRequest,
} from './stun.ts'

const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'))

// RFC 5769, section 2.2 and 2.3: sample responses, with their fingerprints.
const RESPONSE_4 = unhex(`0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147
e112a643000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96`)
const RESPONSE_6 = unhex(`010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000140002a147
0113a9faa5d3f179bc25f4b5bed2b9d900080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c`)
const TRANSACTION = unhex('b7e7a701bc34d686fa87dfae')

describe('STUN', () => {
  test('[NAT12] the sample messages of RFC 5769 are read, with their fingerprints', () => {
    expect(readBindingResponse(RESPONSE_4, RESPONSE_4.length, TRANSACTION)).toBe('192.0.2.1:32853')
    expect(readBindingResponse(RESPONSE_6, RESPONSE_6.length, TRANSACTION)).toBe(
      '[2001:db8:1234:5678:11:2233:4455:6677]:32853',
    )
    const message = new StunMessage()
    expect(readStun(RESPONSE_4, RESPONSE_4.length, message)).toBe(true)
    expect(message.hasFingerprint).toBe(true)
    const damaged = RESPONSE_4.slice()
    damaged[25]! ^= 1
    expect(readStun(damaged, damaged.length, message)).toBe(false)
  })

  test.each(['203.0.113.9:1', '[2001:db8::7]:65535'])('[NAT12] a Binding request is answered with %s', (address) => {
    const request = new Uint8Array(20)
    const length = writeBindingRequest(request, TRANSACTION)
    const message = new StunMessage()
    expect(readStun(request, length, message)).toBe(true)
    const answer = new Uint8Array(100)
    const size = answerBinding(message, address, answer)
    expect(size).toBe(familyOf(address) === 4 ? 32 : 44)
    expect(readBindingResponse(answer, size, TRANSACTION)).toBe(address)
    expect(readBindingResponse(answer, size, new Uint8Array(12))).toBeUndefined()
  })

  test('[NAT12] an unknown mandatory attribute gets the error 420, an optional one is ignored', () => {
    const bytes = new Uint8Array(100)
    const ask = (type: number): StunMessage => {
      const writer = new StunWriter().begin(bytes, STUN_METHOD.binding, STUN_CLASS.request, TRANSACTION, 0)
      const message = new StunMessage()
      expect(readStun(bytes, writer.word(type, 1).end(true), message)).toBe(true)
      return message
    }
    const answer = new Uint8Array(100)
    const read = new StunMessage()
    expect(readStun(answer, answerBinding(ask(0x0003), '192.0.2.1:5', answer), read)).toBe(true)
    expect(read.class).toBe(STUN_CLASS.error)
    expect([...read.value(0x0009)!]).toEqual([0, 0, 4, 20])
    expect([...read.value(0x000a)!]).toEqual([0, 3])
    expect(readStun(answer, answerBinding(ask(0x8099), '192.0.2.1:5', answer), read)).toBe(true)
    expect(read).toMatchObject({ class: STUN_CLASS.success, hasFingerprint: true })
  })

  test('[NAT12] indications, responses and addresses that are no IP get no answer', () => {
    const bytes = new Uint8Array(100)
    const message = new StunMessage()
    for (const kind of [STUN_CLASS.indication, STUN_CLASS.success, STUN_CLASS.error]) {
      const writer = new StunWriter().begin(bytes, STUN_METHOD.binding, kind, TRANSACTION, 0)
      expect(readStun(bytes, writer.end(false), message)).toBe(true)
      expect(answerBinding(message, '192.0.2.1:5', new Uint8Array(100))).toBe(0)
    }
    expect(readStun(bytes, writeBindingRequest(bytes, TRANSACTION), message)).toBe(true)
    expect(answerBinding(message, 'ws/7', new Uint8Array(100))).toBe(0)
  })

  test('[NAT13] an address has one encoding, whatever its spelling', () => {
    const spellings = [['[::ffff:192.0.2.1]:7', '192.0.2.1:7'], ['[2001:DB8:0::1]:7', '[2001:db8::1]:7']]
    for (const [text, canonical] of spellings) {
      const bytes = new Uint8Array(64)
      expect(readXorAddress(bytes, 20, writeXorAddress(text!, bytes, 20, 0) - 20, 0)).toBe(canonical)
    }
    for (const text of ['', 'localhost:5', '192.0.2.1', '192.0.2.1:0', '0x7f.1:5', '[::1]'])
      expect(familyOf(text)).toBe(0)
  })
})
