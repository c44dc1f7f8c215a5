/** docs/guide/transports.md: serving a game to the internet, and a transport of your own. */

import { readFileSync } from 'node:fs'
import type { Game } from 'tickwire'
import { serve, type DatagramSession, type Serving, type WebTransportProvider } from 'tickwire/node'

/** Behind a proxy that has the certificate of play.example and forwards HTTP and WebSocket. */
export async function serveBehindProxy(game: Game, port: number): Promise<Serving> {
  // #region proxy
  return await serve(game, {
    port,
    // Only the proxy connects by TCP. Players send UDP directly.
    origins: ['https://play.example'],
    trustedProxies: ['127.0.0.1'],
    webtransport: { port: 4433 },
    webrtc: { ports: [50_000, 50_000], announce: ['203.0.113.7'] },
    udp: false,
  })
  // #endregion
}

/** With a certificate of its own, from files that a Let's Encrypt client renews. */
export async function serveAlone(game: Game, folder: string, port: number): Promise<Serving> {
  // #region tls
  return await serve(game, {
    port,
    static: './public',
    tls: { cert: readFileSync(`${folder}/fullchain.pem`, 'utf8'), key: readFileSync(`${folder}/privkey.pem`, 'utf8') },
  })
  // #endregion
}

// #region provider
/** The interface that a WebTransport library must be adapted to. `connectTo` stands for the library. */
export function provide(
  connectTo: (port: number, onPeer: (peer: LibraryPeer) => void) => { stop(): Promise<void> },
): WebTransportProvider {
  return {
    name: 'my library 1.0',
    isForProduction: true,
    listen: async ({ port, onSession }) => {
      const library = connectTo(port, (peer) => {
        const session: DatagramSession = {
          originIp: peer.ip,
          maxDatagramBytes: 1200,
          send: (bytes, length) => (peer.offer(bytes.slice(0, length)) ? 'sent' : 'congested'),
          close: () => peer.hangUp(),
          onDatagram: () => {},
          onClosed: () => {},
        }
        // The receiver of the session has set these two when the call returns.
        onSession(session)
        peer.onBytes = (bytes) => session.onDatagram(bytes)
        peer.onGone = () => session.onClosed()
      })
      return { port, refused: 0, replaceCertificate: () => {}, close: () => library.stop() }
    },
  }
}
// #endregion

/** A peer of some library. */
export interface LibraryPeer {
  readonly ip: string
  offer(bytes: Uint8Array): boolean
  hangUp(): void
  onBytes: (bytes: Uint8Array) => void
  onGone: () => void
}
