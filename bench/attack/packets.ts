/**
 * Attacks on packets: modified, shortened, replayed, forged and guessed, with and without access to the path.
 */

import { PACKET_TYPE, PacketHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { type AttackReport, type Member, Stage } from './stage.ts'

/** T7: every bit of a sealed packet is flipped, and every shorter and longer length is tried. */
export function bitFlips(): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('alice')
  const genuine = stage.capture(member)
  const far = stage.far(member)!
  const before = far.stats.packetsReceived
  let count = 0
  const touched = genuine.slice()
  for (let bit = 0; bit < genuine.length * 8; bit++, count++) {
    touched[bit >>> 3]! ^= 0x80 >>> (bit & 7)
    stage.attack('alice', touched)
    touched[bit >>> 3]! ^= 0x80 >>> (bit & 7)
  }
  for (let length = 0; length < genuine.length; length++, count++) stage.attack('alice', genuine, length)
  for (let extra = 1; extra <= 64; extra++, count++)
    stage.attack('alice', new Uint8Array([...genuine, ...new Uint8Array(extra)]))
  const accepted = far.stats.packetsReceived - before + stage.received(member)
  stage.attack('alice', genuine)
  const isGenuineTaken = stage.received(member) === 1 && far.isOpen
  return [
    {
      threat: 'T7',
      what: 'a sealed packet with any bit turned, cut or lengthened: accepted',
      count,
      value: isGenuineTaken ? accepted : NaN,
      unit: '',
      atMost: 0,
      figure: 'touched_packets_accepted',
    },
    ...handshakeFlips(),
  ]
}

/** The same for the sealed parts of a handshake: the Response at the server, the Accepted at the client. */
function handshakeFlips(): AttackReport[] {
  const stage = new Stage()
  const visitor = stage.visitor('bob')
  const challenge = stage.attack('bob', stage.said(visitor)[0]!).last!
  visitor.endpoint.handleDatagram(stage.now, 'server', challenge, challenge.length)
  const response = stage.said(visitor)[0]!
  let [count, answers] = [0, 0]
  // All unsealed bits and all bits of the sealed fields; every 8th bit of the padding after them; and the tag.
  for (let bit = 0; bit < response.length * 8; bit += bit > 2000 && bit < 9400 ? 8 : 1, count++) {
    const touched = response.slice()
    touched[bit >>> 3]! ^= 0x80 >>> (bit & 7)
    answers += stage.attack('bob', touched).packets
  }
  const accepted = stage.attack('bob', response).last!
  let opened = 0
  for (let bit = 0; bit < accepted.length * 8; bit++, count++) {
    const touched = accepted.slice()
    touched[bit >>> 3]! ^= 0x80 >>> (bit & 7)
    visitor.endpoint.handleDatagram(stage.now, 'server', touched, touched.length)
    if (visitor.connection.isOpen) opened++
  }
  visitor.endpoint.handleDatagram(stage.now, 'server', accepted.slice(), accepted.length)
  const value = visitor.connection.isOpen ? answers + opened : NaN
  return [
    {
      threat: 'T7',
      what: 'Response and Accepted with a bit turned: answered or believed',
      count,
      value,
      unit: '',
      atMost: 0,
    },
  ]
}

/** T8: every packet that was ever sent is sent again, in any order, and packets with future sequence numbers. */
export function replays(captured: number, count: number): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('alice')
  const tape: Uint8Array[] = []
  for (let index = 0; index < captured; index++) {
    const packet = stage.capture(member, index)
    tape.push(packet)
    stage.attack('alice', packet)
    stage.exchange()
  }
  const received = stage.received(member)
  const dice = new Dice(8)
  for (let index = 0; index < count; index++) stage.attack('alice', tape[dice.word() % tape.length]!)
  const twice = stage.received(member)
  const header = new PacketHeader()
  const { idLo, idHi } = member.connection
  const forged = new Uint8Array(120)
  for (let index = 0; index < 1000; index++) {
    dice.fill(forged)
    Object.assign(header, { type: PACKET_TYPE.payload, idLo, idHi, epoch: 0, sequence: 10 ** 6 + index })
    writeHeader(header, forged)
    stage.attack('alice', forged)
  }
  stage.attack('alice', stage.capture(member))
  const isWindowSound = stage.received(member) === 1
  return [
    {
      threat: 'T8',
      what: 'captured packets replayed in any order: taken twice',
      count,
      value: received >= Math.min(captured, 256) ? twice : NaN,
      unit: '',
      atMost: 0,
      figure: 'replays_accepted',
    },
    {
      threat: 'T8',
      what: 'forged numbers far ahead: genuine packets refused after them',
      count: 1000,
      value: isWindowSound ? 0 : 1,
      unit: '',
      atMost: 0,
    },
  ]
}

/** T24: Disconnects, refusals, resets and challenges of an attacker that knows ids and salts but has no keys. */
export function forgedEndings(count: number): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('alice')
  const asking = stage.visitor('bob')
  const salt = stage.said(asking)[0]!.slice(16, 24)
  const dice = new Dice(24)
  const header = new PacketHeader()
  const bytes = new Uint8Array(400)
  const { idLo, idHi } = member.connection
  for (let index = 0; index < count; index++) {
    dice.fill(bytes)
    Object.assign(header, { type: PACKET_TYPE.disconnect, idLo, idHi, epoch: index & 1, sequence: 2 + (index % 5000) })
    const at = writeHeader(header, bytes)
    stage.attack('alice', bytes, at + 17)
    member.endpoint.handleDatagram(stage.now, 'server', bytes.slice(), at + 17)
    // Reset, Refused, Accepted, Rejected: for an open connection, and for a client that is connecting.
    const kind = 2 + (index % 5)
    const isNamed = kind === 3 || kind === 6
    Object.assign(header, {
      type: PACKET_TYPE.handshake,
      idLo: isNamed ? idLo : 0,
      idHi: isNamed ? idHi : 0,
      epoch: 0,
      sequence: 0,
    })
    const bodyAt = writeHeader(header, bytes)
    bytes[bodyAt] = kind
    bytes.set(salt, bodyAt + 1)
    // A client accepts only one unencrypted reason, a different version, before a challenge. It must ignore these.
    if (kind === 4) bytes[bodyAt + 9] = 5 + (index % 5)
    const length = kind === 6 ? bodyAt + 17 : kind === 4 ? bodyAt + 10 : kind === 2 ? bodyAt + 58 : bodyAt + 140
    member.endpoint.handleDatagram(stage.now, 'server', bytes.slice(), length)
    if (kind !== 2) asking.endpoint.handleDatagram(stage.now, 'server', bytes.slice(), length)
  }
  const ended = [member.connection, stage.far(member), asking.connection].filter(
    (one) => one === undefined || one.closeReason !== undefined,
  ).length
  return [
    {
      threat: 'T24',
      what: 'forged disconnect, reset, refused, accepted, rejected, both ways: connections ended',
      count: 2 * count,
      value: ended,
      unit: '',
      atMost: 0,
      figure: 'forged_endings',
    },
  ]
}

/** T24: packets of a member that an attacker sends to the server from another address. */
export function hijack(count: number): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('alice')
  const far = stage.far(member)!
  const tape = Array.from({ length: 20 }, () => stage.capture(member))
  for (const packet of tape.slice(0, 10)) stage.attack('alice', packet)
  let [bytesIn, bytesOut] = [0, 0]
  for (let index = 0; index < count; index++) {
    const packet = tape[index % tape.length]!
    // Copies of old packets, and genuine new packets that only the attacker delivers.
    bytesIn += packet.length
    bytesOut += stage.attack('mallory', packet).bytes
    // Five seconds in all. The client alice sends nothing meanwhile, and must not time out.
    stage.now += 5000 / count
  }
  const moves = far.stats.pathMoves + (far.address === 'alice' ? 0 : 1)
  stage.now += 5
  let roundTrips = 0
  const moved: Member = { ...member, address: 'alice moved' }
  stage.members.splice(0, 1, moved)
  for (; far.address !== 'alice moved' && roundTrips < 20; roundTrips++) {
    stage.now += 5
    member.channel.send(new Uint8Array(64))
    stage.exchange()
  }
  return [
    {
      threat: 'T24',
      what: "a member's packets from another address: traffic moved there",
      count,
      value: far.isOpen ? moves : NaN,
      unit: '',
      atMost: 0,
      figure: 'hijacks',
    },
    {
      threat: 'T24',
      what: 'the same: bytes sent for bytes got',
      count,
      value: bytesOut / bytesIn,
      unit: 'ratio',
      atMost: 1,
    },
    {
      threat: 'T24',
      what: 'a member with a new address: round trips until the connection follows',
      count: 1,
      value: roundTrips,
      unit: '',
      atMost: 3,
    },
  ]
}

/** T24: packets for connections whose id is guessed, and for one whose id is known. */
export function guessedIds(count: number): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('alice')
  const far = stage.far(member)!
  const before = far.stats.packetsReceived
  const dice = new Dice(25)
  const header = new PacketHeader()
  const bytes = new Uint8Array(200)
  let resets = 0
  const startedAt = stage.now
  for (let index = 0; index < count; index++) {
    dice.fill(bytes)
    const isKnown = index % 4 === 0
    const { idLo, idHi } = member.connection
    Object.assign(header, {
      type: 1 + (index % 2),
      idLo: isKnown ? idLo : ((dice.word() & ~63) | (idLo & 63)) >>> 0,
      idHi: isKnown ? idHi : dice.word(),
      epoch: 0,
      sequence: 1 + index,
    })
    writeHeader(header, bytes)
    if (index % 10 === 0) stage.now++
    resets += stage.attack(isKnown ? 'alice' : `203.0.113.7:${index}`, bytes).packets
  }
  const seconds = (stage.now - startedAt) / 1000
  return [
    {
      threat: 'T24',
      what: 'packets for guessed and for known ids without keys: accepted',
      count,
      value: far.stats.packetsReceived - before,
      unit: '',
      atMost: 0,
      figure: 'guessed_ids_accepted',
    },
    {
      threat: 'T2',
      what: 'the same: resets a second',
      count,
      value: resets / Math.max(1, seconds),
      unit: '/s',
      atMost: 200,
    },
  ]
}

/** T14, T16: random bytes of every length, and how long the slowest datagram takes. */
export function garbage(rounds: number): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('alice')
  const genuine = stage.capture(member)
  const dice = new Dice(14)
  const bytes = new Uint8Array(1500)
  const times: number[] = []
  let thrown = 0
  for (let round = 0; round < rounds; round++) {
    for (let length = 0; length <= 1500; length++) {
      dice.fill(bytes)
      // A third is random, a third has a valid header, and a third begins like a genuine packet.
      if (round % 3 > 0) bytes.set([0x54, 0x4b, 0x57, 3, dice.word() % 7])
      if (round % 3 === 2) bytes.set(genuine.subarray(0, 15 + (dice.word() % 40)))
      if (length % 8 === 0) stage.now++
      const startedAt = process.hrtime.bigint()
      try {
        stage.attack(round % 2 === 0 ? 'alice' : '203.0.113.3:3', bytes, length)
      } catch {
        thrown++
      }
      times.push(Number(process.hrtime.bigint() - startedAt) / 1000)
    }
  }
  times.sort((a, b) => a - b)
  const count = times.length
  return [
    {
      threat: 'T14',
      what: 'noise and half-genuine datagrams of every length: thrown',
      count,
      value: thrown + (stage.far(member)?.isOpen ? 0 : 1),
      unit: '',
      atMost: 0,
      figure: 'garbage_thrown',
    },
    {
      threat: 'T16',
      what: 'the same: time for one, 99.9th percentile',
      count,
      value: times[Math.floor(count * 0.999)]!,
      unit: 'us',
      atMost: 200,
      figure: 'garbage_p999_us',
    },
  ]
}

/** T6: as many forgeries as the limit of a key, and one more. */
export function forgeries(count: number): AttackReport[] {
  const stage = new Stage({}, new StubCrypto())
  const member = stage.join('alice')
  const far = stage.far(member)!
  const bytes = new Uint8Array(64).fill(9)
  const header = new PacketHeader()
  const { idLo, idHi } = member.connection
  Object.assign(header, { type: PACKET_TYPE.payload, idLo, idHi, epoch: 0, sequence: 500 })
  writeHeader(header, bytes)
  for (let index = 0; index < count; index++) stage.server.handleDatagram(stage.now, 'alice', bytes, bytes.length)
  for (let round = 0; round < 20; round++) {
    stage.now += 50
    stage.exchange()
  }
  const epoch = stage.capture(member)[13]!
  return [
    {
      threat: 'T6',
      what: 'forged packets for one connection: connections ended',
      count,
      value: far.isOpen && member.connection.isOpen ? 0 : 1,
      unit: '',
      atMost: 0,
    },
    {
      threat: 'T6',
      what: 'the same: keys replaced',
      count,
      value: epoch,
      unit: '',
      ...(count >= 2 ** 20 && { atLeast: 1 }),
      atMost: 1,
    },
  ]
}

/** T5, T17: a connection far beyond the wrap of its 16-bit acks, new keys, reconnects: no nonce is used twice. */
export function longLife(packets: number): AttackReport[] {
  // The stub throws when any side uses a nonce twice under one key.
  const stub = new StubCrypto()
  const stage = new Stage({ security: { rekey: { afterPackets: 5000 } } }, stub)
  let [member, sent, got, epochs] = [stage.join('alice'), 0, 0, 0]
  for (let index = 0; index < packets; index++) {
    // The first connection lasts beyond the wrap of 16 bits. The later ones are short.
    if (index >= 66_000 && index % 1000 === 0) {
      epochs += stage.capture(member)[13]!
      member.connection.close(stage.now)
      stage.exchange()
      stage.members.pop()
      stage.now += 300
      member = stage.join('alice')
    }
    stage.now += 2
    member.channel.send(new Uint8Array(8))
    sent++
    stage.exchange()
    got += stage.received(member)
  }
  return [
    {
      threat: 'T5',
      what: 'packets over reconnects and new keys: nonces used twice',
      count: stub.packetsSealed,
      value: epochs >= 10 ? 0 : NaN,
      unit: '',
      atMost: 0,
    },
    { threat: 'T17', what: 'the same: messages lost', count: sent, value: sent - got, unit: '', atMost: 0 },
  ]
}
