/**
 * Bugs to plant in the layers that carry bytes: cryptography, delivery, channels, connections, endpoints. One line
 * each.
 */

import type { Mutant } from './mutants.ts'

export const BYTE_MUTANTS: readonly Mutant[] = [
  {
    name: 'replay check skipped',
    file: 'core/crypto/key-ring.ts',
    find: "if (freshness !== 'new') return freshness",
    replace: "if (freshness === 'old') return freshness",
  },
  {
    name: 'replay window marks nothing',
    file: 'core/crypto/replay-window.ts',
    find: 'this.#seen[bit >>> 5] |= 1 << (bit & 31)',
    replace: '',
  },
  {
    name: 'replay window one off',
    file: 'core/crypto/replay-window.ts',
    find: "if (sequence > this.#newest) return 'new'",
    replace: "if (sequence >= this.#newest) return 'new'",
  },
  {
    name: 'a forgery counts as opened',
    file: 'core/crypto/packet-key.ts',
    find: 'if (!this.#aead.open(this.#nonce, bytes, headerLength, sealedLength)) return false',
    replace: 'this.#aead.open(this.#nonce, bytes, headerLength, sealedLength)',
  },
  {
    name: 'nonce ignores the sequence',
    file: 'core/crypto/packet-key.ts',
    find: 'this.#lastSequence = sequence\n    this.#suite.writeNonce(this.#nonce, this.#salt, this.epoch, sequence)',
    replace:
      'this.#lastSequence = sequence\n    this.#suite.writeNonce(this.#nonce, this.#salt, this.epoch, sequence & ~1)',
  },
  {
    name: 'a packet number is used twice',
    file: 'core/connection/packet-flow.ts',
    find: 'this.#lastSequence = header.sequence',
    replace: 'if (header.sequence % 64 !== 0) this.#lastSequence = header.sequence',
  },
  {
    name: 'keys are retired before they are confirmed',
    file: 'core/crypto/key-ring.ts',
    find: 'if (!this.#isConfirmed) return\n    this.#drop',
    replace: 'this.#drop',
  },
  {
    name: 'old epoch never retired',
    file: 'core/crypto/key-ring.ts',
    find: 'this.#retireAt = now + KEY_OVERLAP_MS',
    replace: 'this.#retireAt = Infinity',
  },
  {
    name: 'new keys are used before the peer has them',
    file: 'core/crypto/key-ring.ts',
    find: 'if (peerHasKeys) this.#switchSealing()',
    replace: 'this.#switchSealing()',
  },
  {
    name: 'a lost rekey message is not sent again',
    file: 'core/connection/control.ts',
    find: 'if (sequence === this.#ridesIn) this.#ridesIn = NONE\n',
    replace: '',
  },
  {
    name: 'a rekey message takes effect twice',
    file: 'core/connection/control.ts',
    find: "if (ahead >= 0x80) return 'ok'",
    replace: '',
  },
  {
    name: 'ack bit one off',
    file: 'core/delivery/ack-window.ts',
    find: 'const bit = -distance - 1\n',
    replace: 'const bit = -distance - 2\n',
  },
  {
    name: 'ack window shifts one too few',
    file: 'core/delivery/ack-window.ts',
    find: 'this.#shift(distance)',
    replace: 'this.#shift(distance > 1 ? distance - 1 : distance)',
  },
  {
    name: 'acks the packet before the latest',
    file: 'core/delivery/sent-packets.ts',
    find: 'const sequence = latest - 1 - bit\n',
    replace: 'const sequence = latest - bit\n',
  },
  {
    name: 'a packet without an ack counts as delivered after a while',
    file: 'core/delivery/sent-packets.ts',
    find: 'this.#settle(now, sequence, LOST)\n',
    replace: 'this.#settle(now, sequence, DELIVERED)\n',
  },
  {
    name: 'loss is reported to the first sources only',
    file: 'core/delivery/sent-packets.ts',
    find: 'else this.#sources[index].onLost(now, sequence)',
    replace: 'else if (index < 3) this.#sources[index].onLost(now, sequence)',
  },
  {
    name: 'an undecodable packet is acked',
    file: 'core/connection/packet-flow.ts',
    find: "if (frames === 'ok') this.#acks.mark",
    replace: "if (frames !== 'broken') this.#acks.mark",
  },
  {
    name: 'a lost message is not sent again',
    file: 'core/channel/reliable-sender.ts',
    find: 'this.#fate[id & MASK] = QUEUED\n      this.#queued++',
    replace: 'this.#fate[id & MASK] = DELIVERED',
  },
  {
    name: 'a gap in order is skipped',
    file: 'core/channel/reliable-ordered.ts',
    find: 'while (this.oldest < end && this.#inHandles[this.oldest & MASK] !== NO_MESSAGE) this.oldest++',
    replace: 'this.oldest = Math.max(this.oldest, id + 1)',
  },
  {
    name: 'an unordered message is delivered twice',
    file: 'core/channel/reliable-unordered.ts',
    find: 'const isKnown = id < this.oldest || this.#hasArrived[id & MASK] === 1',
    replace: 'const isKnown = this.#hasArrived[id & MASK] === 1',
  },
  {
    name: 'a sequenced channel goes back',
    file: 'core/channel/unreliable.ts',
    find: 'const isStale = this.#isSequenced && sequence < this.#newestSequence',
    replace: 'const isStale = this.#isSequenced && sequence < this.#newestSequence - 1',
  },
  {
    name: 'fragments of two messages are mixed',
    file: 'core/delivery/reassembly.ts',
    find: 'if (this.#groups[at].isOpen && this.#groups[at].number === number) return this.#groups[at]',
    replace: 'if (this.#groups[at].isOpen) return this.#groups[at]',
  },
  {
    name: 'the last fragment is as long as the others',
    file: 'core/delivery/reassembly.ts',
    find: 'if (index === last) group.lastLength = size',
    replace: 'group.lastLength = size',
  },
  {
    name: 'fragments are not freed',
    file: 'core/delivery/fragment-pool.ts',
    find: 'this.pool.bytes -= length\n',
    replace: '',
  },
  {
    name: 'a block is allocated twice',
    file: 'core/delivery/fragment-pool.ts',
    find: 'return this.#free[--this.#freeCount]',
    replace: 'return this.#free[this.#freeCount - 1]',
  },
  {
    name: 'one seat too many is given',
    file: 'core/endpoint/routes.ts',
    find: 'return this.#seated < this.#seats',
    replace: 'return this.#seated <= this.#seats',
  },
  {
    name: 'guests are accepted only at the address they asked from',
    file: 'core/endpoint/endpoint.ts',
    find: 'if (guest === undefined || this.#isClosed) {',
    replace: 'if (guest === undefined || guest.address !== from || this.#isClosed) {',
  },
  { name: 'seats are not freed', file: 'core/endpoint/routes.ts', find: '      this.#seated--\n', replace: '' },
  {
    name: 'a path is checked without credit',
    file: 'core/connection/path-check.ts',
    find: 'return now >= this.#sendAt && this.#creditBytes >= PATH_CHECK_BYTES_MAX',
    replace: 'return now >= this.#sendAt',
  },
  {
    name: 'a path is trusted without an answer',
    file: 'core/connection/connection.ts',
    find: 'if (!isReply || from !== this.#path.address) {',
    replace: 'if (!isNewest) {',
  },
  {
    name: 'a peer at a new address is ignored',
    file: 'core/connection/connection.ts',
    find: 'this.address = from\n    this.stats.pathMoves++',
    replace: 'this.stats.pathMoves++',
  },
  {
    name: 'goodbye is sent once',
    file: 'core/connection/farewell.ts',
    find: 'this.#copiesLeft = isAnswer ? 1 : copies',
    replace: 'this.#copiesLeft = 0',
  },
  {
    name: 'silence never ends a connection',
    file: 'core/connection/heartbeat.ts',
    find: 'return now >= this.#receivedAt + this.#timeoutMs',
    replace: 'return now >= this.#receivedAt + 1e9',
  },
  {
    name: 'a cookie of any client is valid',
    file: 'core/crypto/challenge-cookie.ts',
    find:
      'return isEqualConstantTime(makeCookie(provider, secret, made, address, clientKey), cookie) ? made : undefined',
    replace: 'return made',
  },
]
