/** The messages between a page that hosts a match and its Worker. */

import type { PathMode } from '../core/nat/candidates.ts'
import type { IceServer } from './ice-servers.ts'

/** From the page. */
export type HostCommand =
  | {
      readonly name: 'host'
      /** The address of the rendezvous. */
      readonly base: string
      readonly mode: PathMode
      readonly isStrong: boolean
      /** Whether addresses on this machine may be used: the rendezvous is on this machine too. */
      readonly isLocal: boolean
    }
  /** A way in for a player of this machine. */
  | { readonly name: 'admit'; readonly port: MessagePort }
  /** The answer to `offer`; undefined: it is not possible. */
  | { readonly name: 'answer'; readonly guest: string; readonly sdp: string | undefined }
  /** A channel has opened. Undefined: this browser cannot transfer it, so the page pipes its messages. */
  | { readonly name: 'channel'; readonly id: number; readonly channel: RTCDataChannel | undefined }
  | { readonly name: 'message'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly name: 'gone'; readonly id: number }
  | { readonly name: 'close' }

/** From the Worker. */
export type HostReport =
  | { readonly name: 'hosting'; readonly code: string; readonly link: string }
  | { readonly name: 'failed'; readonly message: string }
  /** A guest wants a channel. */
  | {
      readonly name: 'offer'
      readonly guest: string
      readonly sdp: string
      readonly iceServers: readonly IceServer[]
      readonly isRelayOnly: boolean
    }
  | { readonly name: 'send'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly name: 'drop'; readonly id: number }
  | { readonly name: 'players'; readonly count: number }
  | { readonly name: 'closed' }
