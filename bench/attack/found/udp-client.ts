/** A client of the attacked server over UDP on loopback, with a clock that the attack controls. */

import type { CloseReason, JoinRequest, Shape } from 'tickwire'
import { createClientHost, type ClientHost } from 'tickwire/engine'
import { monotonicNow, openUdp, resolveUdp, systemEntropy } from 'tickwire/node'
import { PACKET_TYPE, PacketHeader, readHeader } from '../../../packages/tickwire/src/core/packet/header.ts'
import { victimGame } from './victim-game.ts'

/** One client. */
export interface UdpClient {
  readonly host: ClientHost<Shape>
  readonly closed: CloseReason | undefined
  /**
   * Sends what is due. `now` may run faster than real time: an attacker does not keep the rate limits of an endpoint.
   */
  pump(now?: number): void
  close(): void
}

/** Asks the server at `port` for a seat. With `isHalfWay`, no packet is ever sent under the agreed keys. */
export async function joinByUdp(
  port: number,
  options: { readonly join?: JoinRequest; readonly isHalfWay?: boolean; readonly everyMs?: number } = {},
): Promise<UdpClient> {
  const { join, isHalfWay = false, everyMs = 10 } = options
  const socket = await openUdp({ address: '127.0.0.1' })
  const header = new PacketHeader()
  let closed: CloseReason | undefined
  let latest = monotonicNow()
  const host = createClientHost(victimGame, {
    entropy: systemEntropy,
    onClosed: (reason) => {
      closed = reason
    },
  }) as unknown as ClientHost<Shape>
  const isSealed = (bytes: Uint8Array, length: number): boolean =>
    readHeader(bytes, length, header) === 'ok'
    && header.type !== PACKET_TYPE.handshake
    && header.type !== PACKET_TYPE.challengeResponse
  const pump = (now = monotonicNow()): void => {
    latest = Math.max(latest, now)
    host.tick(latest)
    host.drain(latest, {
      send: (to, bytes, length) => {
        if (!isHalfWay || !isSealed(bytes, length)) socket.send(to, bytes, length)
      },
    })
  }
  socket.onDatagram = (from, bytes, length) => host.handleDatagram(latest, from, bytes, length)
  host.connect(latest, await resolveUdp('127.0.0.1', port), {}, join)
  const timer = setInterval(() => pump(), everyMs)
  return {
    host, pump,
    get closed() { return closed },
    close: () => {
      clearInterval(timer)
      socket.close()
    },
  }
}

/** Whether something becomes true within some milliseconds. */
export async function within(ms: number, isTrue: () => boolean): Promise<boolean> {
  for (const end = monotonicNow() + ms; monotonicNow() < end;) {
    if (isTrue()) return true
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
  return isTrue()
}
