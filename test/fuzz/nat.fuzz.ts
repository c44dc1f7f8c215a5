/** Hostile input for NAT traversal: STUN messages, relay control, and everything that a relay receives. */

import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { PacketRelay } from '../../packages/tickwire/src/core/nat/packet-relay.ts'
import { parseRelayToken } from '../../packages/tickwire/src/core/nat/relay-token.ts'
import {
  RelayMessage, hasMac, readRelay, writeRelay,
} from '../../packages/tickwire/src/core/nat/relay-wire.ts'
import {
  StunMessage, answerBinding, readStun, writeBindingRequest,
} from '../../packages/tickwire/src/core/nat/stun.ts'
import { StunResponder } from '../../packages/tickwire/src/core/nat/stun-responder.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import vectors from '../vectors/relay.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'
import { createTurnPair } from './turn-pair.ts'

const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0
const messages = vectors.messages.map(({ bytes }) => unhex(bytes))

function fail(why: string): never {
  throw new Error(why)
}

function bindingRequest(): Uint8Array {
  const bytes = new Uint8Array(20)
  writeBindingRequest(bytes, new Uint8Array(12).fill(9))
  return bytes
}

const control: FuzzTarget = {
  name: 'relay-control',
  seeds: () => messages,
  run(bytes) {
    const message = new RelayMessage()
    if (!readRelay(bytes, bytes.length, message)) return
    const again = new Uint8Array(Math.max(2000, bytes.length + 100))
    const length = writeRelay(message, again)
    const body = bytes.subarray(0, hasMac(message.kind) ? bytes.length - 8 : bytes.length)
    if (!isSame(again.subarray(0, length), body)) fail('accepted, but not the only encoding')
  },
}

const stun: FuzzTarget = {
  name: 'stun',
  seeds: () => [bindingRequest(), unhex('0101000c2112a442b7e7a701bc34d686fa87dfae002000080001a147e112a643')],
  run(bytes) {
    const message = new StunMessage()
    if (!readStun(bytes, bytes.length, message)) return
    for (let index = 0; index < message.count; index++) message.address(index)
    const answer = new Uint8Array(1500)
    if (answerBinding(message, '192.0.2.1:5', answer) > bytes.length + 24) fail('an answer that is too long')
  },
}

/** One for all inputs, because its tables are large. Each input comes a second later, so none is over a limit. */
const server = new StunResponder(new Dice(3))
let now = 0

const responder: FuzzTarget = {
  name: 'stun-responder',
  seeds: stun.seeds,
  run(bytes) {
    const out = createTransmit()
    now += 1000
    for (const from of ['192.0.2.1:5', '[2001:db8::1]:5']) {
      if (!server.handleDatagram(now, from, bytes, bytes.length, out)) continue
      if (out.to !== from) fail('an answer to another address')
      if (out.length > bytes.length + 24) fail('an answer that is too long')
    }
  },
}

const token: FuzzTarget = {
  name: 'relay-token',
  seeds: () => [unhex(vectors.token.bytes)],
  run(bytes) {
    const said = parseRelayToken(bytes)
    if (said !== undefined && said.session.length + said.id.length !== 32) fail('fields of another size')
  },
}

const crypto = new StubCrypto()

const relay: FuzzTarget = {
  name: 'packet-relay',
  seeds: () => [...messages, bindingRequest(), unhex('4000000454455354')],
  run(bytes) {
    const own = new PacketRelay({
      provider: crypto, entropy: new Dice(3), issuers: [new Uint8Array(32).fill(4)], relayed: '203.0.113.1:7777',
      wallSeconds: () => 1_800_000_000, allocationsMax: 8,
    })
    const out = createTransmit()
    for (const from of ['192.0.2.1:5', '[2001:db8::1]:5', 'ws/1']) {
      if (!own.handleDatagram(0, from, bytes, bytes.length, out)) continue
      if (out.to !== from) fail('an answer to another address')
      if (out.length > 2 * bytes.length + 4) fail('an answer that is too long')
    }
    if (own.allocations > 0) fail('an allocation without a token')
  },
}

/** Two TURN clients of one session: whatever they send, it goes to one of the two. */
const turn: FuzzTarget = {
  name: 'turn',
  seeds: () => [
    ...createTurnPair().samples, ...vectors.turn.exchange.map(({ bytes }) => unhex(bytes)),
    ...vectors.turn.exchange.flatMap(({ answer }) => (answer === undefined ? [] : [unhex(answer.bytes)])),
  ],
  run(bytes) {
    const pair = createTurnPair()
    const out = createTransmit()
    for (const from of [...pair.addresses, '192.0.2.99:9']) {
      if (!pair.relay.handleDatagram(pair.now, from, bytes, bytes.length, out)) continue
      if (out.to !== from && !pair.addresses.includes(out.to)) fail('data to another address')
      if (out.to !== from && from === '192.0.2.99:9') fail('data of a stranger')
      if (out.to === from && out.length > 2 * bytes.length) fail('an answer that is too long')
    }
    if (pair.relay.allocations > 2) fail('an allocation without a token')
  },
}

export const targets: readonly FuzzTarget[] = [control, stun, responder, token, relay, turn]
