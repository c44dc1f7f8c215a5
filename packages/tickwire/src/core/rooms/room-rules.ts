/**
 * The rules of a room type: the game, the capacity, and the callbacks for joining and leaving.
 *
 * `game/room-type.ts` adds the options of a match with a world.
 */

import { ConfigError } from '../base/assert.ts'
import { PLAYERS_DEFAULT, PLAYERS_PER_MATCH_MAX, ROOM_EMPTY_MS, SEAT_HOLD_MS } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { ConnectToken } from '../crypto/connect-token.ts'
import type { Refusal } from '../endpoint/endpoint-config.ts'
import type { HostedRoom, RoomListing } from './hosted-room.ts'
import type { JoinRequest, Metadata } from './join-body.ts'

/** A client that asks for a seat. Its address is proven, and its token is verified if the server uses tokens. */
export interface Asking<D = unknown, O = unknown> {
  /** The client's address, in the transport's format. */
  readonly from: string
  /** The verified token. Undefined if the server uses no tokens. */
  readonly token: ConnectToken | undefined
  /** The client's join data, by the schema `join` of the game. The client chose it: check what matters. */
  readonly data: D
  /** The request of the client, without a password. */
  readonly join: JoinRequest
  /** The options of the requested room, by the schema `roomOptions` of the game. Its creator chose them. */
  readonly options: O
  /** The requested room. It may not be open yet: a room opens when its first player connects. */
  readonly room: RoomListing
}

/** A player or spectator that has a seat. */
export interface Member<D = unknown> {
  /** The id of the player. It stays the same when the player resumes, and no other player of this room ever has it. */
  readonly id: PeerId
  /** The data that the client joined with, by the schema `join` of the game. It stays when the player resumes. */
  readonly data: D
  /** The value that `onAuth` returned. */
  readonly user: unknown
  /** Whether it plays or watches. */
  readonly role: 'player' | 'spectator'
}

/** The rules of a room type that do not depend on its matches. */
export interface RoomRules {
  /** The game. Clients must have the same fingerprint. */
  readonly game: {
    readonly fingerprint: Uint8Array
    /** Decodes the join data of clients: undefined when it is invalid. Without it, clients may send none. */
    readonly joinCodec?: { decode(bytes: Uint8Array): object | undefined }
    /** Decodes and encodes the options of new rooms. Without it, rooms have no options. */
    readonly optionsCodec?: {
      decode(bytes: Uint8Array): object | undefined
      encode(values: { readonly [field: string]: unknown }): Uint8Array
    }
  }
  /** Maximum number of players in one room. Default: 32. */
  readonly capacity?: number
  /** Maximum number of spectators. Default: 0. */
  readonly spectators?: number
  /** The metadata of a new room. The client that creates a room can override it. Default: none. */
  readonly metadata?: Metadata
  /** Whether clients may create rooms of this type, explicitly or by a quick join when all are full. Default: true. */
  readonly mayCreate?: boolean
  /** A room without any taken or held seat ends after this time. Infinity keeps it. Default: 10,000. */
  readonly emptyMs?: number
  /** How long the seat of a disconnected player is held. 0: not at all. Default: 5000. */
  readonly resumeMs?: number
  /**
   * Refuses a client that would find a seat, with a reason. Undefined admits it. Called before `onAuth`, and not for a
   * client that resumes its seat. It may not be async.
   */
  admit?(asking: Asking): Refusal | undefined
  /**
   * Authenticates a client. `false` refuses it; any other value becomes `member.user`. The result may be a promise that
   * takes a few seconds. The seat is taken when the client connects after that; if the last seat is gone by then, the
   * client is closed with `full`. Not called again when a client resumes its seat.
   * Default: every client is admitted, and `member.user` is the user data of its token.
   */
  onAuth?(asking: Asking): unknown
  /**
   * The room was created, or restored from the previous process (`room.isRestored`). Register message handlers and add
   * bots here.
   */
  onCreate?(room: HostedRoom): void
  /** A client has joined. */
  onJoin?(room: HostedRoom, member: Member): void
  /** A client has lost its connection; its seat is held. */
  onAway?(room: HostedRoom, member: Member): void
  /** The client has resumed its seat. */
  onBack?(room: HostedRoom, member: Member): void
  /** A member has left, with the reason. */
  onLeave?(room: HostedRoom, member: Member, reason: CloseReason): void
  /** The process ends in this many milliseconds: inform the players. */
  onDrain?(room: HostedRoom, ms: number): void
  /** The room has ended. */
  onEnd?(room: HostedRoom): void
}

/** Rules with all defaults filled in. */
export type Complete<T extends RoomRules> = T
  & Required<Pick<RoomRules, 'capacity' | 'spectators' | 'metadata' | 'mayCreate' | 'emptyMs' | 'resumeMs'>>

/** Fills in the defaults. Throws ConfigError on invalid values. */
export function completeRules<T extends RoomRules>(name: string, rules: T): Complete<T> {
  const complete = {
    capacity: PLAYERS_DEFAULT,
    spectators: 0,
    metadata: {},
    mayCreate: true,
    emptyMs: ROOM_EMPTY_MS,
    resumeMs: SEAT_HOLD_MS,
    ...rules,
  }
  const refuse = (field: string, problem: string, fix: string): never => {
    throw new ConfigError(`rooms.${name}.${field}`, problem, fix)
  }
  const { capacity, spectators, emptyMs, resumeMs } = complete
  if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= PLAYERS_PER_MATCH_MAX)) {
    refuse('capacity', `invalid number (got ${capacity})`, `give an integer from 1 to ${PLAYERS_PER_MATCH_MAX}.`)
  }
  if (!(Number.isInteger(spectators) && spectators >= 0 && spectators <= PLAYERS_PER_MATCH_MAX)) {
    refuse('spectators', `invalid number (got ${spectators})`, `give an integer from 0 to ${PLAYERS_PER_MATCH_MAX}.`)
  }
  if (!(emptyMs >= 0)) refuse('emptyMs', `invalid time (got ${emptyMs})`, 'give 0 or more milliseconds, or Infinity.')
  if (!(resumeMs >= 0 && resumeMs < Infinity))
    refuse('resumeMs', `invalid time (got ${resumeMs})`, 'give 0 or more milliseconds.')
  return complete
}
