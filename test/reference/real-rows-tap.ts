/**
 * A client of the engine on a real socket that keeps the plaintext of every packet, in the order of arrival. It only
 * fetches: the rows are read from these bytes by `client-reader.ts`, which does not use the engine.
 */

import type { Game, Shape } from 'tickwire'
import { createClientHost, type DatagramPort } from 'tickwire/engine'
import { bestProvider, monotonicNow as now, openUdp, openWebSocket, resolveUdp, systemEntropy } from 'tickwire/node'

/** Where a server is. */
export interface ServerAddress {
  readonly url: string
  readonly udpPort: number
  readonly isWebSocket: boolean
}

/** A client that was accepted. */
export interface Tap {
  readonly peer: number
  readonly packets: readonly Uint8Array[]
  close(): void
}

/** Joins, and keeps packets until it is closed. */
export async function openTap(game: Game<Shape>, { url, udpPort, isWebSocket }: ServerAddress): Promise<Tap> {
  const socketUrl = `${url.replace(/^http/, 'ws')}/tickwire`
  const port: DatagramPort = isWebSocket ? await openWebSocket(socketUrl) : await openUdp()
  const address = isWebSocket ? socketUrl : await resolveUdp('127.0.0.1', udpPort)
  const packets: Uint8Array[] = []
  return await new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    const host = createClientHost(game, {
      entropy: systemEntropy, security: { provider: bestProvider() },
      onOpened: () => resolve({ get peer() { return host.peer }, packets, close }),
      onClosed: (reason) => reject(new Error(`closed: ${JSON.stringify(reason)}`)),
    })
    const wake = (): void => {
      if (isOver) return
      host.tick(now())
      const wakeAt = host.drain(now(), port)
      clearTimeout(timer)
      if (wakeAt !== Infinity) timer = setTimeout(wake, Math.max(0, wakeAt - now()))
    }
    const close = (): void => {
      isOver = true
      clearTimeout(timer)
      port.close()
    }
    host.look({
      handleReceived: (_now, header, bytes, length) => {
        packets.push(bytes.slice(header.byteLength, length))
      },
    })
    port.onDatagram = (from, bytes, length) => {
      host.handleDatagram(now(), from, bytes, length)
      wake()
    }
    host.connect(now(), address)
    wake()
  })
}
