/**
 * A kind of room, as its developer writes it: the game that is played there, how many may, and what happens when they come and go.
 */

import { ConfigError } from '../../base/assert.ts'
import { PLAYERS_DEFAULT, PLAYERS_PER_MATCH_MAX, ROOM_EMPTY_MS, SEAT_HOLD_MS } from '../../base/limits.ts'
import type { CloseReason } from '../../connection/close-reason.ts'
import type { ConnectToken } from '../../crypto/connect-token.ts'
import type { Game, Peer } from '../define-game.ts'
import type { MatchOptions } from '../match.ts'
import type { SpectatorOptions } from '../spectators.ts'
import type { JoinRequest, Metadata } from './join-body.ts'
import type { Room } from './room.ts'

/** Somebody who asks for a seat. His address is proven, and his token checked where there are tokens. */
export interface Asking {
  readonly from: string
  readonly token: ConnectToken | undefined
  readonly join: JoinRequest
  readonly room: Room
}

/** Somebody who has a seat. */
export interface Member extends Peer {
  /** What `onAuth` said of him. */
  readonly user: unknown
  readonly role: 'player' | 'spectator'
}

export interface RoomType extends Pick<MatchOptions, 'interest' | 'bytesPerSecond' | 'syncTest' | 'onSyncFault' | 'onFault'> {
  readonly game: Game
  /** How many may play in one room at once. */
  readonly capacity?: number
  /** How many may look on. Default: nobody. */
  readonly spectators?: number
  /** What they may see, and how late. */
  readonly watching?: SpectatorOptions
  /** What a new room says of itself, unless whoever creates it says otherwise. */
  readonly metadata?: Metadata
  /** Whether players may make rooms of this type, by asking for one or by a quick seat when all are full. Default: yes. */
  readonly mayCreate?: boolean
  /** A room where nobody is or is awaited is over after this. Infinity keeps it. */
  readonly emptyMs?: number
  /** For so long the seat of a player whose line is gone is kept. 0: not at all. */
  readonly resumeMs?: number
  /**
   * Who is it, and may he? `false` refuses; anything else is what he is known by (`member.user`). It may take a few seconds: his seat
   * is reserved meanwhile. Not asked again when he comes back to his seat. Default: everybody may, known by the user data of his token.
   */
  onAuth?(asking: Asking): unknown
  /** A room has been made: the place to listen to its messages. */
  onCreate?(room: Room): void
  /** Somebody is in. */
  onJoin?(room: Room, member: Member): void
  /** Somebody's line is gone; his seat is kept. */
  onAway?(room: Room, member: Member): void
  /** He is back in his seat. */
  onBack?(room: Room, member: Member): void
  /** Somebody has left, and why. */
  onLeave?(room: Room, member: Member, reason: CloseReason): void
  /** The process is about to end, so many milliseconds from now: the moment to tell players. */
  onDrain?(room: Room, ms: number): void
  /** The room is over. */
  onEnd?(room: Room): void
}

/** The same, with nothing left out that has a default. */
export type CompleteRoomType = RoomType & Required<Pick<RoomType, 'capacity' | 'spectators' | 'metadata' | 'mayCreate' | 'emptyMs' | 'resumeMs'>>

/** Fills in defaults; throws ConfigError on what cannot work. */
export function completeRoomType(name: string, type: RoomType): CompleteRoomType {
  const complete = {
    capacity: PLAYERS_DEFAULT, spectators: 0, metadata: {}, mayCreate: true, emptyMs: ROOM_EMPTY_MS, resumeMs: SEAT_HOLD_MS, ...type,
  }
  const refuse = (field: string, problem: string, fix: string): never => {
    throw new ConfigError(`rooms.${name}.${field}`, problem, fix)
  }
  const { capacity, spectators, emptyMs, resumeMs } = complete
  if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= PLAYERS_PER_MATCH_MAX)) {
    refuse('capacity', `${capacity} players`, `Give a whole number from 1 to ${PLAYERS_PER_MATCH_MAX}.`)
  }
  if (!(Number.isInteger(spectators) && spectators >= 0 && spectators <= PLAYERS_PER_MATCH_MAX)) {
    refuse('spectators', `${spectators}`, `Give a whole number from 0 to ${PLAYERS_PER_MATCH_MAX}.`)
  }
  if (!(emptyMs >= 0)) refuse('emptyMs', `${emptyMs}`, 'Give milliseconds from 0 on, or Infinity.')
  if (!(resumeMs >= 0 && resumeMs < Infinity)) refuse('resumeMs', `${resumeMs}`, 'Give milliseconds from 0 on.')
  return complete
}
