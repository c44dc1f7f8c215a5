/**
 * Attacks by clients that were never accepted: floods of requests, cookies of other clients, half-open handshakes,
 * reflection.
 */

import { REQUEST_BYTES, writeRequest } from '../../packages/tickwire/src/core/connection/handshake.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { type AttackReport, Stage, heldNow } from './stage.ts'

/** Addresses to which limits apply. */
function addressOf(index: number): string {
  return `203.${(index >>> 16) & 255}.${(index >>> 8) & 255}.${index & 255}:${1024 + (index % 60_000)}`
}

/** T1: requests, each from a new address. */
export function requestFlood(count: number): AttackReport[] {
  const stage = new Stage()
  const request = new Uint8Array(REQUEST_BYTES)
  const dice = new Dice(1)
  const key = new Uint8Array(32)
  const flood = (from: number, to: number): number => {
    let bytes = 0
    for (let index = from; index < to; index++) {
      if (index % 50 === 0) stage.now++
      dice.fill(key)
      bytes += stage.attack(
        addressOf(index),
        request,
        writeRequest(request, dice.word(), dice.word(), key, [1, 2]),
      ).bytes
    }
    return bytes
  }
  flood(0, count)
  const before = stage.crypto.calls.hmac
  const heldBefore = heldNow()
  const startedAt = process.hrtime.bigint()
  const bytes = flood(count, 2 * count)
  const us = Number(process.hrtime.bigint() - startedAt) / 1000 / count
  const grown = heldNow() - heldBefore
  const base = { threat: 'T1', count }
  return [
    {
      ...base,
      what: 'request flood, each from another address: memory',
      value: Math.max(0, grown),
      unit: 'B',
      atMost: 2 ** 20,
      figure: 'request_flood_heap_bytes',
    },
    {
      ...base,
      what: 'the same: MACs for one request',
      value: (stage.crypto.calls.hmac - before) / count,
      unit: 'MAC',
      atMost: 1,
      figure: 'request_flood_macs',
    },
    { ...base, what: 'the same: multiplications on a curve', value: stage.crypto.calls.agree, unit: '', atMost: 0 },
    { ...base, what: 'the same: connections', value: stage.server.connections.length, unit: '', atMost: 0 },
    {
      ...base,
      what: 'the same: bytes out for one byte in',
      value: bytes / (count * REQUEST_BYTES),
      unit: 'ratio',
      atMost: 0.35,
    },
    { ...base, what: 'the same: time for one, answer included', value: us, unit: 'us', figure: 'request_flood_us' },
  ]
}

/**
 * T2: the bytes that an unknown sender can make the server send to third parties, for every packet type and every
 * length.
 */
export function amplification(step: number): AttackReport[] {
  const stage = new Stage()
  const dice = new Dice(2)
  const bytes = new Uint8Array(1500)
  const header = new PacketHeader()
  let [count, bytesRatio, packetsMost] = [0, 0, 0]
  for (let type = 0; type <= 6; type++) {
    for (let kind = 0; kind <= 7; kind++) {
      for (let length = 0; length <= 1500; length += length >= 1190 && length <= 1210 ? 1 : step) {
        for (const version of [1, 2, 9]) {
          dice.fill(bytes)
          Object.assign(header, {
            type: Math.min(type, 5),
            version,
            idLo: type === 0 ? 0 : dice.word(),
            idHi: type === 0 ? 0 : dice.word(),
            epoch: 0,
            sequence: type === 0 || type === 4 ? 0 : 7,
          })
          const at = writeHeader(header, bytes)
          if (type === 6) dice.fill(bytes)
          bytes[at] = kind
          if (kind === 1) {
            bytes.fill(0, at + 41)
            bytes[at + 41] = 1
            bytes[at + 42] = 1
          }
          if (length % 100 === 0) stage.now += 20
          const answer = stage.attack(`198.51.100.${length & 255}:9`, bytes, length)
          count++
          if (answer.bytes > 0) bytesRatio = Math.max(bytesRatio, answer.bytes / length)
          packetsMost = Math.max(packetsMost, answer.packets)
        }
      }
    }
  }
  return [
    {
      threat: 'T2',
      what: 'any type, kind and length from a stranger: bytes out for bytes in',
      count,
      value: bytesRatio,
      unit: 'ratio',
      atMost: 1,
      figure: 'amplification',
    },
    { threat: 'T2', what: 'the same: datagrams out for one in', count, value: packetsMost, unit: '', atMost: 1 },
    handshakeRatio(),
  ]
}

function handshakeRatio(): AttackReport {
  const stage = new Stage({ admit: () => new Uint8Array(256) })
  const visitor = stage.visitor('203.0.113.9:9')
  let worst = 0
  for (let round = 0; round < 2; round++) {
    for (const said of stage.said(visitor)) {
      const answer = stage.attack(visitor.address, said)
      worst = Math.max(worst, answer.bytes / said.length)
      if (answer.last !== undefined)
        visitor.endpoint.handleDatagram(stage.now, 'server', answer.last, answer.last.length)
    }
  }
  const isLetIn = visitor.connection.isOpen
  return {
    threat: 'T2',
    what: 'a handshake with the longest welcome: bytes out for bytes in',
    count: 2,
    value: isLetIn ? worst : NaN,
    unit: 'ratio',
    atMost: 0.35,
    figure: 'handshake_amplification',
  }
}

/** T3: the answers of one server are sent to another server and to itself, with a forged source address. */
export function loops(): AttackReport[] {
  const [one, two] = [new Stage(), new Stage()]
  const answers: Uint8Array[] = []
  const keep = (bytes: Uint8Array | undefined): void => void (bytes && answers.push(bytes))
  const visitor = one.visitor('203.0.113.1:1')
  const [request] = one.said(visitor)
  keep(one.attack('203.0.113.1:1', request!).last)
  const stale = request!.slice()
  stale[3] = 77
  keep(one.attack('203.0.113.1:1', stale).last)
  const stray = new Uint8Array(400).fill(3)
  const header = new PacketHeader()
  Object.assign(header, { type: PACKET_TYPE.payload, idLo: 5, idHi: 6, sequence: 1 })
  writeHeader(header, stray)
  keep(one.attack('203.0.113.1:1', stray).last)
  visitor.endpoint.handleDatagram(one.now, 'server', answers[0]!.slice(), answers[0]!.length)
  for (const response of one.said(visitor)) keep(one.attack('203.0.113.1:1', response).last)
  let packets = 0
  for (const answer of answers) {
    packets += two.attack('203.0.113.1:1', answer).packets
    packets += one.attack('203.0.113.1:1', answer).packets
  }
  return [
    {
      threat: 'T3',
      what: "a server's answers of every kind, played to another and to itself: answers to answers",
      count: answers.length,
      value: packets,
      unit: '',
      atMost: 0,
      figure: 'loop_packets',
    },
  ]
}

/** T4: a cookie that is used from another address, too late, or a second time. */
export function cookies(count: number): AttackReport[] {
  const stage = new Stage({ limits: { handshakes: Infinity, challenges: Infinity } })
  const challenged = (address: string): Uint8Array => {
    const visitor = stage.visitor(address)
    const answer = stage.attack(address, stage.said(visitor)[0]!)
    visitor.endpoint.handleDatagram(stage.now, 'server', answer.last!, answer.last!.length)
    return stage.said(visitor)[0]!
  }
  const response = challenged('203.0.113.1:1000')
  let stolen = 0
  for (let index = 0; index < count; index++)
    stolen += stage.attack(`203.0.113.${(index % 250) + 2}:${1000 + (index & 1)}`, response).packets
  for (let port = 1001; port < 1100; port++) stolen += stage.attack(`203.0.113.1:${port}`, response).packets
  const agreed = stage.crypto.calls.agree
  const first = stage.attack('203.0.113.1:1000', response).packets
  const agreedForOne = stage.crypto.calls.agree - agreed
  for (let index = 0; index < count; index++) stage.attack('203.0.113.1:1000', response)
  const agreedForAll = stage.crypto.calls.agree - agreed - agreedForOne
  const late = challenged('203.0.113.200:1')
  stage.now += 8000
  let expired = 0
  for (let index = 0; index < count; index++) expired += stage.attack('203.0.113.200:1', late).packets
  return [
    {
      threat: 'T4',
      what: 'a ChallengeResponse from another address or port: answers',
      count: count + 99,
      value: first === 1 ? stolen : NaN,
      unit: '',
      atMost: 0,
      figure: 'stolen_cookie_answers',
    },
    {
      threat: 'T4',
      what: 'a ChallengeResponse replayed from its own address: key agreements beside the first',
      count,
      value: agreedForAll,
      unit: '',
      atMost: 0,
    },
    { threat: 'T4', what: 'the same: connections', count, value: stage.server.connections.length, unit: '', atMost: 0 },
    { threat: 'T4', what: 'a cookie two buckets old: answers', count, value: expired, unit: '', atMost: 0 },
  ]
}

/** T4: handshakes that are answered and never used, from 200 real addresses, while an honest client connects. */
export function halfOpen(perSecond: number, honest: number, isSustained: boolean): AttackReport[] {
  const stage = new Stage({ maxConnections: 64 })
  const waits: number[] = []
  let attackers = 0
  let mostSeats = 0
  const attackOnce = (): void => {
    const address = `203.0.113.${attackers % 200}:${1024 + attackers}`
    attackers++
    const visitor = stage.visitor(address)
    for (let round = 0; round < 2; round++) {
      for (const said of stage.said(visitor)) {
        const { last } = stage.attack(address, said)
        if (last !== undefined && round === 0) visitor.endpoint.handleDatagram(stage.now, 'server', last, last.length)
      }
    }
  }
  const tick = (): void => {
    stage.now += 10
    for (let index = 0; index < perSecond / 100; index++) attackOnce()
    mostSeats = Math.max(mostSeats, stage.server.connections.length)
  }
  for (let index = 0; index < 100; index++) tick()
  for (let index = 0; index < honest; index++) {
    const startedAt = stage.now
    // A client that is refused as full tries again a quarter of a second later, as a real client does.
    let member = stage.join(`198.51.100.${index}:5000`)
    // After 4 s the client gives up, and the report says so.
    for (let tries = 0; !member.connection.isOpen && tries < 16; tries++) {
      stage.members.pop()
      for (let rest = 0; rest < 25; rest++) if (isSustained) tick()
        else stage.now += 10
      member = stage.join(`198.51.100.${index}:5000`)
    }
    waits.push(stage.now - startedAt)
  }
  const worst = Math.max(...waits)
  const name = isSustained
    ? 'half-open handshakes without end, 200 addresses, 64 seats'
    : 'half-open handshakes for a second, 200 addresses, 64 seats'
  return [
    {
      threat: 'T4',
      what: `${name}: longest wait of an honest client`,
      count: attackers,
      value: worst,
      unit: 'ms',
      atMost: 2000,
      figure: isSustained ? 'half_open_sustained_wait_ms' : 'half_open_wait_ms',
    },
    {
      threat: 'T4',
      what: 'the same: connections, beside the honest ones',
      count: attackers,
      value: Math.max(0, mostSeats - honest),
      unit: '',
      atMost: 0,
    },
  ]
}

/**
 * T4: slow handshakes. The server stores nothing for a client that has only sent a request, and keeps the place of an
 * accepted but silent client for 5 s.
 */
export function slowLoris(count: number): AttackReport[] {
  const stage = new Stage({ maxConnections: 16 })
  for (let index = 0; index < count; index++) {
    const visitor = stage.visitor(`loris ${index}`)
    const { last } = stage.attack(visitor.address, stage.said(visitor)[0]!)
    // Every second client also sends a Response, and then nothing more.
    if (index % 2 === 0 || last === undefined) continue
    visitor.endpoint.handleDatagram(stage.now, 'server', last, last.length)
    for (const said of stage.said(visitor)) stage.attack(visitor.address, said)
    stage.now += 5
  }
  stage.now += 5000
  let joined = 0
  for (let index = 0; index < 16; index++) if (stage.join(`honest ${index}`).connection.isOpen) joined++
  return [
    {
      threat: 'T4',
      what: 'slow handshakes that stop half-way: honest clients let in 5 s later, of 16 seats',
      count,
      value: joined,
      unit: '',
      atLeast: 16,
      figure: 'seats_after_slow_loris',
    },
  ]
}
