/**
 * Checks that every option name is known. A misspelled option would be ignored silently, and its default used instead.
 * The compiler reports this too, but only for TypeScript, and for options written as a literal at the call.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { HostOptions, MeshHostOptions } from './host.ts'
import type { RoomType } from '../core/game/room-type.ts'
import type { ServeRoomsOptions } from './rooms.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import type { ServeOptions } from './serve.ts'

/** A list of names that the compiler keeps complete. */
type Names<Options> = { readonly [name in keyof Required<Options>]: true }

const ROOM_SERVER: Names<RoomServerOptions> = {
  port: true,
  address: true,
  static: true,
  server: true,
  handler: true,
  security: true,
  limits: true,
  origins: true,
  pathGraceMs: true,
  weather: true,
  keepRooms: true,
  development: true,
  ops: true,
  publish: true,
  workers: true,
  learn: true,
  signals: true,
  drainMs: true,
  log: true,
  tracer: true,
  onError: true,
  tls: true,
  webtransport: true,
  webrtc: true,
  udp: true,
  maxSockets: true,
  trustedProxies: true,
}
export const SERVE_NAMES: Names<ServeOptions> = {
  ...ROOM_SERVER,
  maxPlayers: true,
  maxSpectators: true,
  spectators: true,
  interest: true,
  bytesPerSecond: true,
  resumeMs: true,
  syncTest: true,
  onSyncFault: true,
  onWarning: true,
  admit: true,
  onMatch: true,
  onJoined: true,
  onLeft: true,
}
export const HOST_NAMES: Names<HostOptions> = {
  ...without(SERVE_NAMES, 'udp'),
  rendezvous: true,
  path: true,
  strong: true,
  udpPort: true,
}
export const MESH_HOST_NAMES: Names<MeshHostOptions> = { rendezvous: true, path: true, strong: true, mesh: true }
export const ROOMS_NAMES: Names<ServeRoomsOptions> = { ...ROOM_SERVER, maxRooms: true, fleet: true }
export const ROOM_TYPE_NAMES: Names<RoomType> = {
  game: true,
  capacity: true,
  spectators: true,
  watching: true,
  metadata: true,
  mayCreate: true,
  emptyMs: true,
  resumeMs: true,
  interest: true,
  bytesPerSecond: true,
  syncTest: true,
  onSyncFault: true,
  heavy: true,
  onWarning: true,
  role: true,
  admit: true,
  onAuth: true,
  onCreate: true,
  onJoin: true,
  onAway: true,
  onBack: true,
  onLeave: true,
  onDrain: true,
  onEnd: true,
}

function without<T extends object, K extends keyof T>(names: T, name: K): Omit<T, K> {
  const { [name]: _, ...rest } = names
  return rest
}

/** Throws ConfigError for the first unknown name. `path`: what the options belong to. */
export function checkNames(path: string, options: object, names: Readonly<Record<string, true>>): void {
  const known = Object.keys(names)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue
    const meant = known.find((other) => other.toLowerCase() === name.toLowerCase())
    throw new ConfigError(
      path,
      `unknown option "${name}"`,
      meant === undefined ? `use one of ${known.join(', ')}.` : `Did you mean ${meant}?`,
    )
  }
}
