/**
 * Which game server is asked for seats, or for a place for a room that moves. Pure functions of the list.
 *
 * The newest version comes first, so that an update takes the players over; clients of another build find servers of
 * that build, while they run. Of those, the server with the fullest room that fits; if no room fits, the one with the
 * most free seats.
 */

import type { FleetRoom, GameServer } from './game-servers.ts'

/** What seats must be like. */
export interface SeatWish {
  /** The build of the clients: 16 hexadecimal digits. */
  readonly fingerprint: string
  readonly type?: string | undefined
  readonly filter?: { readonly [key: string]: string } | undefined
  readonly count: number
  readonly isSpectator: boolean
  /** The clients create a room. */
  readonly isNew: boolean
  readonly region?: string | undefined
}

/** The servers to ask, best first; or why there are none. */
export function chooseServers(
  all: readonly GameServer[], wish: SeatWish,
): readonly GameServer[] | 'schema' | 'no-room' {
  const open = all.filter(({ isDraining }) => !isDraining)
  const named = open.filter(({ types }) => types.some(({ name }) => wish.type === undefined || name === wish.type))
  const same = named.filter((server) => typesFor(server, wish).length > 0)
  if (same.length === 0) return named.length > 0 ? 'schema' : 'no-room'
  return same
    .filter(({ players, seats }) => wish.isSpectator || players + wish.count <= seats)
    .map((server) => ({ server, free: wish.isNew ? Infinity : fullestFit(server, wish) }))
    .filter(({ server, free }) => free < Infinity || server.rooms.length < server.maxRooms)
    .toSorted((one, other) =>
      Number(other.server.region === wish.region) - Number(one.server.region === wish.region)
      || compareVersions(other.server.version, one.server.version)
      || compareNumbers(one.free, other.free)
      || loadOf(one.server) - loadOf(other.server))
    .map(({ server }) => server)
}

/** Servers that a room may move to, best first. */
export function chooseTargets(
  all: readonly GameServer[], room: { from: string; type: string; fingerprint: string; players: number },
): readonly GameServer[] {
  return all
    .filter(({ id, isDraining, types, players, seats, rooms, maxRooms }) =>
      id !== room.from && !isDraining && players + room.players <= seats && rooms.length < maxRooms
      && types.some(({ name, fingerprint }) => name === room.type && fingerprint === room.fingerprint))
    .toSorted((one, other) => compareVersions(other.version, one.version) || loadOf(one) - loadOf(other))
}

/** Compares `1.10.2` with `1.9`: by numbers, part by part; texts that are no numbers by their letters. */
export function compareVersions(one: string, other: string): number {
  const [ones, others] = [one, other].map((text) => text.split(/[.+-]/)) as [string[], string[]]
  for (let at = 0; at < Math.max(ones.length, others.length); at++) {
    const [a = '0', b = '0'] = [ones[at], others[at]]
    const difference = Number(a) - Number(b)
    if (difference !== 0 && !Number.isNaN(difference)) return difference
    if (Number.isNaN(difference) && a !== b) return a < b ? -1 : 1
  }
  return 0
}

function typesFor({ types }: GameServer, { type, fingerprint }: SeatWish): readonly string[] {
  return types
    .filter((each) => each.fingerprint === fingerprint && (type === undefined || each.name === type))
    .map(({ name }) => name)
}

/** Free seats of the fullest room that fits. Infinity: none does. */
function fullestFit(server: GameServer, wish: SeatWish): number {
  const types = typesFor(server, wish)
  let least = Infinity
  for (const room of server.rooms) {
    if (types.includes(room.type) && isOpenTo(room, wish)) least = Math.min(least, room.capacity - room.players)
  }
  return least
}

function isOpenTo(room: FleetRoom, { filter = {}, count, isSpectator }: SeatWish): boolean {
  if (room.isLocked || room.hasPassword || room.code !== undefined) return false
  if (!isSpectator && room.capacity - room.players < count) return false
  return Object.entries(filter).every(([key, value]) => room.metadata[key] === value)
}

function loadOf({ players, seats, rooms, maxRooms }: GameServer): number {
  return Math.max(players / Math.max(1, seats), rooms.length / Math.max(1, maxRooms))
}

/** Infinity is equal to itself. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one - other
}
