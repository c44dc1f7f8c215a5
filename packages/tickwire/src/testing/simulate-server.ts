/**
 * The server process of a simulation: how each one begins, and what one leaves to the next.
 */

import type { Millis } from '../core/base/time.ts'
import { ConfigError } from '../core/base/assert.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import type { Game } from '../core/game/define-game.ts'
import type { Match } from '../core/game/match.ts'
import { createRoomHost, SINGLE_MATCH, singleMatchType, type MatchHostOptions } from '../core/game/match-host.ts'
import type { RoomType } from '../core/game/room-type.ts'
import type { StepWarning } from '../core/game/step-checks.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import { drawSeed } from '../core/rooms/room-lifecycle.ts'
import type { Shape } from '../core/schema/field.ts'
import { Dice } from './sim-entropy.ts'

/** A room type of a simulation: as for `serveRooms`. The game may be left out. */
export type SimRoomType = Omit<RoomType, 'game'> & Partial<Pick<RoomType, 'game'>>

/** What a server process is made from. */
export interface SimHouseOptions<I extends Shape> {
  readonly seed: number
  readonly security: EndpointSecurity
  /** Undefined: a single match. */
  readonly rooms: { readonly [name: string]: SimRoomType } | undefined
  readonly server: Partial<MatchHostOptions>
  /** Undefined: no checks. */
  readonly onWarning: ((warning: StepWarning) => void) | undefined
  readonly onMatch: ((match: Match<I>) => void) | undefined
}

/** What a process leaves to the next. */
export type KeptRooms = ReturnType<RoomHost<Match>['images']>

/** Each process draws from other numbers. */
const LIFE_SEED = 15_485_863
const RESET_SECRET_BYTES = 32

/** Creates the room host of each server process. */
export class SimHouse<I extends Shape> {
  readonly #options: SimHouseOptions<I>
  readonly #types: { readonly [name: string]: RoomType }
  readonly #isSingle: boolean
  /** The same in every process, as on a server with an identity: the next one can reset the connections of the last. */
  readonly #resetSecret = new Uint8Array(RESET_SECRET_BYTES)
  #lives = 0

  constructor(game: Game<I>, options: SimHouseOptions<I>) {
    const { rooms, server, seed } = options
    this.#options = options
    this.#isSingle = rooms === undefined
    new Dice(seed ^ 0x2e5e7).fill(this.#resetSecret)
    this.#types =
      rooms === undefined
        ? { [SINGLE_MATCH]: this.#watched(singleMatchType(game, server)) }
        : Object.fromEntries(
            Object.entries(rooms).map(([name, type]) => [
              name,
              this.#watched({ ...type, game: type.game ?? (game as unknown as Game) }),
            ]),
          )
  }

  /** Starts a process, with the rooms that the one before has kept. */
  begin(now: Millis, kept: KeptRooms | undefined): RoomHost<Match> {
    const { seed: simSeed, security, server } = this.#options
    const entropy = new Dice((simSeed ^ 0x5e7) + this.#lives++ * LIFE_SEED)
    const seed = server.seed ?? drawSeed(entropy)
    const host = createRoomHost(this.#types, {
      security: { resetSecret: this.#resetSecret, ...security },
      entropy,
      ...(server.role === 'local' && { maxConnections: 0 }),
      ...server,
      ...(kept && { ticketKey: kept.ticketKey }),
    })
    host.restore(now, kept?.rooms ?? [], ({ typeName }, reason) => {
      throw new ConfigError(
        'keepRooms',
        `a room of type "${typeName}" was not restored (${reason})`,
        'look at encode and decode of the `external` state of the game.',
      )
    })
    if (this.#isSingle && host.rooms.length === 0) host.create(SINGLE_MATCH, { seed })
    return host
  }

  #watched(given: RoomType): RoomType {
    const { onMatch, onWarning } = this.#options
    const type = onWarning === undefined ? given : { onWarning, ...given }
    if (onMatch === undefined) return type
    return {
      ...type,
      onCreate: (room) => {
        type.onCreate?.(room)
        onMatch(room as unknown as Match<I>)
      },
    }
  }
}
