/**
 * Serves many matches with one call: rooms that players create, find, join and reconnect to.
 *
 * ```ts
 * const serving = await serveRooms({ duel: { game, capacity: 2 } }, { port: 4000, static: './public' })
 * ```
 */

import type { HostRecordOptions } from '../core/game/host-watch.ts'
import type { Match } from '../core/game/match.ts'
import type { RoomType } from '../core/game/room-type.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import type { RoomFilter } from '../core/rooms/room-directory.ts'
import type { RoomImage } from '../core/rooms/room-image.ts'
import type { NewRoomOptions } from '../core/rooms/room-lifecycle.ts'
import type { Recorder } from '../core/replay/recorder.ts'
import { monotonicNow } from './clock.ts'
import { checkNames, ROOM_TYPE_NAMES, ROOMS_NAMES } from './option-names.ts'
import { openInWorkers } from './open-in-workers.ts'
import { openRoomServer } from './open-room-server.ts'
import { RoomServer, type RoomServerParts } from './room-server.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import type { ServingWorkers } from './serving-workers.ts'

/** Options of `serveRooms`, apart from the room types. */
export interface ServeRoomsOptions extends RoomServerOptions {
  /** Most rooms at once; with `workers`, in each. Default 256. */
  readonly maxRooms?: number
}

/** Serves rooms of these types in several processes until `close`. It returns in the first process only. */
export async function serveRooms<G extends { readonly [name: string]: unknown }>(
  types: { readonly [name in keyof G]: RoomType<G[name]> },
  options: ServeRoomsOptions & Required<Pick<ServeRoomsOptions, 'workers'>>,
): Promise<ServingWorkers>
/** Serves rooms of these types until `close`. Throws ConfigError if a port is taken, or a requested transport fails. */
export async function serveRooms<G extends { readonly [name: string]: unknown }>(
  types: { readonly [name in keyof G]: RoomType<G[name]> },
  options?: Omit<ServeRoomsOptions, 'workers'>,
): Promise<ServingRooms>
export async function serveRooms<G extends { readonly [name: string]: unknown }>(
  types: { readonly [name in keyof G]: RoomType<G[name]> },
  options: ServeRoomsOptions = {},
): Promise<ServingRooms | ServingWorkers> {
  checkNames('serveRooms', options, ROOMS_NAMES)
  const untyped = types as unknown as { readonly [name: string]: RoomType }
  for (const [name, type] of Object.entries(untyped)) checkNames(name, type, ROOM_TYPE_NAMES)
  const build = (parts: RoomServerParts): ServingRooms => new ServingRooms(untyped, parts, options.maxRooms)
  return await openInWorkers(untyped, options, build) ?? await openRoomServer(options, build)
}

/** Rooms that are being served. */
export class ServingRooms extends RoomServer {
  /** Makes a room. Throws ConfigError when there is no such type, or when there are too many rooms. */
  create(type: string, options: NewRoomOptions = {}): Match {
    return this.rooms.create(type, options)
  }

  /** The public list of rooms; pages fetch it at /tickwire/rooms. */
  list(filter: RoomFilter = {}): RoomListing[] {
    return this.rooms.list(filter)
  }

  /** The room with this id. Undefined if there is none. */
  room(id: string): Match | undefined {
    return this.rooms.room(id)
  }

  /** The state of all rooms, for a database. Take it between two ticks: not in `step`. */
  images(): readonly RoomImage[] {
    return this.rooms.images().rooms
  }

  /**
   * Opens rooms with their state. A player of before keeps its objects if it resumes its seat within `resumeMs`. An
   * image of another build of the game is refused: `onRefused` gets it, with the reason. Returns the rooms.
   */
  restore(images: readonly RoomImage[], onRefused?: (image: RoomImage, reason: string) => void): readonly Match[] {
    return this.rooms.restore(monotonicNow(), images, onRefused)
  }

  /** Records a room to a file, until `close` of the result, or the end. Throws when the file cannot be created. */
  record(room: Match, path: string, options: HostRecordOptions = {}): { readonly recorder: Recorder; close(): void } {
    return this.recordRoom(room, path, options)
  }
}
