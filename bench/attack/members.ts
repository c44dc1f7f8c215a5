/**
 * Attacks by accepted clients, with valid keys: invalid frames, acks of packets that were never sent, endless
 * fragments, floods.
 */

import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { FragmentPool, FragmentQuota } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { type AttackReport, Stage, heldNow } from './stage.ts'

/** T14: invalid frames under valid keys end their sender's connection, and no other. */
export function malformedFrames(count: number): AttackReport[] {
  const sets = new Map<Connection, ChannelSet>()
  const stage = new Stage({
    assemble: (connection) => {
      const set = new ChannelSet([
        { promise: 'ordered', queue: SEND_QUEUES.orders },
        { promise: 'unreliable', queue: SEND_QUEUES.state, isLarge: true },
      ])
      connection.addSink(0, set)
      sets.set(connection, set)
    },
  })
  const honest = stage.join('honest')
  const dice = new Dice(15)
  let [thrown, ended, disturbed] = [0, 0, 0]
  for (let index = 0; index < count; index++) {
    const attacker = stage.join(`attacker ${index}`)
    if (!attacker.connection.isOpen) throw new Error('the attacker was not accepted')
    const body = new Uint8Array(1 + (dice.word() % 300))
    dice.fill(body)
    // Half of them reach the channel: a valid head with random bytes after it.
    if (index % 2 === 0) body[0] = index % 4 === 0 ? 0x0c : 0x10
    attacker.raw.bodies.push(body)
    honest.channel.send(new Uint8Array(16))
    try {
      for (let round = 0; round < 3; round++) {
        stage.now += 5
        stage.exchange()
      }
      const set = sets.get(stage.far(attacker)!)
      const out = new Uint8Array(300_000)
      if (set !== undefined)
        for (const channel of [0, 1]) for (let left = 64; left > 0 && set.receive(channel, out) >= 0;) left--
    } catch {
      thrown++
    }
    if (attacker.connection.closeReason?.code === 'broken' || stage.far(attacker)?.isOpen !== true) ended++
    else attacker.connection.close(stage.now)
    stage.exchange()
    stage.members.pop()
    if (!honest.connection.isOpen || stage.received(honest) !== 1) disturbed++
    stage.now += 300
    stage.exchange()
  }
  return [
    { threat: 'T14', what: 'invalid frames under valid keys: exceptions', count, value: thrown, unit: '', atMost: 0 },
    {
      threat: 'T14',
      what: 'the same: another member disturbed',
      count,
      value: disturbed,
      unit: '',
      atMost: 0,
      figure: 'bystanders_disturbed',
    },
    {
      threat: 'T14',
      what: 'the same: senders disconnected (some random frames are valid)',
      count,
      value: ended / count,
      unit: 'ratio',
      atLeast: 0.5,
    },
  ]
}

/** T12: acks of packets that were never sent, and path checks that must be answered, without end. */
export function dishonestMember(count: number): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('mallory')
  const far = stage.far(member)!
  const { packetsDelivered } = far.stats
  const before = far.stats.drops.dishonestAck
  member.crypto.beforeSeal = (bytes, headerLength) => {
    bytes[headerLength] = 0x7f
    bytes[headerLength + 1] = 0xff
  }
  // A packet with a false ack counts as not received, and after 10 s of those the member would time out: 8 s are
  // enough.
  const lies = Math.min(count, 4000)
  for (let index = 0; index < lies; index++) stage.attack('mallory', stage.capture(member))
  const refused = far.stats.drops.dishonestAck - before
  const believed = far.stats.packetsDelivered - packetsDelivered
  return [
    {
      threat: 'T12',
      what: 'acks of packets never sent: refused',
      count: lies,
      value: refused / lies,
      unit: 'ratio',
      atLeast: 1,
    },
    {
      threat: 'T12',
      what: 'the same: believed',
      count: lies,
      value: believed,
      unit: '',
      atMost: 0,
      figure: 'dishonest_acks_believed',
    },
    ...questions(count),
  ]
}

function questions(count: number): AttackReport[] {
  const stage = new Stage()
  const member = stage.join('mallory')
  // The frame of kind 0 becomes one of kind 15: a path check, to be answered. Ack blocks without gaps are 36 bits long.
  member.crypto.beforeSeal = (bytes, headerLength, length) => {
    if (length > 12 && (bytes[headerLength + 4]! & 0xf0) === 0) bytes[headerLength + 4]! |= 0x0f
  }
  const far = stage.far(member)!
  const before = far.stats.packetsReceived
  let answers = 0
  const heap = heldNow()
  for (let index = 0; index < count; index++) {
    member.raw.bodies.push(Uint8Array.of(2, ...new Uint8Array(8).fill(index)))
    // As fast as the server accepts from one peer: a faster member is disconnected (T13), and gets no answers.
    stage.now += 0.5
    for (const packet of stage.said(member)) {
      const answer = stage.attack('mallory', packet)
      answers += answer.packets
      if (answer.last !== undefined)
        member.endpoint.handleDatagram(stage.now, 'server', answer.last, answer.last.length)
    }
  }
  const taken = far.stats.packetsReceived - before
  return [
    {
      threat: 'T12',
      what: 'endless path checks: answers to one',
      count: taken,
      value: taken > count / 2 ? answers / taken : NaN,
      unit: '',
      atMost: 1.05,
    },
    {
      threat: 'T12',
      what: 'the same: memory',
      count: taken,
      value: Math.max(0, heldNow() - heap),
      unit: 'B',
      atMost: 2 ** 20,
    },
  ]
}

/** T11, T15: fragments of messages that never end, with the largest sizes claimed, from several members at once. */
export function fragmentFlood(members: number, count: number): AttackReport[] {
  const pool = new FragmentPool()
  const sets: { set: ChannelSet; quota: FragmentQuota }[] = []
  const stage = new Stage({
    assemble: (connection) => {
      const quota = new FragmentQuota(pool)
      const set = new ChannelSet([{ promise: 'unreliable', queue: SEND_QUEUES.state, isLarge: true }], quota)
      connection.addSink(0, set)
      sets.push({ set, quota })
    },
  })
  const attackers = Array.from({ length: members }, (_, index) => stage.join(`attacker ${index}`))
  const honest = stage.join('honest')
  const dice = new Dice(11)
  const before = heldNow()
  const receive = new Uint8Array(300_000)
  let [peerBytes, peerParts, poolBytes, received] = [0, 0, 0, 0]
  for (let index = 0; index < count; index++) {
    for (const attacker of attackers)
      for (let part = 0; part < 4; part++) attacker.raw.bodies.push(fragment(dice, 4 * index + part))
    honest.channel.send(new Uint8Array(16))
    stage.now += 2
    stage.exchange()
    received += stage.received(honest)
    for (const { set, quota } of sets) {
      set.receive(0, receive)
      peerBytes = Math.max(peerBytes, quota.bytes)
      peerParts = Math.max(peerParts, quota.parts)
    }
    poolBytes = Math.max(poolBytes, pool.bytes)
  }
  const all = 4 * members * count
  return [
    {
      threat: 'T11',
      what: 'fragments of messages that never end: bytes held for one member',
      count: all,
      value: peerBytes,
      unit: 'B',
      atMost: 2 ** 21,
      figure: 'fragment_bytes_per_peer',
    },
    {
      threat: 'T11',
      what: 'the same: fragments held for one member',
      count: all,
      value: peerParts,
      unit: '',
      atMost: 2048,
    },
    { threat: 'T11', what: 'the same: bytes held for all', count: all, value: poolBytes, unit: 'B', atMost: 2 ** 26 },
    {
      threat: 'T15',
      what: 'the same: memory grown beyond what may be held',
      count: all,
      value: Math.max(0, heldNow() - before - members * 2 ** 21),
      unit: 'B',
      atMost: 8 * 2 ** 20,
    },
    {
      threat: 'T11',
      what: 'the same: messages of another member lost',
      count,
      value: count - received,
      unit: '',
      atMost: 0,
    },
  ]
}

/** Part of a message of 256 fragments: the largest and the smallest in turn, of new and old groups. */
function fragment(dice: Dice, index: number): Uint8Array {
  const size = 1019
  const group = index >>> 5
  const message = new Uint8Array(5 + size)
  message.set([1, group >>> 8, group & 255, index % 3 === 0 ? dice.word() % 255 : index & 31, 255])
  // Channel 0, unreliable; then a varint of two bytes for the length.
  return new Uint8Array([0, (message.length & 0x7f) | 0x80, message.length >>> 7, ...message])
}

/**
 * T13: one member floods the server. Measured: lost packets of another member, and whether the flooding member is
 * disconnected.
 */
export function memberFlood(count: number): AttackReport[] {
  const stage = new Stage({ tickRate: 60 })
  const mallory = stage.join('mallory')
  const alice = stage.join('alice')
  stage.members.splice(0, 1)
  const far = stage.far(mallory)!
  const before = far.stats.packetsReceived
  const out = createTransmit()
  let [lost, attackerNow] = [0, stage.now]
  for (let index = 0; index < count; index++) {
    // 50,000 a second by the server's clock. The attacker has a faster clock, so that its own endpoint does not limit
    // it.
    stage.now += 0.02
    attackerNow += 2
    mallory.channel.send(new Uint8Array(8))
    while (mallory.endpoint.pollTransmit(attackerNow, out)) {
      const { last } = stage.attack('mallory', out.bytes, out.length)
      if (last !== undefined) mallory.endpoint.handleDatagram(attackerNow, 'server', last, last.length)
    }
    if (index % 1000 !== 0) continue
    alice.channel.send(new Uint8Array(8))
    stage.now += 2
    stage.exchange()
    if (stage.received(alice) !== 1) lost++
  }
  const taken = far.stats.packetsReceived - before
  return [
    {
      threat: 'T13',
      what: "a member sends 50,000 packets a second: another's packets lost",
      count: taken,
      value: taken > count / 4 || !far.isOpen ? lost : NaN,
      unit: '',
      atMost: 0,
    },
    {
      threat: 'T13',
      what: 'the same: the member is disconnected',
      count: taken,
      value: far.isOpen ? 0 : 1,
      unit: '',
      atLeast: 1,
      figure: 'flooding_member_put_out',
    },
  ]
}
