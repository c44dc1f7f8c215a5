/**
 * What a library must do to carry WebTransport or WebRTC.
 *
 * Node has neither. Libraries change, install on some machines only, and have security advisories, so none is a
 * dependency (`providers-search.ts` finds what is installed). Each provides **datagram sessions**: a peer that
 * datagrams can be sent to and received from. `SessionPort` turns sessions into a datagram port for the engine.
 *
 * A provider never throws because of what a peer does, delivers on the event loop, and releases everything on `close`.
 */

import type { Certificate } from './certificate.ts'

/** One peer of a session-based transport. */
export interface DatagramSession {
  /** The peer's numeric address, without port. Limits per origin count by it. */
  readonly originIp: string
  /** The longest datagram that `send` accepts. */
  readonly maxDatagramBytes: number
  /** Sends the first `length` of `bytes`; the caller may reuse them afterwards. Never queues without bound. */
  send(bytes: Uint8Array, length: number): 'sent' | 'congested' | 'closed'
  /** Ends the session. `onClosed` follows, once. */
  close(): void
  /** Set by the code that adopts the session. `bytes` are valid during the call only. */
  onDatagram: (bytes: Uint8Array) => void
  /** Set by the code that adopts the session. Called once, whichever side closed it. */
  onClosed: () => void
}

/** Receives the sessions of a provider. */
export interface SessionListener {
  /** A new session. The callee sets its `onDatagram` and `onClosed` before it returns. */
  onSession(session: DatagramSession): void
}

/** How WebTransport is served. */
export interface WebTransportListenOptions extends SessionListener {
  /** The UDP port; 0 selects any free port. */
  readonly port: number
  /** The numeric address to listen on. Default: all addresses of this machine. */
  readonly address?: string
  /** The certificate that is shown to new connections. */
  readonly certificate: Certificate
  /** Sessions for this path are accepted; others are answered with 404. */
  readonly path: string
  /** Whether a page of this origin may open a session to `authority`: host and port as the page wrote them. */
  isAllowedOrigin(origin: string | undefined, authority: string): boolean
  /** More sessions than this are refused. */
  readonly maxSessions: number
  /** Whether this machine and its own network are exempt from limits by origin. Default true. */
  readonly areLocalExempt?: boolean
}

/** A running WebTransport server. */
export interface WebTransportListener {
  /** The UDP port that it listens on. */
  readonly port: number
  /** Number of attempts that led to no session, for the log. */
  readonly refused: number
  /** New connections are shown this certificate from now on. */
  replaceCertificate(certificate: Certificate): void
  /** Ends every session and frees the port. */
  close(): Promise<void>
}

/** A library that can serve HTTP/3 with WebTransport datagrams. */
export interface WebTransportProvider {
  /** Name and version, for the log. */
  readonly name: string
  /** Whether it is safe to expose to the internet (docs/adr/0014-transport-providers.md). */
  readonly isForProduction: boolean
  /** Throws `ConfigError` when the port is taken. */
  listen(options: WebTransportListenOptions): Promise<WebTransportListener>
}

/** How WebRTC is served. */
export interface WebRtcListenOptions extends SessionListener {
  /** The numeric address to listen on. Default: all addresses of this machine. */
  readonly address?: string
  /** First and last UDP port to use; one port for all sessions if the provider can. Default: any free ports. */
  readonly ports?: readonly [number, number]
  /** Whether this machine and its own network are exempt from limits by origin. Default true. */
  readonly areLocalExempt?: boolean
  /** STUN and TURN servers, for a machine behind a router: `stun:ip:port`. Default: none. */
  readonly iceServers?: readonly string[]
}

/** A running WebRTC server. */
export interface WebRtcListener {
  /**
   * The answer to a page's offer, including all candidates. Rejects when the offer is malformed. The offer has no
   * candidates: the page sends first. `originIp` is the numeric address that the offer came from.
   */
  answer(offer: string, originIp: string): Promise<string>
  /** Ends every session. */
  close(): Promise<void>
}

/** A library that can answer WebRTC offers with a data channel. */
export interface WebRtcProvider {
  /** Name and version, for the log. */
  readonly name: string
  /** Whether it is safe to expose to the internet (docs/adr/0014-transport-providers.md). */
  readonly isForProduction: boolean
  /** Starts to answer offers. */
  listen(options: WebRtcListenOptions): WebRtcListener
}
