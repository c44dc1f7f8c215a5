/**
 * The room host of matches: what `serve`, `serveRooms` and `simulate` drive. A single match is a host with one room.
 *
 *   const rooms = createRoomHost({ duel: { game, capacity: 2 } }, { entropy })
 *   const { rooms, host } = createMatchHost(game, { entropy })                    one room; `host` is its match
 */

import { SPECTATORS_DEFAULT } from '../base/limits.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import { RoomHost } from '../rooms/room-host.ts'
import type { RoomHostOptions } from '../rooms/room-host-options.ts'
import { drawSeed } from '../rooms/room-lifecycle.ts'
import type { Shape } from '../schema/field.ts'
import type { Game, Peer } from './define-game.ts'
import { Match } from './match.ts'
import { checkMatchOptions } from './match-options.ts'
import type { MatchType, RoomType } from './room-type.ts'
import { connectionTimers } from './settings.ts'

/** Creates a host for rooms of these types. Throws ConfigError on invalid room types or options. */
export function createRoomHost(
  types: { readonly [name: string]: RoomType },
  options: RoomHostOptions<Match>,
): RoomHost<Match> {
  for (const type of Object.values(types)) checkMatchOptions(type)
  const games = Object.values(types).map(({ game }) => game)
  return new RoomHost<Match>(types, options, {
    endpoint: {
      tickRate: Math.max(...games.map(({ tickRate }) => tickRate)),
      timers: connectionTimers(games.map(({ net }) => net)),
      maxDatagramBytes: Math.max(...games.map(({ net }) => net.datagramBytesMax)),
    },
    build: (identity, type, wiring) => new Match(identity, type, wiring),
  })
}

/** Options of a single match, apart from its host. */
export interface SingleMatchOptions
  extends Pick<
    RoomType,
    'role' | 'interest' | 'bytesPerSecond' | 'syncTest' | 'onSyncFault' | 'heavy' | 'onWarning' | 'resumeMs' | 'admit'
  > {
  /** Maximum number of players. Default: 32. */
  readonly maxPlayers?: number
  /** Maximum number of spectators, in addition to players. Default: 8. */
  readonly maxSpectators?: number
  /** What spectators see, and with what delay. Default: public fields, without delay. */
  readonly spectators?: RoomType['watching']
  /** A player, a spectator or a bot has joined. */
  readonly onJoined?: (peer: Peer) => void
  /** A player, a spectator or a bot has left for good, with the reason. No seat is held for it. */
  readonly onLeft?: (peer: Peer, reason: CloseReason) => void
}

/** How the host of a single match is made. */
export interface MatchHostOptions extends SingleMatchOptions, Omit<RoomHostOptions<Match>, 'maxRooms'> {
  /** The seed of all random numbers in the match, 32 bits. Default: random. */
  readonly seed?: number
}

/** A host with one room, and the match in it. */
export interface MatchHost<I extends Shape = Shape> {
  /** Drive this one: `handleDatagram`, `tick`, `drain`. */
  readonly rooms: RoomHost<Match>
  /** The match. */
  readonly host: Match<I>
}

/** The name of the only room type of a single match. */
export const SINGLE_MATCH = 'match'

/** Creates a room host with one room, for a single match. */
export function createMatchHost<I extends Shape>(game: Game<I>, options: MatchHostOptions): MatchHost<I> {
  const { entropy, role, seed = drawSeed(entropy) } = options
  const types = { [SINGLE_MATCH]: singleMatchType(game, options) }
  const rooms = createRoomHost(types, { ...options, ...(role === 'local' && { maxConnections: 0 }) })
  return { rooms, host: rooms.create(SINGLE_MATCH, { seed }) as unknown as Match<I> }
}

/** The room type of a single match. It is never created by clients, and does not end when it is empty. */
export function singleMatchType<I extends Shape>(game: Game<I>, options: SingleMatchOptions): MatchType {
  const { maxPlayers, maxSpectators = SPECTATORS_DEFAULT, spectators, onJoined, onLeft, ...rest } = options
  const { role, interest, bytesPerSecond, syncTest, onSyncFault, heavy, onWarning, resumeMs, admit } = rest
  return {
    game: game as unknown as Game,
    mayCreate: false,
    emptyMs: Infinity,
    spectators: maxSpectators,
    ...(maxPlayers !== undefined && { capacity: maxPlayers }),
    ...(spectators && { watching: spectators }),
    ...(role && { role }),
    ...(interest && { interest }),
    ...(bytesPerSecond !== undefined && { bytesPerSecond }),
    ...(syncTest !== undefined && { syncTest }),
    ...(onSyncFault && { onSyncFault }),
    ...(heavy !== undefined && { heavy }),
    ...(onWarning && { onWarning }),
    ...(resumeMs !== undefined && { resumeMs }),
    ...(admit && { admit }),
    ...(onJoined && { onJoin: (_room, member) => onJoined(member), onLocalJoined: onJoined }),
    ...(onLeft && { onLeave: (_room, member, reason) => onLeft(member, reason), onLocalLeft: onLeft }),
  }
}
