/**
 * A room type, as the developer defines it: the game, the capacity, the options of its matches, and the callbacks for
 * joining and leaving.
 */

import type { CloseReason } from '../connection/close-reason.ts'
import type { Asking, Member, RoomRules } from '../rooms/room-rules.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { Game, Peer } from './define-game.ts'
import type { Match } from './match.ts'
import type { MatchOptions } from './match-options.ts'

/** The input of a game. */
export type InputOf<G> = G extends { readonly input: infer I extends Shape } ? I : Shape

/** The join data of a game. */
export type DataOf<G> = G extends Game<infer _, infer J, infer _> ? ViewOf<J> : unknown

/** The room options of a game. */
export type OptionsOf<G> = G extends Game<infer _, infer _, infer O> ? ViewOf<O> : object

/** A room of a game, as hooks get it. */
export type RoomOf<G> = Match<InputOf<G>> & {
  /** What the client that created the room chose, by the schema `roomOptions` of the game. */
  readonly options: OptionsOf<G>
}

/** A kind of room: the game, the limits, the options of its matches, and the callbacks. */
export interface RoomType<G = Game> extends Omit<RoomRules, HookName>, MatchOptions {
  /** The game that is played in its rooms. */
  readonly game: G
  /**
   * Refuses a client that would find a seat, with a reason. Undefined admits it. Called before `onAuth`, and not for a
   * client that resumes its seat. It may not be async.
   */
  admit?(asking: Asking<DataOf<G>, OptionsOf<G>>): ReturnType<NonNullable<RoomRules['admit']>>
  /**
   * Authenticates a client. `false` refuses it; any other value becomes `member.user`. The result may be a promise that
   * takes a few seconds. Not called again when a client resumes its seat. Default: every client is admitted, and
   * `member.user` is the user data of its token.
   */
  onAuth?(asking: Asking<DataOf<G>, OptionsOf<G>>): unknown
  /**
   * The room was created, or restored from the previous process (`room.isRestored`). Register message handlers and add
   * bots here.
   */
  onCreate?(room: RoomOf<G>): void
  /** A client has joined. */
  onJoin?(room: RoomOf<G>, member: Member<DataOf<G>>): void
  /** A client has lost its connection; its seat is held. */
  onAway?(room: RoomOf<G>, member: Member<DataOf<G>>): void
  /** The client has resumed its seat. */
  onBack?(room: RoomOf<G>, member: Member<DataOf<G>>): void
  /** A member has left, with the reason. */
  onLeave?(room: RoomOf<G>, member: Member<DataOf<G>>, reason: CloseReason): void
  /** The process ends in this many milliseconds: inform the players. */
  onDrain?(room: RoomOf<G>, ms: number): void
  /** The room has ended. */
  onEnd?(room: RoomOf<G>): void
}

type HookName =
  | 'game' | 'admit' | 'onAuth' | 'onCreate' | 'onJoin' | 'onAway' | 'onBack' | 'onLeave' | 'onDrain' | 'onEnd'

/** A room type as a match sees it. A single match reports its bots too: `match-host.ts`. */
export interface MatchType extends RoomType {
  /** A bot, or the player on this machine, has joined. */
  onLocalJoined?(peer: Peer): void
  /** A bot, or the player on this machine, has left. */
  onLocalLeft?(peer: Peer, reason: CloseReason): void
}
