/**
 * Servers for `tickwire conformance`. Its test bundles this file with one line of the engine changed: that is a server
 * of another implementation with one mistake. Each resolves with the arguments of the command, and a function that
 * closes the server.
 */

import { createMatchHost } from 'tickwire/engine'
import { bestProvider, monotonicNow as now, openRelay, openUdp, serveLockstep, systemEntropy } from 'tickwire/node'
import { game as hello } from '../../games/hello/game.ts'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { game as lockstep } from '../sim/lockstep-game.ts'

/** A running server. */
export interface ForeignServer {
  readonly args: readonly string[]
  close(): void
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const ADDRESS = '127.0.0.1'

/** A server of a match with snapshots. */
export async function openServer(): Promise<ForeignServer> {
  const port = await openUdp({ port: 0, address: ADDRESS })
  const { rooms } = createMatchHost(hello, { entropy: systemEntropy })
  port.onDatagram = (from, bytes, length) => {
    rooms.handleDatagram(now(), from, bytes, length)
    rooms.drain(now(), port)
  }
  const timer = setInterval(() => {
    rooms.tick(now())
    rooms.drain(now(), port)
  }, 10)
  return {
    args: [port.localAddress, '--fingerprint', hex(hello.fingerprint)],
    close() {
      clearInterval(timer)
      port.close()
    },
  }
}

/** A relay of lockstep matches. */
export async function openLockstepRelay(): Promise<ForeignServer> {
  const serving = await serveLockstep(
    { match: { game: lockstep } }, { port: 0, address: ADDRESS, webtransport: false, webrtc: false, log: () => {} },
  )
  return {
    args: [`${ADDRESS}:${serving.info.udp?.port}`, '--lockstep', '--fingerprint', hex(lockstep.fingerprint)],
    close: () => void serving.close(),
  }
}

/** A packet relay. */
export async function openPacketRelay(): Promise<ForeignServer> {
  const secret = new Uint8Array(32).fill(7)
  const { publicKey } = bestProvider().importSigning(secret.slice())
  const relay = await openRelay({ issuers: [publicKey], port: 0, address: ADDRESS, relayed: ADDRESS })
  return {
    args: [relay.relayed, '--relay', 'relay', '--issuer', keyToText('issuer-secret', secret)],
    close: () => void relay.close(),
  }
}
