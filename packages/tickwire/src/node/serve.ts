/**
 * One call serves a game: the page over HTTP, and the match over everything players may have.
 *
 * ```ts
 * const host = await serve(game, { port: 4000, static: './public' })
 * ```
 *
 * WebSocket is always there, on the port of the page. WebTransport and WebRTC are where a library for them is installed,
 * native UDP unless it is turned off. It is one match: whoever comes by any of them plays with all others. Many matches: `rooms.ts`.
 */

import { SPECTATORS_DEFAULT } from '../core/base/limits.ts'
import type { CloseReason, Game, HostRecordOptions, Match, Peer, Recorder, Room, Shape, SpectatorOptions } from '../core/index.ts'
import type { InterestOptions } from '../core/replication/interest/interest.ts'
import { checkNames, SERVE_NAMES } from './option-names.ts'
import { House, openHouse, type HouseOptions, type HouseParts } from './rooms-house.ts'

export interface ServeOptions<I extends Shape = Shape> extends HouseOptions {
  readonly maxPlayers?: number
  /** How many may look on, and what they may see. */
  readonly maxSpectators?: number
  readonly spectators?: SpectatorOptions
  /** Who is with whom, from where each looks, and how objects are found by place. */
  readonly interest?: InterestOptions
  /** Bytes of snapshots a second that one client is told at most: for all, or by who he is. Default: only his line decides. */
  readonly bytesPerSecond?: number | ((peer: Peer) => number)
  /** For so long the seat of a player whose line is gone is kept. Default 5 s. */
  readonly resumeMs?: number
  /** A match begins: the first, or another after one that broke. The place to listen to its messages. */
  readonly onMatch?: (host: ServedMatch<I>) => void
  readonly onJoined?: (peer: Peer) => void
  readonly onLeft?: (peer: Peer, reason: CloseReason) => void
}

/** The one type of room there is. */
const MATCH = 'match'
const RESTART_MS = 1000

/** Serves a game until `close`. Throws ConfigError when a port is taken, or a transport that was asked for cannot be. */
export async function serve<I extends Shape>(game: Game<I>, options: ServeOptions<I> = {}): Promise<Serving<I>> {
  checkNames('serve', options, SERVE_NAMES)
  return await openHouse(options, (parts) => new Serving(game, options, parts))
}

/** The match of a game that is served, and the seats in it. */
export type ServedMatch<I extends Shape> = Match<I> & Pick<Room, 'id' | 'endpoint' | 'seats' | 'members' | 'isLocked'>

/** A game that is being served. */
export class Serving<I extends Shape = Shape> extends House {
  #match: Room
  #restart: NodeJS.Timeout | undefined

  constructor(game: Game<I>, options: ServeOptions<I>, parts: HouseParts) {
    const { onMatch, onJoined, onLeft, maxPlayers, maxSpectators = SPECTATORS_DEFAULT, spectators, interest, bytesPerSecond, resumeMs } = options
    super({
      [MATCH]: {
        game, mayCreate: false, emptyMs: Infinity,
        ...(maxPlayers !== undefined && { capacity: maxPlayers }),
        spectators: maxSpectators,
        ...(spectators && { watching: spectators }),
        ...(interest && { interest }),
        ...(bytesPerSecond !== undefined && { bytesPerSecond }),
        ...(resumeMs !== undefined && { resumeMs }),
        onCreate: (room) => onMatch?.(ofGame(room)),
        onJoin: (_room, member) => onJoined?.(member),
        onLeave: (_room, member, reason) => onLeft?.(member, reason),
      },
    }, parts)
    this.#match = this.restored[0] ?? this.rooms.create(MATCH)
  }

  /** The match. After one that broke, the next. */
  get host(): ServedMatch<I> {
    return ofGame(this.#match)
  }

  /** Records the match to a file, until `close` of what it gives, or the end of the match. Throws when the file cannot be made. */
  record(path: string, options: HostRecordOptions = {}): { readonly recorder: Recorder; close(): void } {
    return this.recordRoom(this.#match, path, options)
  }

  override async close(): Promise<void> {
    clearTimeout(this.#restart)
    await super.close()
  }

  /** The next match begins a moment later: one that breaks in its first tick must not be tried a thousand times a second. */
  protected override handleFault(room: Room, error: unknown): void {
    super.handleFault(room, error)
    clearTimeout(this.#restart)
    this.#restart = setTimeout(() => {
      if (!this.rooms.isDraining) this.#match = this.rooms.create(MATCH)
    }, RESTART_MS)
  }
}

/** Rooms of a host are of any game; here there is only one. */
function ofGame<I extends Shape>(room: Room): ServedMatch<I> {
  return room as unknown as ServedMatch<I>
}
