/** Two TURN clients and the engine's relay, from the first question to data both ways: the vectors of TURN. */

import { PacketRelay, issueRelayToken, turnCredentials } from 'tickwire/nat'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import type { SigningKey } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { RelayVectors, TurnVector } from '../../tools/gen-vectors-relay.ts'
import { type TurnMessage, readTurn, turnKeyOf, writeTurn } from './turn-checker.ts'

const SECONDS = 1_800_000_000
const RELAYED = '203.0.113.10:7777'

type Attributes = TurnMessage['attributes']

/** Plays the exchange. `seed`: of the issuer's key. */
export function playTurn(seed: Uint8Array): RelayVectors['turn'] {
  const issuer = pureProvider.importSigning(seed)
  const relay = new PacketRelay({
    provider: pureProvider, entropy: new Dice(28), issuers: [issuer.publicKey], relayed: RELAYED,
    wallSeconds: () => SECONDS,
  })
  const exchange: TurnVector[] = []
  const users = [1, 2].map((id) => userOf(issuer, id))
  const clients = users.map(({ username, key }, index) => ({
    from: ['198.51.100.7:40000', '[2001:db8::7]:40001'][index]!, username, key: Buffer.from(key, 'hex'), nonce: '',
    relayed: '',
  }))
  const out = createTransmit()
  const give = (name: string, from: string, bytes: Buffer, meaning?: TurnMessage): TurnMessage | undefined => {
    const isSent = relay.handleDatagram(1000, from, Uint8Array.from(bytes), bytes.length, out)
    const sent = Buffer.from(out.bytes.slice(0, out.length))
    const isMessage = isSent && sent[0]! < 0x40
    const answer = isMessage ? readTurn(sent) : undefined
    exchange.push({
      name, from, bytes: bytes.toString('hex'), ...(meaning !== undefined && { meaning }),
      ...(isSent && {
        answer: { to: out.to, bytes: sent.toString('hex'), ...(answer !== undefined && { meaning: answer }) },
      }),
    })
    return answer
  }
  const ask = (
    name: string, index: number, method: TurnMessage['method'], attributes: Attributes, isSigned: boolean = true,
    hasFingerprint: boolean = false,
  ): TurnMessage | undefined => {
    const client = clients[index]!
    const transaction = (0xa0 + exchange.length).toString(16).repeat(12)
    const all: Attributes = isSigned
      ? [...attributes, ['username', client.username], ['realm', 'turn'], ['nonce', client.nonce]] : attributes
    const isIndication = method === 'send'
    const message = { method, class: isIndication ? 'indication' : 'request', transaction, attributes: all } as const
    const hasIntegrity = isSigned && !isIndication
    const bytes = writeTurn({ ...message, hasFingerprint }, hasIntegrity ? client.key : undefined)
    return give(name, client.from, bytes, { ...message, hasIntegrity, hasFingerprint })
  }
  const valueOf = (message: TurnMessage | undefined, name: string): string =>
    String(message?.attributes.find(([attribute]) => attribute === name)?.[1])
  clients.forEach((client, index) => {
    const who = index === 0 ? 'IPv4' : 'IPv6, with fingerprints'
    const hasPrint = index === 1
    const challenge = ask(`Allocate of a stranger, ${who}`, index, 'allocate', [['transport', 17]], false, hasPrint)
    client.nonce = valueOf(challenge, 'nonce')
    const allocated = ask(`Allocate, ${who}`, index, 'allocate', [['transport', 17]], true, hasPrint)
    client.relayed = valueOf(allocated, 'relayed')
  })
  const [a, b] = clients.map(({ relayed }) => relayed) as [string, string]
  ask('a second Allocate: 437', 0, 'allocate', [['transport', 17]])
  ask('CreatePermission', 0, 'createPermission', [['peer', b]])
  ask('CreatePermission for another machine: 403', 0, 'createPermission', [['peer', '127.0.0.1:22']])
  ask('CreatePermission of the other', 1, 'createPermission', [['peer', a]], true, true)
  ask('Send', 0, 'send', [['peer', b], ['data', '0102030405']], false)
  ask('Send to another machine: nothing', 0, 'send', [['peer', '10.0.0.1:80'], ['data', '01']], false)
  ask('ChannelBind', 1, 'channelBind', [['channel', 0x4000], ['peer', a]], true, true)
  ask('Send, arrives on a channel', 0, 'send', [['peer', b], ['data', '0102030405']], false)
  give('channel data, arrives as an indication', clients[1]!.from, Buffer.from('40000002beef', 'hex'))
  ask('a request with an unknown attribute: 420', 0, 'refresh', [['lifetime', 600], ['0x42', '00']])
  clients[0]!.nonce = 'AAAAAAAAAAAA'
  ask('a wrong nonce: 438', 0, 'refresh', [['lifetime', 600]])
  ask('Refresh that frees', 1, 'refresh', [['lifetime', 0]], true, true)
  return { relayed: RELAYED, users, exchange }
}

function userOf(issuer: SigningKey, id: number): RelayVectors['turn']['users'][number] {
  const token = issueRelayToken(pureProvider, issuer, {
    session: new Uint8Array(16).fill(0x50), id: new Uint8Array(16).fill(id), issuedAt: SECONDS,
    expiresAt: SECONDS + 300, audience: 'relay',
  })
  const { username, credential: password } = turnCredentials(token)
  return { username, password, key: turnKeyOf(username, 'turn', password).toString('hex') }
}
