/**
 * Messages between the process that listens and its workers, over the channel of `child_process.fork`.
 *
 * ```
 * worker                      first process
 *   hello ──────────────────▶                 its program has reached `serve`
 *         ◀────────────────── begin           names, keys and ports
 *   open ───────────────────▶                 rooms can be joined; state follows whenever it changes
 *         ◀────────────────── socket          a WebSocket request with its TCP socket
 *         ◀────────────────── ask             answered with `answer` or `problem`
 * ```
 *
 * Both ends are the same program on one machine, so messages are not checked.
 */

import type { RoomListing } from '../core/rooms/hosted-room.ts'
import type { NewRoomOptions } from '../core/rooms/room-lifecycle.ts'
import type { RoomPlace } from '../core/rooms/room-place.ts'
import type { Certificate } from './certificate.ts'
import type { OpenTransports } from './serve-transports.ts'
import type { Status } from './status.ts'

/** What a worker is opened with. */
export interface WorkerSetup {
  readonly place: RoomPlace
  /** The HTTP port of the first process. */
  readonly port: number
  /** The server's identity. */
  readonly identity: Uint8Array
  readonly ticketKey: Uint8Array
  /** Where it accepts streams that cannot be handed over as sockets. */
  readonly pipePath: string
  /** The folder in which workers note the tokens that were used. */
  readonly tokensFolder: string
}

/** What the first process knows about a worker. */
export interface WorkerState {
  readonly rooms: readonly RoomListing[]
  readonly roomCount: number
  readonly players: number
  readonly transports: OpenTransports['info']
}

/** The TCP socket of a request. */
export interface SocketFacts {
  /** The bytes of the request, from its first line. */
  readonly head: Uint8Array
  /** The client's address by the PROXY protocol. */
  readonly source: string | undefined
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
}

/** What a worker can be asked, with its answers. */
export interface Questions {
  status: { readonly asked: undefined; readonly answer: Status }
  offer: { readonly asked: { readonly offer: string; readonly originIp: string }; readonly answer: string }
  create: { readonly asked: { readonly type: string; readonly options: NewRoomOptions }; readonly answer: RoomListing }
  certificate: { readonly asked: Certificate; readonly answer: undefined }
}

export type ToWorker =
  | { readonly kind: 'begin'; readonly setup: WorkerSetup }
  | { readonly kind: 'socket'; readonly facts: SocketFacts }
  | { readonly kind: 'ask'; readonly id: number; readonly question: keyof Questions; readonly asked: unknown }
  /** Ends the worker, after `ms` at the latest. */
  | { readonly kind: 'drain'; readonly ms: number }
  | { readonly kind: 'close' }

export type FromWorker =
  | { readonly kind: 'hello' }
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'state'; readonly state: WorkerState }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'problem'; readonly id: number; readonly message: string }
