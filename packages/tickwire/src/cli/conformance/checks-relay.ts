/**
 * Checks of a packet relay: docs/wire/RELAY.md.
 */

import { randomBytes } from 'node:crypto'
import type { Check, Lab } from './check.ts'
import type { Line } from './line.ts'
import { HANDSHAKE, HEAD_BYTES, NO_CONNECTION, TYPE, writeHead } from './packets.ts'
import { askRelay, cookieFor, datagramOf, handshakeOf, pingBody, reasonOf, RelayPeer } from './relay-peer.ts'
import {
  allocateBody, CONTROL_TYPE, COOKIE_BYTES, isChannel, RELAY, RELAY_REASON, type TokenFields, writeRelay,
  writeToken,
} from './relay-wire.ts'

const CONTROL = 'RELAY.md, Relay control'
const TOKEN = 'RELAY.md, Relay token'
const BEHAVIOUR = 'RELAY.md, Behaviour'
const DATA = 'RELAY.md, Channel data'
const LIFE_SECONDS = 30
const TOKEN_BYTES = 133
/** Where a token has its kbit/s. */
const KBITS_AT = 57
const CHANNEL_MIN = 0x4000
const CHANNEL_MAX = 0x7fff

/** Two peers of a session that have bound each other, and the channel of each. */
interface Pair {
  readonly one: RelayPeer
  readonly other: RelayPeer
  readonly toOther: number
  readonly toOne: number
}

async function pair(lab: Lab): Promise<Pair | string> {
  const session = randomBytes(16)
  const [one, other] = [await lab.allocate(session), await lab.allocate(session)]
  const [toOther, toOne] = [await one.bind(other), await other.bind(one)]
  return typeof toOther === 'number' && typeof toOne === 'number'
    ? { one, other, toOther, toOne } : `Bind within a session: ${typeof toOther === 'string' ? toOther : toOne}`
}

/** Runs a check with a pair. */
const withPair = (run: (two: Pair, lab: Lab) => Promise<string | undefined>): Check['run'] => async (lab) => {
  const two = await pair(lab)
  return typeof two === 'string' ? two : await run(two, lab)
}

/** Checks that a datagram of one peer arrives at the other as it is. */
async function passes(two: Pair, what: string, datagram: Buffer): Promise<string | undefined> {
  const { one, other, toOther, toOne } = two
  const data = await one.reach(toOther, datagram, other, one.line.target.answerMs)
  if (data === undefined) return `${what} does not arrive`
  if (data.readUInt16BE(0) !== toOne) return `${what} arrives on another channel than its receiver has bound`
  return datagramOf(data).equals(datagram) ? undefined : `${what} arrives with other bytes`
}

/** Checks that a datagram of one peer does not arrive at the other. */
async function isHeld({ one, other, toOther }: Pair, what: string, datagram: Buffer): Promise<string | undefined> {
  const data = await one.reach(toOther, datagram, other, one.line.target.silenceMs)
  return data === undefined ? undefined : `${what} arrives`
}

/** A token with a wrong field must give Error 1 at a proven address. */
async function isRefused(line: Line, what: string, token: Buffer): Promise<string | undefined> {
  const cookie = await cookieFor(line, token)
  if (cookie === undefined) return 'no cookie'
  const answer = await askRelay(line, (transaction) => RelayPeer.allocation(cookie, token, transaction), 10)
  if (answer === undefined) return `${what}: no answer`
  return answer.kind === RELAY.error && answer.body[0] === RELAY_REASON.token
    ? undefined : `${what}: ${answer.kind === RELAY.error ? reasonOf(answer) : `kind ${answer.kind}`}`
}

/** A packet with a connection id. */
const packetOf = (type: number, connection: Buffer, first: number): Buffer =>
  Buffer.concat([writeHead(type, { connection, sequence: type === TYPE.handshake ? 0 : 1 }), Buffer.alloc(40, first)])

export const RELAY_CHECKS: readonly Check[] = [
  {
    id: 'relay-cookie', section: BEHAVIOUR, says: 'an Allocate without a cookie gets a Cookie, and nothing else',
    async run(lab) {
      const line = await lab.line()
      const question = allocateBody(undefined, Buffer.alloc(TOKEN_BYTES))
      const answer = await askRelay(
        line, (transaction) => writeRelay(RELAY.allocate, NO_CONNECTION, transaction, question), 1,
      )
      if (answer === undefined) return 'no answer with its transaction: is this the UDP port of a relay?'
      if (answer.kind !== RELAY.cookie || answer.body.length !== COOKIE_BYTES) return `kind ${answer.kind}`
      if (!answer.allocation.equals(NO_CONNECTION)) return 'the Cookie has an allocation id'
      return answer.body.equals(Buffer.alloc(COOKIE_BYTES)) ? 'the cookie is zeros' : undefined
    },
  },
  {
    id: 'relay-silence', section: CONTROL, says: 'messages that are not exactly as described get no answer',
    async run(lab) {
      const line = await lab.line()
      const ask = (kind: number, body: Uint8Array): Buffer => writeRelay(kind, NO_CONNECTION, 1, body)
      const nonce = randomBytes(8)
      const good = ask(RELAY.ping, pingBody(nonce))
      const old = Buffer.from(good)
      old[3] = 2
      const long = Buffer.concat([good.subarray(0, HEAD_BYTES - 1), Buffer.of(0x81, 0), good.subarray(HEAD_BYTES)])
      const answers = await line.answersTo(
        old, long, good.subarray(0, -1), Buffer.concat([good, Buffer.of(0)]),
        ask(RELAY.ping, Buffer.concat([nonce, Buffer.alloc(24, 1)])),
        ask(RELAY.allocate, Buffer.alloc(COOKIE_BYTES + 1)), ask(14, Buffer.alloc(40)),
        ask(RELAY.cookie, Buffer.alloc(COOKIE_BYTES)), ask(RELAY.error, Buffer.of(1)),
      )
      return answers.length === 0 ? undefined : `an answer of kind ${answers[0]?.[HEAD_BYTES - 2]}`
    },
  },
  {
    id: 'relay-size', section: BEHAVIOUR, says: 'no answer is longer than its question',
    async run(lab) {
      const stranger = randomBytes(8)
      const key = randomBytes(16)
      for (const question of [
        writeRelay(RELAY.allocate, NO_CONNECTION, 1, allocateBody(undefined, Buffer.alloc(0))),
        writeRelay(RELAY.ping, NO_CONNECTION, 2, pingBody(randomBytes(8))),
        writeRelay(RELAY.ping, stranger, 3, pingBody(randomBytes(8))),
        writeRelay(RELAY.bind, stranger, 4, Buffer.alloc(16, 1), key),
        writeRelay(RELAY.refresh, stranger, 5, Buffer.alloc(18, 1), key),
      ]) {
        const answers = await (await lab.line()).answersTo(question)
        const bytes = answers.reduce((sum, answer) => sum + answer.length, 0)
        if (bytes > question.length) return `${bytes} bytes to a question of ${question.length}`
      }
      return undefined
    },
  },
  {
    id: 'relay-ping', section: CONTROL, says: 'a Pong has the nonce of its Ping, and the address of the peer as seen',
    async run(lab) {
      const line = await lab.line()
      const nonce = randomBytes(8)
      const answer = await askRelay(
        line, (transaction) => writeRelay(RELAY.ping, NO_CONNECTION, transaction, pingBody(nonce)), 1,
      )
      if (answer?.kind !== RELAY.pong) return 'no Pong'
      if (!answer.body.subarray(0, 8).equals(nonce)) return 'another nonce'
      const family = answer.body[9]
      return family === 4 || family === 6 ? undefined : 'no address'
    },
  },
  {
    id: 'relay-allocate', section: BEHAVIOUR, needsEntry: true,
    says: 'with a cookie and a token a peer gets an allocation, and the same one when it asks again',
    async run(lab) {
      const peer = await lab.allocate()
      if (peer.allocation.equals(NO_CONNECTION)) return 'the allocation id is 0'
      if (peer.granted.readUInt16LE(16) !== LIFE_SECONDS) return `a life of ${peer.granted.readUInt16LE(16)} s`
      const again = await askRelay(
        peer.line, (transaction) => RelayPeer.allocation(peer.cookie, peer.token, transaction), 20,
      )
      if (again?.kind !== RELAY.allocateOk) return 'asked again, it gives no AllocateOk'
      return again.allocation.equals(peer.allocation) && again.body.equals(peer.granted)
        ? undefined : 'asked again, it gives another answer'
    },
  },
  {
    id: 'relay-spent', section: BEHAVIOUR, needsEntry: true,
    says: 'a token that has an allocation gets Error 2 at another address',
    async run(lab) {
      const { token } = await lab.allocate()
      const line = await lab.line()
      const cookie = await cookieFor(line, token)
      if (cookie === undefined) return 'no cookie'
      const answer = await askRelay(line, (transaction) => RelayPeer.allocation(cookie, token, transaction), 10)
      return answer?.kind === RELAY.error && answer.body[0] === RELAY_REASON.quota ? undefined : 'it is taken twice'
    },
  },
  {
    id: 'relay-token', section: TOKEN, needsEntry: true,
    says: 'a token that is forged, expired, or for other relays gets Error 1',
    async run(lab) {
      const { relay } = lab.target
      await lab.allocate()
      if (relay === undefined) return undefined
      const line = await lab.line()
      const of = (fields: TokenFields): Buffer => writeToken(relay, fields)
      const bent = of({})
      bent[KBITS_AT] = (bent[KBITS_AT] ?? 0) ^ 1
      const forged = of({})
      forged[forged.length - 1] = (forged[forged.length - 1] ?? 0) ^ 1
      return await isRefused(line, 'a forged signature', forged) ?? await isRefused(line, 'a changed byte', bent)
        ?? await isRefused(line, 'an expired token', of({ expiresIn: -60 }))
        ?? await isRefused(line, 'a token for other relays', of({ audience: `${relay.audience.slice(0, 30)}-x` }))
        ?? await isRefused(line, 'a token of another issuer', of({ secret: randomBytes(32) }))
    },
  },
  {
    id: 'relay-address', section: BEHAVIOUR, needsEntry: true,
    says: 'the cookie of another address gets a Cookie, and no allocation',
    async run(lab) {
      const { relay } = lab.target
      await lab.allocate()
      if (relay === undefined) return undefined
      const token = writeToken(relay)
      const cookie = await cookieFor(await lab.line(), token)
      if (cookie === undefined) return 'no cookie'
      const answer = await askRelay(
        await lab.line(), (transaction) => RelayPeer.allocation(cookie, token, transaction), 10,
      )
      return answer?.kind === RELAY.cookie ? undefined : `kind ${answer?.kind ?? 'none'}`
    },
  },
  {
    id: 'relay-data', section: DATA, needsEntry: true,
    says: 'data of two peers that have bound each other passes unchanged, on the channel of its receiver',
    run: withPair(async (two) => {
      const { one, other, toOther, toOne } = two
      if (toOther < CHANNEL_MIN || toOther > CHANNEL_MAX) return `channel ${toOther}`
      return await passes(two, 'a handshake', handshakeOf(1))
        ?? await passes({ one: other, other: one, toOther: toOne, toOne: toOther }, 'the answer', handshakeOf(2))
    }),
  },
  {
    id: 'relay-both', section: BEHAVIOUR, says: 'data passes once both peers have bound each other, and not before',
    needsEntry: true,
    async run(lab) {
      const session = randomBytes(16)
      const [one, other] = [await lab.allocate(session), await lab.allocate(session)]
      const toOther = await one.bind(other)
      if (typeof toOther === 'string') return `Bind within a session: ${toOther}`
      const half = { one, other, toOther, toOne: 0 }
      const seen = await isHeld(half, 'data that only its sender has bound', handshakeOf(1))
      if (seen !== undefined) return seen
      const toOne = await other.bind(one)
      return typeof toOne === 'string' ? `Bind within a session: ${toOne}`
        : await passes({ one, other, toOther, toOne }, 'data after both have bound', handshakeOf(2))
    },
  },
  {
    id: 'relay-session', section: BEHAVIOUR, says: 'peers of two sessions cannot bind each other', needsEntry: true,
    async run(lab) {
      const [one, other] = [await lab.allocate(), await lab.allocate()]
      const bound = await one.bind(other)
      return bound === 'unknown' ? undefined : `Bind gets ${typeof bound === 'string' ? bound : 'a channel'}`
    },
  },
  {
    id: 'relay-mac', section: CONTROL, says: 'a Bind with one wrong bit has no effect', needsEntry: true,
    run: withPair(async ({ one, other }) => {
      for (const at of [HEAD_BYTES + 15, -1]) {
        const bind = one.write(RELAY.bind, Buffer.concat([other.allocation, Buffer.alloc(8)]))
        const index = at < 0 ? bind.length + at : at
        bind[index] = (bind[index] ?? 0) ^ 1
        if ((await one.line.answersTo(bind)).length > 0) return 'it is answered'
      }
      return undefined
    }),
  },
  {
    id: 'relay-order', section: BEHAVIOUR, says: 'a message with an old transaction is dropped', needsEntry: true,
    run: withPair(async ({ one, other }) => {
      const body = Buffer.concat([other.allocation, NO_CONNECTION])
      const bind = one.write(RELAY.bind, body)
      if ((await one.line.answersTo(bind)).length !== 1) return 'a Bind is not answered'
      return (await one.line.answersTo(bind)).length > 0 ? 'a copy is answered' : undefined
    }),
  },
  {
    id: 'relay-content', section: DATA, says: 'data that is no packet of a connection of the two is not forwarded',
    needsEntry: true,
    run: withPair(async (two) =>
      await isHeld(two, 'noise', Buffer.alloc(40, 0x11))
        ?? await isHeld(two, 'relay control', Buffer.concat([writeHead(CONTROL_TYPE), Buffer.alloc(40)]))
        ?? await isHeld(two, 'a payload without a connection', packetOf(TYPE.payload, NO_CONNECTION, 1))
        ?? await isHeld(two, 'a payload of an unknown connection', packetOf(TYPE.payload, randomBytes(8), 1))),
  },
  {
    id: 'relay-connection', section: DATA, needsEntry: true,
    says: 'packets of a connection pass after its Accepted, and when it was named in a Bind',
    run: withPair(async (two) => {
      const { one, other, toOther, toOne } = two
      const [accepted, named] = [randomBytes(8), randomBytes(8)]
      const seen = await passes(two, 'an Accepted', packetOf(TYPE.handshake, accepted, HANDSHAKE.accepted))
        ?? await passes(two, 'a payload after its Accepted', packetOf(TYPE.payload, accepted, 1))
        ?? await passes(
          { one: other, other: one, toOther: toOne, toOne: toOther }, 'a payload the other way',
          packetOf(TYPE.payload, accepted, 2),
        )
      if (seen !== undefined) return seen
      await other.bind(one, named)
      return await passes(two, 'a payload of a connection that was named in a Bind', packetOf(TYPE.payload, named, 3))
    }),
  },
  {
    id: 'relay-free', section: BEHAVIOUR, says: 'a Refresh with life 0 frees the allocation', needsEntry: true,
    run: withPair(async (two) => {
      const { one, other } = two
      const kept = await one.refresh(LIFE_SECONDS)
      if (kept?.kind !== RELAY.refreshOk || kept.body.readUInt16LE(0) !== LIFE_SECONDS)
        return 'a Refresh gets no RefreshOk with 30 s'
      const freed = await other.refresh(0)
      if (freed?.kind !== RELAY.refreshOk || freed.body.readUInt16LE(0) !== 0) return 'no RefreshOk with life 0'
      const bound = await one.bind(other)
      if (bound !== 'unknown') return `it can still be bound: ${bound}`
      return isHeld(two, 'data for it', handshakeOf(1))
    }),
  },
  {
    id: 'relay-lost', section: BEHAVIOUR, needsEntry: true,
    says: 'a Ping that names an allocation and comes from another address gets Error 4',
    async run(lab) {
      const peer = await lab.allocate()
      const here = await peer.ask(RELAY.ping, pingBody(randomBytes(8)))
      if (here?.kind !== RELAY.pong) return 'a Ping from its own address gets no Pong'
      const there = await peer.ask(RELAY.ping, pingBody(randomBytes(8)), await lab.line())
      return there?.kind === RELAY.error && there.body[0] === RELAY_REASON.unknown
        ? undefined : `it gets ${there === undefined ? 'no answer' : `kind ${there.kind}`}`
    },
  },
  {
    id: 'relay-move', section: BEHAVIOUR, needsEntry: true,
    says: 'an allocation moves to another address with a cookie of that address, and not without',
    run: withPair(async ({ one, other, toOther, toOne }, lab) => {
      const old = other.line
      const line = await lab.line()
      const first = await other.refresh(LIFE_SECONDS, undefined, line)
      if (first?.kind !== RELAY.cookie) return 'a Refresh from another address gets no Cookie'
      const two = { one, other, toOther, toOne }
      const stays = await passes(two, 'data for the old address', handshakeOf(1))
      if (stays !== undefined) return stays
      const moved = await other.refresh(LIFE_SECONDS, first.body, line)
      if (moved?.kind !== RELAY.refreshOk) return 'with the cookie it gets no RefreshOk'
      other.line = line
      const from = old.received.length
      const seen = await passes(two, 'data for the new address', handshakeOf(2))
      return seen ?? (old.received.slice(from).some(isChannel) ? 'data still goes to the old address' : undefined)
    }),
  },
]

