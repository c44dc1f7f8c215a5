/**
 * Serves a game with one call: the page over HTTP, and the match over every transport that players may have.
 *
 * ```ts
 * const host = await serve(game, { port: 4000, static: './public' })
 * ```
 *
 * WebSocket is always served, on the port of the page. WebTransport and WebRTC are served if a library for them is
 * installed, native UDP unless it is turned off. All transports lead to the same match. For many matches, see
 * `rooms.ts`.
 */

import type { Game } from '../core/game/define-game.ts'
import type { HostRecordOptions } from '../core/game/host-watch.ts'
import type { Match } from '../core/game/match.ts'
import { SINGLE_MATCH, singleMatchType, type SingleMatchOptions } from '../core/game/match-host.ts'
import type { Recorder } from '../core/replay/recorder.ts'
import type { Shape } from '../core/schema/field.ts'
import type { MatchInterest } from '../core/game/match-interest.ts'
import { checkNames, SERVE_NAMES } from './option-names.ts'
import { openInWorkers } from './open-in-workers.ts'
import { openRoomServer } from './open-room-server.ts'
import { RoomServer, type RoomServerParts } from './room-server.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import type { ServingWorkers } from './serving-workers.ts'

/** Options of `serve`. */
export interface ServeOptions<I extends Shape = Shape>
  extends RoomServerOptions, Omit<SingleMatchOptions, 'role' | 'interest' | 'heavy'> {
  /**
   * Teams, viewpoints, and how objects are found by position. Its functions receive the match. Default: no teams, and
   * every positioned object of a player is a viewpoint.
   */
  readonly interest?: MatchInterest<Match<I>>
  /** A match begins: the first, or the next after a fault. Register its message handlers here. */
  readonly onMatch?: (host: Match<I>) => void
}

const RESTART_MS = 1000

/** Serves a game in several processes, with a match in each, until `close`. It returns in the first process only. */
export async function serve<I extends Shape>(
  game: Game<I>, options: ServeOptions<I> & Required<Pick<ServeOptions<I>, 'workers'>>,
): Promise<ServingWorkers>
/** Serves a game until `close`. Throws ConfigError when a port is taken, or a requested transport fails. */
export async function serve<I extends Shape>(
  game: Game<I>, options?: Omit<ServeOptions<I>, 'workers'>,
): Promise<Serving<I>>
export async function serve<I extends Shape>(
  game: Game<I>, options: ServeOptions<I> = {},
): Promise<Serving<I> | ServingWorkers> {
  checkNames('serve', options, SERVE_NAMES)
  const build = (parts: RoomServerParts): Serving<I> => new Serving(game, options, parts)
  const { maxPlayers: capacity } = options
  const type = { game: game as unknown as Game, ...(capacity !== undefined && { capacity }) }
  return await openInWorkers({ [SINGLE_MATCH]: type }, options, build)
    ?? await openRoomServer(options, build)
}

/** A game that is being served. */
export class Serving<I extends Shape = Shape> extends RoomServer {
  #match: Match
  #restart: NodeJS.Timeout | undefined

  constructor(game: Game<I>, options: ServeOptions<I>, parts: RoomServerParts) {
    const { onMatch, interest, ...rest } = options
    const type = singleMatchType(game, { ...rest, ...(interest && { interest: interest as MatchInterest<unknown> }) })
    super({ [SINGLE_MATCH]: { ...type, onCreate: (room) => onMatch?.(ofGame(room)) } }, parts)
    this.#match = this.restored[0] ?? this.rooms.create(SINGLE_MATCH)
  }

  /** The current match. After a fault, the next one. */
  get host(): Match<I> {
    return ofGame(this.#match)
  }

  /** Records the match to a file, until `close` of the result, or its end. Throws when the file cannot be created. */
  record(path: string, options: HostRecordOptions = {}): { readonly recorder: Recorder; close(): void } {
    return this.recordRoom(this.#match, path, options)
  }

  override async close(): Promise<void> {
    clearTimeout(this.#restart)
    await super.close()
  }

  /** Restarts after a delay: a match that fails in its first tick must not restart a thousand times a second. */
  protected override handleRoomFault(): void {
    clearTimeout(this.#restart)
    this.#restart = setTimeout(() => {
      if (!this.rooms.isDraining) this.#match = this.rooms.create(SINGLE_MATCH)
    }, RESTART_MS)
  }
}

/** A host has matches of any game; this one has matches of one game. */
function ofGame<I extends Shape>(room: Match): Match<I> {
  return room as unknown as Match<I>
}
