/**
 * Serves many matches with one call: rooms that players create, find, join and reconnect to.
 *
 * ```ts
 * const serving = await serveRooms({ duel: { game, capacity: 2 } }, { port: 4000, static: './public' })
 * ```
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ConfigError } from '../core/base/assert.ts'
import { ROOMS_DEFAULT } from '../core/base/limits.ts'
import type { HostRecordOptions } from '../core/game/host-watch.ts'
import type { Match } from '../core/game/match.ts'
import type { RoomType } from '../core/game/room-type.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import type { RoomFilter } from '../core/rooms/room-directory.ts'
import type { RoomImage } from '../core/rooms/room-image.ts'
import type { NewRoomOptions } from '../core/rooms/room-lifecycle.ts'
import type { Recorder } from '../core/replay/recorder.ts'
import { monotonicNow } from './clock.ts'
import { FleetMember } from './fleet-member.ts'
import { FleetLink, type FleetOptions } from './fleet-link.ts'
import type { MatchResult, ReportAnswer } from './fleet-results.ts'
import { FleetTokens } from './fleet-tokens.ts'
import { checkNames, ROOM_TYPE_NAMES, ROOMS_NAMES } from './option-names.ts'
import { openInWorkers } from './open-in-workers.ts'
import { openRoomServer } from './open-room-server.ts'
import { RoomServer, type RoomServerParts } from './room-server.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { endAsBySignal } from './rooms-signals.ts'
import { FLEET_PATH } from './serve-routes.ts'
import type { ServingWorkers } from './serving-workers.ts'

/** Options of `serveRooms`, apart from the room types. */
export interface ServeRoomsOptions extends RoomServerOptions {
  /** Most rooms at once; with `workers`, in each. Default 256. */
  readonly maxRooms?: number
  /**
   * The fleet that this process belongs to, or its address: players come from there with reserved seats, and rooms move
   * to other processes when this one is drained. Default: none.
   */
  readonly fleet?: string | FleetOptions
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
  const { fleet } = options
  const build = (parts: RoomServerParts): ServingRooms => new ServingRooms(untyped, parts, options.maxRooms)
  if (fleet === undefined) return await openInWorkers(untyped, options, build) ?? await openRoomServer(options, build)
  for (const name of ['workers', 'keepRooms'] as const) {
    if (options[name] === undefined) continue
    throw new ConfigError(name, 'given together with `fleet`', 'leave it out: start a process for each core.')
  }
  const link = new FleetLink(fleet)
  const tokens = new FleetTokens(options.security?.tokens, await link.issuer())
  const serving = await openRoomServer(tokens.in(options), build)
  await serving.joinFleet(link, tokens, options.maxRooms)
  return serving
}

/** Rooms that are being served. */
export class ServingRooms extends RoomServer {
  #member: FleetMember | undefined

  /** Whether the fleet lists this process. False without a fleet. */
  get isListed(): boolean {
    return this.#member?.isListed ?? false
  }

  /**
   * Stores the result of a match in the fleet: JSON of at most 32 KiB. It is sent until the fleet has it, and resolves
   * with `stored` then; with `refused` or `dropped` if it never will be. Throws ConfigError without a fleet.
   */
  async report(room: Pick<Match, 'id' | 'typeName'>, result: MatchResult): Promise<ReportAnswer> {
    if (this.#member === undefined)
      throw new ConfigError('report', 'there is no fleet to report to', 'pass { fleet } to serveRooms.')
    return await this.#member.report(room, result)
  }

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

  /** Hands rooms to other processes of the fleet, then does the rest of the time what every room server does. */
  override async drain(ms: number = this.drainMs): Promise<void> {
    const member = this.#member
    const until = monotonicNow() + ms
    await member?.leave(ms)
    await super.drain(Math.max(0, until - monotonicNow()))
  }

  override async close(): Promise<void> {
    await this.#member?.close()
    await super.close()
  }

  /** Becomes a member of a fleet. */
  async joinFleet(link: FleetLink, tokens: FleetTokens, maxRooms: number = ROOMS_DEFAULT): Promise<void> {
    const onIssuer = (issuer: Uint8Array): void => tokens.replace(issuer)
    this.#member = new FleetMember(link, { ...this.fleetHome, maxRooms, onIssuer, leave: () => endAsBySignal(this) })
    await this.#member.start()
  }

  override handleOwn(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#member === undefined || !(request.url ?? '').startsWith(FLEET_PATH)) return false
    void this.#member.handle(request, response)
    return true
  }
}
