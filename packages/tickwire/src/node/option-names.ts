/**
 * Whether every option has a name that is read: one that is spelled otherwise would be passed over without a word, and its default be taken for
 * what was asked. A compiler says so too, where there is one and options are written down where they are used.
 */

import { ConfigError } from '../core/index.ts'
import type { RoomType } from '../core/game/rooms/room-type.ts'
import type { ServeRoomsOptions } from './rooms.ts'
import type { HouseOptions } from './rooms-house.ts'
import type { ServeOptions } from './serve.ts'

/** A list that the compiler holds complete. */
type Names<Options> = { readonly [name in keyof Required<Options>]: true }

const HOUSE: Names<HouseOptions> = {
  port: true, address: true, static: true, security: true, limits: true, origins: true, pathGraceMs: true, weather: true, keepRooms: true, ops: true,
  learn: true, signals: true, drainMs: true, log: true, tls: true, webtransport: true, webrtc: true, udp: true, maxSockets: true,
}
export const SERVE_NAMES: Names<ServeOptions> = {
  ...HOUSE, maxPlayers: true, maxSpectators: true, spectators: true, interest: true, bytesPerSecond: true, resumeMs: true, onMatch: true, onJoined: true, onLeft: true,
}
export const ROOMS_NAMES: Names<ServeRoomsOptions> = { ...HOUSE, maxRooms: true }
export const ROOM_TYPE_NAMES: Names<RoomType> = {
  game: true, capacity: true, spectators: true, watching: true, metadata: true, mayCreate: true, emptyMs: true, resumeMs: true, interest: true, bytesPerSecond: true,
  syncTest: true, onSyncFault: true, onFault: true, onAuth: true, onCreate: true, onJoin: true, onAway: true, onBack: true, onLeave: true, onDrain: true, onEnd: true,
}

/** Throws the ConfigError of the first name that is none. `path`: whose options they are. */
export function checkNames(path: string, options: object, names: Readonly<Record<string, true>>): void {
  const known = Object.keys(names)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue
    const meant = known.find((other) => other.toLowerCase() === name.toLowerCase())
    throw new ConfigError(`${path}.${name}`, 'no option', meant === undefined ? `There are ${known.join(', ')}.` : `Write ${meant}.`)
  }
}
