/**
 * One mistake for each check of `tickwire conformance`: a server of another implementation that has it must be found
 * by that check. A mistake is a change of the engine, as the planted bugs of the simulation are.
 */

import type { SourcePatch } from '../../tools/sim-bundle.ts'

/** A server with one mistake. */
export interface ForeignFault {
  /** The check that finds it. */
  readonly check: string
  /** What the server does. */
  readonly does: string
  readonly patches: readonly SourcePatch[]
}

const fault = (check: string, does: string, file: string, find: string, replace: string): ForeignFault =>
  ({ check, does, patches: [{ file: `core/${file}.ts`, find, replace }] })

const ADMISSION = 'endpoint/admission'
const HANDSHAKE = 'connection/handshake'
const FLOW = 'connection/packet-flow'

/** Mistakes of every server. */
export const SERVER_FAULTS: readonly ForeignFault[] = [
  fault('ask-challenge', 'answers with another salt', ADMISSION,
    'writeChallenge(out, saltLo,', 'writeChallenge(out, saltLo ^ 1,'),
  fault('ask-length', 'takes long and short requests', HANDSHAKE,
    "if (length !== REQUEST_BYTES) return 'malformed'\n  if (!isOurVersion)", 'if (!isOurVersion)'),
  fault('ask-padding', 'takes any padding', HANDSHAKE,
    "for (let index = end; index < length; index++) if (bytes[index] !== 0) return 'malformed'\n", ''),
  fault('ask-noise', 'answers packets of unknown types', 'endpoint/endpoint',
    'else if (header.type > DISCONNECT) this.drops.type++',
    'else if (header.type > DISCONNECT) this.#admission?.handleStray(now, from, 1, 1, 40)'),
  fault('ask-number', 'takes requests with a sequence', HANDSHAKE,
    'if (header.sequence !== 0 || header.epoch !== 0 || length', 'if (length'),
  fault('ask-version', 'names another reason', ADMISSION,
    "writeRejected(out, saltLo, saltHi, byteOf('version'))", "writeRejected(out, saltLo, saltHi, byteOf('full'))"),
  fault('ask-suites', 'challenges with suite 0', ADMISSION, 'if (suite === 0) {', 'if (!isOurVersion) {'),
  fault('ask-preference', 'takes the last suite that it knows', 'endpoint/open-response',
    'return suites.find((id)', 'return suites.findLast((id)'),
  fault('answer-cookie', 'takes cookies of any address', 'crypto/challenge-cookie',
    'bytes[ADDRESS_AT + 2 * index] = code\n', ''),
  fault('answer-seal', 'answers a response that does not open', ADMISSION,
    'if (asked === undefined) this.drops.forged++',
    'if (asked === undefined) this.handleStray(now, from, 1, 1, length)'),
  fault('answer-suites', 'takes any suite of the response', 'endpoint/open-response',
    'const suite = chosen === message.suite ? security.suites.find(({ id }) => id === chosen) : undefined',
    'const suite = security.suites.find(({ id }) => id === message.suite)'),
  fault('answer-zero-key', 'agrees on a secret of zeros', 'endpoint/open-response',
    'key.agree(message.clientKey)', 'key.agree(message.clientKey) ?? new Uint8Array(32)'),
  fault('answer-old-cookie', 'takes cookies for a minute', 'base/limits-crypto',
    'CHALLENGE_BUCKET_MS = 4000', 'CHALLENGE_BUCKET_MS = 60000'),
  fault('answer-schema', 'accepts another fingerprint', ADMISSION,
    'if (!isOurs(fingerprint) && !fingerprints.some(isOurs)) {', 'if (!isOurs(hello.fingerprint)) {'),
  fault('accept', 'takes datagrams of 1000 bytes at most', ADMISSION,
    'datagramBytesMax: this.#config.maxDatagramBytes,', 'datagramBytesMax: 1000,'),
  fault('accept-again', 'does not repeat its acceptance', ADMISSION, 'this.#say(from, known.accepted)', '{}'),
  fault('suite-2', 'forgets the salt of suite 2', 'crypto/suite', 'nonce.set(salt)\n', ''),
  fault('packets-whole', 'ends its packets with a byte too many', 'packet/packet-builder',
    'return this.#byteOffset + this.#out.finish()\n', 'return this.#byteOffset + this.#out.finish() + 1\n'),
  fault('sequence', 'skips every second number', FLOW,
    'this.#lastSequence = header.sequence\n',
    'this.#lastSequence = header.sequence\n    if (header.sequence > 3 && header.sequence % 2 === 0) out.length = 0\n'),
  fault('heartbeat', 'is silent after six packets', 'connection/connection',
    'const isOwed = now >= this.#opening.retryAt',
    'if (this.stats.packetsSent > 6) return false\n    const isOwed = now >= this.#opening.retryAt'),
  fault('acks', 'acknowledges packets that never arrived', 'delivery/ack-window',
    'block.lo = this.#lo\n', 'block.lo = 0xffffffff\n'),
  fault('acks-late', 'forgets late packets', 'delivery/ack-window',
    '} else if (distance >= -64) {', '} else if (false) {'),
  fault('acks-delay', 'says a delay of a second', 'delivery/ack-window',
    'Math.floor((now - this.#latestAt) / ACK_DELAY_UNIT_MS)', 'Math.floor(1000 / ACK_DELAY_UNIT_MS)'),
  {
    check: 'replay', does: 'takes copies', patches: [
      { file: 'core/crypto/key-ring.ts', find: "if (freshness !== 'new') return freshness\n", replace: '' },
      {
        file: 'core/crypto/key-ring.ts', find: 'opener.window.mark(sequence)',
        replace: "if (freshness === 'new') opener.window.mark(sequence)",
      },
    ],
  },
  fault('seal', 'does not authenticate the epoch', 'crypto/key-ring',
    "if (opener === undefined || (opener.key.epoch & 0xff) !== epochByte) return 'epoch'",
    "if (opener === undefined) return 'epoch'\n    bytes[13] = opener.key.epoch"),
  fault('frame-rules', 'takes payloads without frames', FLOW,
    'hasFrames !== (header.type === PAYLOAD)', 'false'),
  fault('path-check', 'does not answer path checks', 'connection/control', 'writePath(PATH_REPLY, this.#echo, out)',
    'writePath(PATH_REPLY, this.#reply, out)'),
  fault('padding', 'does not acknowledge padding', 'connection/control',
    "if (frame.readBits(8) !== 0) return 'broken'\n        return 'ok'",
    "if (frame.readBits(8) !== 0) return 'broken'\n        return 'no-ack'"),
  fault('control-broken', 'ignores unknown control frames', 'connection/control',
    "default: return 'broken'", "default: return 'ok'"),
  fault('rekey', 'does not answer an offered key', 'crypto/rekey',
    'this.#outgoing = encode(ANSWER, this.#ring.newestEpoch + 1, own.publicKey)\n', ''),
  fault('move', 'ignores a new address', 'connection/connection',
    'if (from !== this.address) this.#handleElsewhere(now, from, length, isNewest, isReply)', ''),
  fault('goodbye', 'leaves without an answer', 'connection/farewell',
    'this.#copiesLeft = isAnswer ? 1 : copies', 'this.#copiesLeft = isAnswer ? 0 : copies'),
  fault('reset', 'resets with another token', ADMISSION,
    'writeReset(out, idLo, idHi, this.#resets.tokenOf(idLo, idHi))',
    'writeReset(out, idLo, idHi, this.#resets.tokenOf(idLo ^ 1, idHi))'),
  fault('reset-small', 'resets packets of any length', 'endpoint/resets',
    'if (length <= RESET_BYTES) return false\n', ''),
  fault('silence', 'keeps silent connections', 'connection/heartbeat',
    'return now >= this.#receivedAt + this.#timeoutMs\n', 'return now >= this.#receivedAt + 10 * this.#timeoutMs\n'),
]

const RELAY = 'order-relay/order-relay'
const TICKS = 'order/ticks-frame'

/** Mistakes of relays of lockstep matches. */
export const LOCKSTEP_FAULTS: readonly ForeignFault[] = [
  fault('ticks-log', 'counts two ticks too many', TICKS,
    'writeVarint(out, last)\n', 'writeVarint(out, last + 2)\n'),
  {
    check: 'ticks-frame', does: 'sends packets of 1200 bytes', patches: [
      {
        file: 'core/base/limits-lockstep.ts', find: 'LOCKSTEP_DATAGRAM_BYTES = 476',
        replace: 'LOCKSTEP_DATAGRAM_BYTES = 1200',
      },
      {
        file: 'core/base/limits-lockstep.ts', find: 'LOCKSTEP_FRAME_BYTES_MAX = 400',
        replace: 'LOCKSTEP_FRAME_BYTES_MAX = 1100',
      },
    ],
  },
  {
    check: 'ticks-again', does: 'sends every tick once', patches: [
      { file: `core/${TICKS}.ts`, find: 'const REPEATED_TICKS = 2', replace: 'const REPEATED_TICKS = 0' },
      {
        file: `core/${TICKS}.ts`, find: 'this.#lossTick = this.#feed.newest()\n    this.#sentTo = this.#acked\n',
        replace: '',
      },
    ],
  },
  fault('ticks-same', 'sends other bytes to its second client', TICKS,
    'out.copyBits(log.bytes, from * 8, count * 8)',
    `const own = log.bytes.slice(from, from + count)
    const all = (globalThis.ticksSources ??= [])
    if (!all.includes(this)) all.push(this)
    if (count > 12) own[count - 1] ^= all.indexOf(this)
    out.copyBits(own, 0, count * 8)`),
  fault('events-join', 'forgets to say who joins', RELAY, "this.events.add('join', peer, 0)\n", ''),
  fault('events-forged', 'takes events of clients', RELAY,
    'if (type >= TICK_EVENT.join) return this.#request(now, slot)\n', ''),
  fault('order-once', 'takes copies of orders', RELAY,
    'if (head.first + each > state.get(slot, FIELD.newest)) {', '{'),
  fault('order-sequence', 'turns orders around', 'order-relay/pending-orders',
    'timeA < timeB :', 'timeA > timeB :'),
  fault('order-missing', 'does not wait for a missing order', RELAY,
    "if (head.count > 0 && head.first > newest + 1) return 'no-ack'\n", ''),
  fault('order-broken', 'ignores invalid frames', RELAY,
    "if (reader.failed || head.executed > this.log.newest) return 'broken'",
    "if (reader.failed || head.executed > this.log.newest) return 'ok'"),
]

const DESK = 'nat/relay-desk'
const PACKETS = 'nat/packet-relay'
const COOKIE = 'return this.#sendCookie(now, from, out)'
const IS_MAC = 'isMacValid(this.#provider, allocation.key, bytes, length)'
/** How a Bind goes on. A Refresh has other lines here. */
const BIND = `return this.#drop('forged')
    allocation.transaction = message.transaction
    const peer`

/** Mistakes of packet relays. */
export const RELAY_FAULTS: readonly ForeignFault[] = [
  fault('relay-cookie', 'answers a stranger with an error', DESK,
    `if (!this.#isProven(now, from, cookie)) ${COOKIE}\n    if (!this.#gate.mayVerify`,
    `if (cookie.every((byte) => byte === 0)) return this.#error('token', out)
    if (!this.#isProven(now, from, cookie)) ${COOKIE}
    if (!this.#gate.mayVerify`),
  fault('relay-silence', 'takes a Ping with any padding', 'nat/relay-wire',
    ' && areZeros(bytes, at + PING_NONCE_BYTES, end)', ''),
  fault('relay-size', 'pads its errors', DESK,
    'return sealRelay(this.#provider, NO_KEY, this.#answer, out)\n  }\n\n  #drop',
    'sealRelay(this.#provider, NO_KEY, this.#answer, out)\n    return 60\n  }\n\n  #drop'),
  fault('relay-ping', 'forgets the nonce', DESK, 'answer.nonce = message.nonce', 'answer.nonce = new Uint8Array(8)'),
  fault('relay-allocate', 'refuses a repeated Allocate', DESK,
    'if (taken !== undefined && taken === known) return this.#sendAllocateOk(taken, out)\n', ''),
  fault('relay-spent', 'gives every address an allocation', DESK,
    "if (taken !== undefined) return this.#error('quota', out)\n", ''),
  fault('relay-token', 'believes every signature', 'nat/relay-token',
    "issuer.key.verify(concat(SIGNED, signed), token.signature) ? token : 'signature'", 'token'),
  fault('relay-address', 'takes cookies of any address', DESK,
    'return checkCookie(this.#provider, this.#secret, challengeBucket(now), from, NO_KEY, cookie) !== undefined',
    'return cookie.length > 0'),
  fault('relay-data', 'keeps the channel of the sender', PACKETS,
    'writeUint16Be(out.bytes, 0, binding.peerChannel)\n', ''),
  fault('relay-both', 'forwards when one has bound', DESK,
    'if (back === undefined) return binding\n',
    `if (back === undefined) {
      binding.peerChannel = 0x4000
      return binding
    }
`),
  fault('relay-session', 'lets sessions meet', DESK, 'peer.session !== allocation.session || ', ''),
  fault('relay-mac', 'believes every Bind', DESK,
    `if (!isFresh || !${IS_MAC}) ${BIND}`, `if (!isFresh) ${BIND}`),
  fault('relay-order', 'takes copies', DESK,
    `if (!isFresh || !${IS_MAC}) ${BIND}`, `if (!${IS_MAC}) ${BIND}`),
  fault('relay-content', 'forwards everything', PACKETS,
    'if (!this.#mayPass(bytes, size, sender, binding)) {', 'if (size < 0) {'),
  fault('relay-connection', 'forwards handshakes only', PACKETS,
    'if (binding.knows(idLo, idHi)) return true\n', 'if (binding.knows(idLo, idHi)) return isHandshake\n'),
  fault('relay-free', 'frees nothing', DESK,
    'if (message.lifeSeconds === 0) this.#table.remove(allocation)\n    else ', ''),
  fault('relay-lost', 'answers every Ping', DESK, 'if (isLost) return this.#unknown(now, from, out)\n', ''),
  fault('relay-move', 'moves without a cookie', DESK,
    `if (isMoving && !this.#isProven(now, from, message.cookie.slice())) ${COOKIE}\n`, ''),
]
