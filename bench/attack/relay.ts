/**
 * Attacks on a packet relay: addresses that it must not reach (T22), reflection (T22), and forged control messages
 * (T24). It has no socket and no clock; `relay-sink.ts` does the first one again with a real process.
 */

import { PacketRelay, RelayClient, issueRelayToken, turnCredentials } from 'tickwire/nat'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { RELAY_KIND, RelayMessage, sealRelay } from '../../packages/tickwire/src/core/nat/relay-wire.ts'
import { PacketHeader, readUint32, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { type TurnMessage, readTurn, turnKeyOf, writeTurn } from '../../test/reference/turn-checker.ts'
import { SPELLINGS } from './spellings.ts'
import type { AttackReport } from './stage.ts'

const SECONDS = 1_800_000_000
const RELAYED = '203.0.113.10'
const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(7))

/** A relay, and what it sends. */
class RelayStage {
  now: number = 1000
  readonly relay: PacketRelay
  readonly #out = createTransmit()
  #tokens: number = 0

  constructor() {
    this.relay = new PacketRelay({
      provider, entropy: new Dice(1), issuers: [issuer.publicKey], relayed: `${RELAYED}:7777`,
      wallSeconds: () => SECONDS,
    })
  }

  token(): Uint8Array {
    return issueRelayToken(provider, issuer, {
      session: new Uint8Array(16), id: new Uint8Array(16).fill(++this.#tokens), issuedAt: SECONDS,
      expiresAt: SECONDS + 600, audience: 'relay',
    })
  }

  give(from: string, bytes: Uint8Array): { readonly to: string; readonly bytes: Uint8Array } | undefined {
    if (!this.relay.handleDatagram(this.now, from, Uint8Array.from(bytes), bytes.length, this.#out)) return undefined
    return { to: this.#out.to, bytes: this.#out.bytes.slice(0, this.#out.length) }
  }

  /** Two native peers that have bound each other. */
  pair(addresses: readonly string[]): RelayClient[] {
    const clients = addresses.map((_, index) =>
      new RelayClient({ provider, entropy: new Dice(index + 2), relay: 'relay', token: this.token() }))
    const out = createTransmit()
    const settle = (): void => clients.forEach((client, index) => {
      while (client.pollTransmit(this.now, out)) {
        const answer = this.give(addresses[index]!, out.bytes.slice(0, out.length))
        if (answer !== undefined) client.handleDatagram(this.now, answer.bytes, answer.bytes.length)
      }
    })
    settle()
    clients.forEach((client, index) => client.bind(clients[1 - index]!.allocation))
    settle()
    return clients
  }
}

/** A TURN client that is allocated and may send. Returns what writes its messages. */
function turnClient(stage: RelayStage, from: string): (
  method: TurnMessage['method'], attributes: TurnMessage['attributes'],
) => Buffer {
  const { username, credential } = turnCredentials(stage.token())
  const key = turnKeyOf(username, 'turn', credential)
  let [nonce, transactions] = ['', 0]
  const write = (method: TurnMessage['method'], attributes: TurnMessage['attributes']): Buffer => {
    const isSigned = nonce !== '' && method !== 'send'
    return writeTurn({
      method, class: method === 'send' ? 'indication' : 'request', hasFingerprint: false,
      transaction: (++transactions).toString(16).padStart(12, '0').padEnd(24, '7'),
      attributes: isSigned ? [...attributes, ['username', username], ['realm', 'turn'], ['nonce', nonce]] : attributes,
    }, isSigned ? key : undefined)
  }
  const challenge = readTurn(stage.give(from, write('allocate', [['transport', 17]]))!.bytes)
  nonce = String(challenge.attributes.find(([name]) => name === 'nonce')![1])
  stage.give(from, write('allocate', [['transport', 17]]))
  stage.give(from, write('createPermission', [['peer', `${RELAYED}:2`]]))
  return write
}

/** T22: a member names other machines as peers, in every way and spelling. */
export function relaySpellings(): AttackReport[] {
  const stage = new RelayStage()
  const members = ['198.51.100.1:4000', '198.51.100.2:4000']
  const writes = members.map((from) => turnClient(stage, from))
  let [bytes, tries] = [0, 0]
  members.forEach((from, side) => {
    SPELLINGS.forEach((spelling, index) => {
      stage.now += 10
      const data = Buffer.alloc(104, 0x41)
      data.writeUInt16BE(0x4000 + index, 0)
      data.writeUInt16BE(100, 2)
      const write = writes[side]!
      const messages = [
        write('createPermission', [['peer', spelling]]),
        write('channelBind', [['channel', 0x4000 + index], ['peer', spelling]]), data,
        write('send', [['peer', spelling], ['data', '41'.repeat(100)]]),
      ]
      for (const message of messages) {
        tries++
        const sent = stage.give(from, message)
        if (sent !== undefined && sent.to !== from) bytes += sent.bytes.length
      }
    })
  })
  const what = `${SPELLINGS.length} spellings of inner addresses as TURN peers: bytes to anything but the sender`
  return [{ threat: 'T22', what, count: tries, value: bytes, unit: 'B', atMost: 0 }]
}

/** T22: what a stranger, whose address may be forged, makes a relay send to it. */
export function relayAmplification(count: number): AttackReport[] {
  const stage = new RelayStage()
  const dice = new Dice(5)
  const worst = { stun: 0, stunWire: 0, control: 0 }
  let strangers = 0
  const measure = (bytes: Uint8Array, isStun: boolean, isSix: boolean): void => {
    stage.now += 1
    strangers++
    const from = isSix ? `[2001:db8:${strangers.toString(16)}::1]:9` : `192.0.${strangers >>> 8}.${strangers & 255}:9`
    const answer = stage.give(from, bytes)?.bytes.length ?? 0
    const head = isSix ? 48 : 28
    if (!isStun) worst.control = Math.max(worst.control, answer / bytes.length)
    else if (isSix) worst.stunWire = Math.max(worst.stunWire, (answer + head) / (bytes.length + head))
    else worst.stun = Math.max(worst.stun, answer / bytes.length)
  }
  for (let index = 0; index < count; index++) {
    const isSix = index % 2 === 1
    for (const method of ['binding', 'allocate', 'refresh', 'createPermission', 'channelBind'] as const) {
      for (const extra of [0, 1, 2]) {
        const attributes: TurnMessage['attributes'] = [['transport', 17], ['software', 'x'.repeat(index % 40)]]
        measure(writeTurn({
          method, class: 'request', transaction: index.toString(16).padStart(24, '0'),
          attributes: method === 'binding' ? attributes.slice(2 - Math.min(extra, 1)) : attributes.slice(0, extra),
          hasFingerprint: index % 3 === 0,
        }), true, isSix)
      }
    }
    for (let kind = 0; kind < 15; kind++) {
      const bytes = new Uint8Array(33 + (dice.word() % 200))
      dice.fill(bytes)
      bytes.set([0x54, 0x4b, 0x57, 3, 5])
      bytes[13] = kind
      bytes[14] = index % 128
      if (kind === RELAY_KIND.allocate) bytes.set([bytes.length - 33, 0], 31)
      measure(bytes, false, isSix)
    }
  }
  const base = { threat: 'T22', count: strangers, unit: 'x' }
  return [
    {
      ...base, what: 'STUN and TURN to a stranger: bytes for each byte', value: worst.stun, atMost: 2,
      figure: 'relay_amplification_stun_turn',
    },
    { ...base, what: 'the same by IPv6, with the heads of IP and UDP', value: worst.stunWire, atMost: 2 },
    {
      ...base, what: 'relay control to a stranger: bytes for each byte', value: worst.control, atMost: 1,
      figure: 'relay_amplification',
    },
    ...floodOf(stage),
  ]
}

/** A flood of 100,000 STUN and TURN requests in a second, each from another address. */
function floodOf(stage: RelayStage): AttackReport[] {
  let answers = 0
  const attributes = [['transport', 17]] as const
  const questions = (['binding', 'allocate'] as const).map((method) => writeTurn({
    method, class: 'request', transaction: '00'.repeat(12), attributes: method === 'binding' ? [] : attributes,
    hasFingerprint: false,
  }))
  stage.now += 5000
  for (let index = 0; index < 100_000; index++) {
    if (index % 100 === 0) stage.now++
    const from = `203.${(index >>> 16) & 255}.${(index >>> 8) & 255}.${index & 255}:9`
    if (stage.give(from, questions[index % 2]!) !== undefined) answers++
  }
  const what = 'STUN and TURN requests of 100,000 addresses in a second: answers'
  return [{ threat: 'T22', what, count: 100_000, value: answers, unit: '', atMost: 5500 }]
}

/** T24: control messages of an attacker that knows everything but the key. */
export function relayForgeries(count: number): AttackReport[] {
  const stage = new RelayStage()
  const addresses = ['198.51.100.1:4000', '198.51.100.2:4000']
  const clients = stage.pair(addresses)
  const dice = new Dice(9)
  const message = new RelayMessage()
  const [bytes, key, cookie] = [new Uint8Array(300), new Uint8Array(16), new Uint8Array(16)]
  const before = { ...stage.relay.counts }
  let effects = 0
  for (let index = 0; index < count; index++) {
    if (index % 20 === 0) stage.now += 0.01
    const id = clients[index & 1]!.allocation
    dice.fill(key)
    message.kind = index % 3 === 0 ? RELAY_KIND.bind : RELAY_KIND.refresh
    message.idHi = Number.parseInt(id.slice(0, 8), 16)
    message.idLo = Number.parseInt(id.slice(8), 16)
    message.transaction = 2 ** 52 + index
    message.cookie = cookie
    message.lifeSeconds = index % 5 === 0 ? 0 : 30
    message.peerLo = readUint32(key, 0)
    const length = sealRelay(provider, key, message, bytes)
    const from = index % 4 < 2 ? addresses[index & 1]! : `203.0.${(index >>> 8) & 255}.${index & 255}:6`
    if (stage.give(from, bytes.subarray(0, length)) !== undefined) effects++
  }
  const { counts, allocations } = stage.relay
  const moved = counts.moved - before.moved + (2 - allocations)
  const inner = new Uint8Array(60)
  writeHeader(new PacketHeader(), inner)
  const data = new Uint8Array(64)
  const peer = clients[0]!.peers.get(clients[1]!.allocation)!
  const arrived = stage.give(addresses[0]!, data.subarray(0, clients[0]!.wrap(peer, inner, 60, data)))
  return [
    {
      threat: 'T24', what: 'forged Refresh and Bind: allocations that moved, ended or were bound', count,
      value: moved + effects + (arrived?.to === addresses[1] ? 0 : 1), unit: '', atMost: 0,
      figure: 'relay_forged_moved',
    },
    ...turnForgeries(Math.ceil(count / 20)),
  ]
}

function turnForgeries(count: number): AttackReport[] {
  const stage = new RelayStage()
  const addresses = ['198.51.100.1:4000', '198.51.100.2:4000']
  const writes = addresses.map((from) => turnClient(stage, from))
  const real = writes[0]!('refresh', [['lifetime', 0]])
  const dice = new Dice(3)
  for (let index = 0; index < count; index++) {
    if (index % 20 === 0) stage.now += 0.01
    const forged = Buffer.from(real)
    for (let changes = 1 + (index % 3); changes > 0; changes--) {
      const at = 20 + (dice.word() % (forged.length - 20))
      forged[at] = forged[at]! ^ (1 + (dice.word() % 255))
    }
    stage.give(index % 2 === 0 ? addresses[0]! : '203.0.113.66:6', forged)
  }
  const what = 'forged TURN requests that end an allocation: allocations that ended'
  return [{ threat: 'T24', what, count, value: 2 - stage.relay.allocations, unit: '', atMost: 0 }]
}
