/** A relay on the machine of a player: its options, and what a room needs of it. */

import type { MessagePortLike } from '../endpoint/message-ports.ts'
import type { RelayOptions } from '../order-relay/relay-options.ts'

/** Opens a MessagePort to a relay, again after each lost connection. */
export interface PortSource {
  /** Throws when there is none any more. */
  open(): MessagePortLike
}

/** How a relay runs on the machine of a player. */
export interface HostingOptions {
  /** In Node: the TCP port of HTTP and WebSocket; native UDP has the next one. 0: any free ports. Default: 9090. */
  readonly port?: number
  /** In Node: listen on this address only. Default: all. */
  readonly address?: string
  /** In Node: pages of these origins may join. Default: pages of this machine. */
  readonly origins?: readonly string[]
  /** In a page: starts the Worker that calls `runRelay` of tickwire/worker. A page cannot host without it. */
  readonly worker?: () => RelayWorker
  /** Settings of the relay that differ from the defaults. Default: none. */
  readonly relay?: Partial<Omit<RelayOptions, 'tickRate' | 'players' | 'secret' | 'filters'>>
  /** The seed of the match. Default: a random one. */
  readonly seed?: number
  /** How long the seat of a lost connection is kept, in ms. Default: 60,000. */
  readonly resumeMs?: number
  /** Most observers. Default: 0. */
  readonly observers?: number
}

/** What is needed of a Worker of a page. */
export interface RelayWorker {
  /** Sends a message. */
  postMessage(message: unknown, transfer: never[]): void
  /** Calls `listener` for each message, and for an error. */
  addEventListener(
    type: 'message' | 'error', listener: (event: { readonly data?: unknown; readonly message?: string }) => void,
  ): void
  /** Ends the Worker. */
  terminate(): void
}

/** A relay that runs on this machine. */
export interface HostedRelay {
  /** Where other machines join. Empty in a page. */
  readonly urls: readonly string[]
  /** A new way into the relay. The port may be handed to another page. */
  invite(): MessagePortLike
  /** Ends the match for all. */
  close(): Promise<void>
}
