/**
 * What a library must do to carry WebTransport or WebRTC.
 *
 * Node has neither. Libraries come and go, install on one machine and not on the next, and have advisories against them; so
 * none is a dependency (`providers-search.ts` finds what is installed). Each gives **datagram sessions**: a peer that can be sent to and heard from, one datagram at a
 * time. `SessionPort` makes of them what the engine speaks.
 *
 * A provider never throws on what a peer does, delivers on the event loop, and lets go of everything on `close`.
 */

import type { Certificate } from './certificate.ts'

/** One peer of a transport that has sessions. */
export interface DatagramSession {
  /** The numeric address it comes from, without port: whom limits count. */
  readonly originIp: string
  /** The longest datagram it takes. */
  readonly maxDatagramBytes: number
  /** Sends the first `length` of `bytes`, and is done with them on return. Never queues without bound. */
  send(bytes: Uint8Array, length: number): 'sent' | 'congested' | 'closed'
  /** Ends it. `onClosed` follows, once. */
  close(): void
  /** Set by whoever takes the session. `bytes` are valid during the call only. */
  onDatagram: (bytes: Uint8Array) => void
  /** Set by whoever takes the session. Called once, whoever ended it. */
  onClosed: () => void
}

/** What a provider tells whoever listens. */
export interface SessionListener {
  /** A peer has arrived. Its `onDatagram` and `onClosed` are set before this returns. */
  onSession(session: DatagramSession): void
}

/** How WebTransport is served. */
export interface WebTransportListenOptions extends SessionListener {
  /** The UDP port; 0 takes any that is free. */
  readonly port: number
  /** The numeric address to listen on. All of this machine's unless said. */
  readonly address?: string
  readonly certificate: Certificate
  /** Sessions of this path are ours, others are answered with 404. */
  readonly path: string
  /** Whether a page of this origin may open a session to `authority`, which is host and port as the page wrote them. */
  isAllowedOrigin(origin: string | undefined, authority: string): boolean
  /** More sessions than this are refused. */
  readonly maxSessions: number
}

/** WebTransport that is being served. */
export interface WebTransportListener {
  readonly port: number
  /** What arrived and led to no session, for the log. */
  readonly refused: number
  /** From now on newcomers are shown this one. */
  replaceCertificate(certificate: Certificate): void
  /** Ends every session and frees the port. */
  close(): Promise<void>
}

/** A library that can serve HTTP/3 with WebTransport datagrams. */
export interface WebTransportProvider {
  /** Name and version, for the log. */
  readonly name: string
  /** Whether it may face strangers (docs/adr/0014-transport-providers.md). */
  readonly isForProduction: boolean
  /** Throws `ConfigError` when the port is taken. */
  listen(options: WebTransportListenOptions): Promise<WebTransportListener>
}

/** How WebRTC is served. */
export interface WebRtcListenOptions extends SessionListener {
  /** The numeric address to listen on. All of this machine's unless said. */
  readonly address?: string
  /** UDP ports to use, first and last; one port for all sessions where the provider can. Any that are free unless said. */
  readonly ports?: readonly [number, number]
}

/** WebRTC that is being served. */
export interface WebRtcListener {
  /** The answer to a page's offer, with all candidates in it. Rejects when the offer makes no sense. */
  answer(offer: string): Promise<string>
  /** Ends every session. */
  close(): Promise<void>
}

/** A library that can answer WebRTC offers with a data channel. */
export interface WebRtcProvider {
  /** Name and version, for the log. */
  readonly name: string
  /** Whether it may face strangers (docs/adr/0014-transport-providers.md). */
  readonly isForProduction: boolean
  listen(options: WebRtcListenOptions): WebRtcListener
}
