/** A relay with two TURN clients that may send to each other, and messages of theirs, for the fuzzer. */

import { PacketRelay, issueRelayToken, turnCredentials } from 'tickwire/nat'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { type TurnMessage, readTurn, turnKeyOf, writeTurn } from '../reference/turn-checker.ts'

const SECONDS = 1_800_000_000
const crypto = new StubCrypto()
const issuer = crypto.importSigning(new Uint8Array(32).fill(5))

/** A relay, two clients, and valid messages of the first one. */
export interface TurnPair {
  readonly relay: PacketRelay
  readonly now: number
  readonly addresses: readonly string[]
  readonly samples: readonly Uint8Array[]
}

/** The same pair each time. */
export function createTurnPair(): TurnPair {
  const relay = new PacketRelay({
    provider: crypto, entropy: new Dice(6), issuers: [issuer.publicKey], relayed: '203.0.113.1:7777',
    wallSeconds: () => SECONDS, allocationsMax: 8,
  })
  const addresses = ['192.0.2.1:5', '192.0.2.2:6']
  const out = createTransmit()
  const peers: string[] = []
  const samples: Uint8Array[] = []
  addresses.forEach((from, index) => {
    const token = issueRelayToken(crypto, issuer, {
      session: new Uint8Array(16), id: new Uint8Array(16).fill(index + 1), issuedAt: SECONDS, expiresAt: SECONDS + 60,
      audience: 'relay',
    })
    const { username, credential } = turnCredentials(token)
    const key = turnKeyOf(username, 'turn', credential)
    const write = (
      method: TurnMessage['method'], attributes: TurnMessage['attributes'], nonce: string, to?: Buffer,
    ): Buffer =>
      writeTurn({
        method, class: method === 'send' ? 'indication' : 'request', transaction: '0123456789ab0123456789ab',
        attributes: to === undefined ? attributes
          : [...attributes, ['username', username], ['realm', 'turn'], ['nonce', nonce]],
        hasFingerprint: false,
      }, to)
    const ask = (bytes: Buffer): TurnMessage => {
      relay.handleDatagram(0, from, bytes, bytes.length, out)
      return readTurn(out.bytes.slice(0, out.length))
    }
    const valueOf = (message: TurnMessage, name: string): string =>
      String(message.attributes.find(([attribute]) => attribute === name)?.[1])
    const nonce = valueOf(ask(write('allocate', [['transport', 17]], '')), 'nonce')
    const allocate = write('allocate', [['transport', 17]], nonce, key)
    peers.push(valueOf(ask(allocate), 'relayed'))
    ask(write('createPermission', [['peer', '203.0.113.1:9']], nonce, key))
    if (index === 0) return
    const peer = peers[0]!
    ask(write('channelBind', [['channel', 0x4000], ['peer', peer]], nonce, key))
    samples.push(
      allocate, write('refresh', [['lifetime', 600]], nonce, key),
      write('send', [['peer', peer], ['data', 'aabb']], ''),
      write('createPermission', [['peer', peer]], nonce, key), Buffer.from('4000000454455354', 'hex'),
      write('channelBind', [['channel', 0x4001], ['peer', peer]], nonce, key),
    )
  })
  return { relay, now: 10, addresses, samples }
}
