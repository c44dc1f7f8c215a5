/**
 * One call serves many matches: rooms that players make, find, join and come back to.
 *
 * ```ts
 * const serving = await serveRooms({ duel: { game, capacity: 2 } }, { port: 4000, static: './public' })
 * ```
 */

import type { HostRecordOptions, Metadata, Recorder, Room, RoomFilter, RoomListing, RoomType } from '../core/index.ts'
import { checkNames, ROOM_TYPE_NAMES, ROOMS_NAMES } from './option-names.ts'
import { House, openHouse, type HouseOptions } from './rooms-house.ts'

export interface ServeRoomsOptions extends HouseOptions {
  /** Rooms at once. Default 256. */
  readonly maxRooms?: number
}

/** Serves rooms of these types until `close`. Throws ConfigError when a port is taken, or a transport that was asked for cannot be. */
export async function serveRooms(types: { readonly [name: string]: RoomType }, options: ServeRoomsOptions = {}): Promise<ServingRooms> {
  checkNames('serveRooms', options, ROOMS_NAMES)
  for (const [name, type] of Object.entries(types)) checkNames(name, type, ROOM_TYPE_NAMES)
  return await openHouse(options, (parts) => new ServingRooms(types, parts, options.maxRooms))
}

/** Rooms that are being served. */
export class ServingRooms extends House {
  /** Makes a room. Throws ConfigError when there is no such type, or no room for one more. */
  create(type: string, options: { readonly metadata?: Metadata; readonly isPrivate?: boolean } = {}): Room {
    return this.rooms.create(type, options)
  }

  /** What may be told to anybody who looks for a room; pages hear it at /tickwire/rooms. */
  list(filter: RoomFilter = {}): RoomListing[] {
    return this.rooms.list(filter)
  }

  room(id: string): Room | undefined {
    return this.rooms.room(id)
  }

  /** Records a room to a file, until `close` of what it gives, or the end of the process. Throws when the file cannot be made. */
  record(room: Room, path: string, options: HostRecordOptions = {}): { readonly recorder: Recorder; close(): void } {
    return this.recordRoom(room, path, options)
  }
}
