/** Peers of a relay on real sockets, in pairs that send to each other: native ones, and clients of TURN. */

import { type Socket, createSocket } from 'node:dgram'
import { RelayClient } from 'tickwire/nat'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { readTurn, turnKeyOf, writeTurn, type TurnMessage } from '../../test/reference/turn-checker.ts'

/** Bytes of what a player sends. */
export const PAYLOAD_BYTES = 120
/** The connection that the data belongs to. */
const [CONNECTION_LO, CONNECTION_HI] = [1, 2]

/** A socket that sends the same datagram to a relay, which carries it to the other socket of its pair. */
export interface Sender {
  readonly socket: Socket
  readonly datagram: Buffer
}

async function openSocket(): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return socket
}

/** The data: a packet of an open connection. */
function payload(): Buffer {
  const header = new PacketHeader()
  header.type = PACKET_TYPE.payload
  header.idLo = CONNECTION_LO
  header.idHi = CONNECTION_HI
  header.sequence = 5
  const bytes = Buffer.alloc(PAYLOAD_BYTES)
  writeHeader(header, bytes)
  return bytes
}

async function until(isDone: () => boolean, drive: () => void): Promise<void> {
  for (const end = performance.now() + 10_000; !isDone(); await new Promise((resolve) => setTimeout(resolve, 5))) {
    if (performance.now() > end) throw new Error('a relay did not answer')
    drive()
  }
}

/** Two native peers that have bound each other. */
export async function openNativePair(relay: string, tokens: readonly Uint8Array[]): Promise<readonly Sender[]> {
  const port = Number(relay.split(':').at(-1))
  const peers = await Promise.all(tokens.map(async (token) => {
    const socket = await openSocket()
    const client = new RelayClient({ provider: bestProvider(), entropy: systemEntropy, relay, token })
    socket.on('message', (bytes) => client.handleDatagram(performance.now(), bytes, bytes.length))
    return { socket, client }
  }))
  const out = createTransmit()
  const drive = (): void => {
    for (const { socket, client } of peers) {
      while (client.pollTransmit(performance.now(), out))
        socket.send(out.bytes.slice(0, out.length), port, '127.0.0.1')
    }
  }
  await until(() => peers.every(({ client }) => client.isReady), drive)
  peers.forEach(({ client }, index) =>
    client.bind(peers[1 - index]!.client.allocation, CONNECTION_LO, CONNECTION_HI))
  const isBound = ({ peers: bound }: RelayClient): boolean => [...bound.values()].every(({ channel }) => channel > 0)
  await until(() => peers.every(({ client }) => isBound(client)), drive)
  return peers.map(({ socket, client }) => {
    socket.removeAllListeners('message')
    const bytes = Buffer.alloc(PAYLOAD_BYTES + 4)
    client.wrap([...client.peers.values()][0]!, payload(), PAYLOAD_BYTES, bytes)
    return { socket, datagram: bytes }
  })
}

/** How a client of TURN signs in. */
export interface TurnUser {
  readonly username: string
  readonly credential: string
}

/** Two clients of a TURN server, each with a channel to the other. */
export async function openTurnPair(server: string, users: readonly TurnUser[]): Promise<readonly Sender[]> {
  const port = Number(server.split(':').at(-1))
  const clients = await Promise.all(users.map(async ({ username, credential }) => {
    const socket = await openSocket()
    let [realm, nonce, transaction] = ['', '', 0]
    const ask = async (method: TurnMessage['method'], attributes: TurnMessage['attributes']): Promise<TurnMessage> => {
      const key = nonce === '' ? undefined : turnKeyOf(username, realm, credential)
      const signed: TurnMessage['attributes'] = key === undefined ? []
        : [['username', username], ['realm', realm], ['nonce', nonce]]
      const bytes = writeTurn({
        method, class: 'request', transaction: (++transaction).toString(16).padStart(24, '0'),
        attributes: [...attributes, ...signed], hasFingerprint: false,
      }, key)
      const answer = await new Promise<Buffer>((resolve) => {
        socket.once('message', resolve)
        socket.send(bytes, port, '127.0.0.1')
      })
      const message = readTurn(answer)
      if (message.class === 'error' && key !== undefined)
        throw new Error(`${method}: ${JSON.stringify(message.attributes)}`)
      return message
    }
    const valueOf = (message: TurnMessage, name: string): string =>
      String(message.attributes.find(([attribute]) => attribute === name)?.[1] ?? '')
    const challenge = await ask('allocate', [['transport', 17]])
    realm = valueOf(challenge, 'realm')
    nonce = valueOf(challenge, 'nonce')
    const allocated = await ask('allocate', [['transport', 17]])
    return { socket, ask, relayed: valueOf(allocated, 'relayed') }
  }))
  return await Promise.all(clients.map(async ({ socket, ask }, index) => {
    await ask('channelBind', [['channel', 0x4000], ['peer', clients[1 - index]!.relayed]])
    const head = Buffer.from([0x40, 0, 0, PAYLOAD_BYTES])
    return { socket, datagram: Buffer.concat([head, payload()]) }
  }))
}
