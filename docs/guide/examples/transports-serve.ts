/** docs/guide/transports.md: serving a game to the internet, and a transport of one's own. */

import { readFileSync } from 'node:fs'
import type { Game } from 'tickwire'
import { serve, type DatagramSession, type Serving, type WebTransportProvider } from 'tickwire/node'

/** Behind a proxy that has the certificate of play.example and hands on HTTP and WebSocket. */
export async function serveBehindProxy(game: Game, port: number): Promise<Serving> {
  // #region proxy
  return await serve(game, {
    port,
    // Only the proxy comes here by TCP; UDP comes from players.
    origins: ['https://play.example'],
    webtransport: { port: 4433 },
    webrtc: { ports: [50_000, 50_000], announce: ['203.0.113.7'] },
    udp: false,
  })
  // #endregion
}

/** With a certificate of its own, from files that a client of Let's Encrypt keeps fresh. */
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
/** What a library for WebTransport must be made into. `connectTo` stands for the library. */
export function provide(connectTo: (port: number, onPeer: (peer: LibraryPeer) => void) => { stop(): Promise<void> }): WebTransportProvider {
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
        // Whoever takes the session has set these two when this returns.
        onSession(session)
        peer.onBytes = (bytes) => session.onDatagram(bytes)
        peer.onGone = () => session.onClosed()
      })
      return { port, refused: 0, replaceCertificate: () => {}, close: () => library.stop() }
    },
  }
}
// #endregion

/** What some library calls a peer. */
export interface LibraryPeer {
  readonly ip: string
  offer(bytes: Uint8Array): boolean
  hangUp(): void
  onBytes: (bytes: Uint8Array) => void
  onGone: () => void
}
