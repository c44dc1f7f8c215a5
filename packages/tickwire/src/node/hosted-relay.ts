/**
 * The relay of a hosted match in a process of Node: others join by UDP and WebSocket, its own player by a MessagePort.
 */

import { networkInterfaces } from 'node:os'
import { MessageChannel } from 'node:worker_threads'
import type { HostedRelay, HostingOptions } from '../core/client/hosted-relay.ts'
import type { MessagePortLike } from '../core/endpoint/message-ports.ts'
import type { LockstepCard } from '../core/order/lockstep-card.ts'
import { serveLockstep } from './lockstep-server.ts'

const RESUME_MS = 60_000

/** Opens the relay of one match. */
export async function openHostedRelay(game: LockstepCard, options: HostingOptions): Promise<HostedRelay> {
  const { port, address, origins, relay, seed, resumeMs = RESUME_MS, observers = 0 } = options
  const type = { game, resumeMs, spectators: observers, emptyMs: Infinity, ...(relay && { relay }) }
  const serving = await serveLockstep({ match: type }, {
    maxRooms: 1, webrtc: false, webtransport: false, signals: false,
    ...(port !== undefined && { port }), ...(address !== undefined && { address }), ...(origins && { origins }),
  })
  serving.rooms.create('match', seed === undefined ? {} : { seed })
  const { udp } = serving.info
  const { port: tcp } = new URL(serving.url)
  const hosts = address === undefined ? ownAddresses() : [address]
  const urls = hosts.flatMap((host) => {
    const name = host.includes(':') ? `[${host}]` : host
    return [...(udp === undefined ? [] : [`udp://${name}:${udp.port}`]), `http://${name}:${tcp}`]
  })
  return {
    urls,
    invite() {
      const { port1, port2 } = new MessageChannel()
      serving.admit(port2 as unknown as MessagePortLike)
      return port1 as unknown as MessagePortLike
    },
    close: () => serving.close(),
  }
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const reachable = all.filter(({ internal, family }) => !internal && family === 'IPv4')
  return ['127.0.0.1', ...reachable.map(({ address }) => address)]
}
