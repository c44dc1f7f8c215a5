/** A relay and TURN clients without a network. The clients are written from the standard: `turn-checker.ts`. */

import { PacketRelay, type PacketRelayConfig, type RelayGrant, issueRelayToken, turnCredentials } from 'tickwire/nat'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { type TurnMessage, readTurn, turnKeyOf, writeTurn } from '../reference/turn-checker.ts'

export const SECONDS = 1_800_000_000
export const RELAYED = '203.0.113.10'
const REALM = 'turn'
const issuer = pureProvider.importSigning(new Uint8Array(32).fill(7))

type Attributes = TurnMessage['attributes']

/** A relay, and a clock. */
export class TurnStage {
  now: number = 1000
  readonly relay: PacketRelay
  /** Everything that the relay sent, to clients and to others. */
  readonly sent: { readonly to: string; readonly bytes: Buffer }[] = []
  #out = createTransmit()
  #tokens: number = 0

  constructor(config: Partial<PacketRelayConfig> = {}) {
    this.relay = new PacketRelay({
      provider: pureProvider, entropy: new Dice(1), issuers: [issuer.publicKey], relayed: `${RELAYED}:7777`,
      wallSeconds: () => SECONDS, ...config,
    })
  }

  token(session: number, grant: Partial<RelayGrant> = {}, key = issuer): Uint8Array {
    const id = new Uint8Array(16)
    new DataView(id.buffer).setUint32(0, ++this.#tokens)
    return issueRelayToken(pureProvider, key, {
      session: new Uint8Array(16).fill(session), id, issuedAt: SECONDS, expiresAt: SECONDS + 300, audience: 'relay',
      ...grant,
    })
  }

  /** Gives the relay a datagram. Returns what it sends, which is at most one. */
  give(from: string, bytes: Uint8Array): { readonly to: string; readonly bytes: Buffer } | undefined {
    if (!this.relay.handleDatagram(this.now, from, Uint8Array.from(bytes), bytes.length, this.#out)) return undefined
    const sent = { to: this.#out.to, bytes: Buffer.from(this.#out.bytes.slice(0, this.#out.length)) }
    this.sent.push(sent)
    return sent
  }
}

/** One client. */
export class TurnClient {
  readonly stage: TurnStage
  readonly address: string
  readonly username: string
  readonly key: Buffer
  nonce: string = ''
  /** Its virtual address. */
  relayed: string = ''
  #transactions: number = 0

  constructor(stage: TurnStage, address: string, token: Uint8Array) {
    this.stage = stage
    this.address = address
    const { username, credential } = turnCredentials(token)
    this.username = username
    this.key = turnKeyOf(username, REALM, credential)
  }

  /** The bytes of a request with credentials. */
  request(method: TurnMessage['method'], attributes: Attributes, key: Buffer | undefined = this.key): Buffer {
    const credentials: Attributes = key === undefined ? []
      : [['username', this.username], ['realm', REALM], ['nonce', this.nonce]]
    return writeTurn({
      method, class: 'request', transaction: this.#next(), attributes: [...attributes, ...credentials],
      hasFingerprint: false,
    }, key)
  }

  /** Asks the relay. Returns its answer. */
  ask(method: TurnMessage['method'], attributes: Attributes, key?: Buffer): TurnMessage | undefined {
    const answer = this.stage.give(this.address, this.request(method, attributes, key))
    return answer === undefined ? undefined : readTurn(answer.bytes, this.key)
  }

  /** Learns the nonce, and allocates. Returns the code of the error; 0 for success. */
  allocate(): number {
    this.learnNonce()
    const answer = this.ask('allocate', [['transport', 17]])
    this.relayed = String(valueOf(answer, 'relayed') ?? '')
    return codeOf(answer)
  }

  learnNonce(): void {
    const challenge = this.stage.give(this.address, writeTurn({
      method: 'allocate', class: 'request', transaction: this.#next(), attributes: [['transport', 17]],
      hasFingerprint: false,
    }))
    if (challenge !== undefined) this.nonce = String(valueOf(readTurn(challenge.bytes), 'nonce'))
  }

  permit(address: string): number {
    return codeOf(this.ask('createPermission', [['peer', address]]))
  }

  /** Sends data as an indication. Returns what the relay sends. */
  send(peer: string, data: string): { readonly to: string; readonly bytes: Buffer } | undefined {
    return this.stage.give(this.address, writeTurn({
      method: 'send', class: 'indication', transaction: this.#next(), attributes: [['peer', peer], ['data', data]],
      hasFingerprint: false,
    }))
  }

  /** Sends channel data. */
  sendByChannel(channel: number, data: string, padding: number = 0): { to: string; bytes: Buffer } | undefined {
    const head = Buffer.alloc(4)
    head.writeUInt16BE(channel, 0)
    head.writeUInt16BE(data.length / 2, 2)
    return this.stage.give(this.address, Buffer.concat([head, Buffer.from(data, 'hex'), Buffer.alloc(padding)]))
  }

  #next(): string {
    return (++this.#transactions).toString(16).padStart(12, '0').padEnd(24, '5')
  }
}

export function valueOf(message: TurnMessage | undefined, name: string): string | number | undefined {
  return message?.attributes.find(([attribute]) => attribute === name)?.[1]
}

/** The code of an error; 0 for success, -1 for no answer. */
export function codeOf(message: TurnMessage | undefined): number {
  if (message === undefined) return -1
  return message.class === 'success' ? 0 : Number(valueOf(message, 'error'))
}
