/**
 * Which room a client gets: the one that it names, the fullest one that fits, or a new one. It serves clients that ask
 * for themselves, and fleets that reserve seats for clients.
 *
 * It opens no room and takes no seat: a new room is returned as a plan.
 */

import { isEqualConstantTime } from '../crypto/constant-time.ts'
import type { ConnectRequest, Refusal } from '../endpoint/endpoint-config.ts'
import { initialOptions, type HostedRoom } from './hosted-room.ts'
import type { Invitations, RoomPlan } from './invitations.ts'
import type { Metadata, SentRequest } from './join-body.ts'
import type { SeatOrder } from './reservations.ts'
import { isMatch, type RoomDirectory } from './room-directory.ts'
import type { RoomOrder } from './room-lifecycle.ts'

/** What the search needs from the room host. */
export interface RoomSearchOptions<R extends HostedRoom> {
  readonly types: ReadonlyMap<string, R['type']>
  readonly directory: RoomDirectory<R>
  /** Reserves the identity of a new room, or returns why there can be none. */
  planRoom(type: string, order: RoomOrder): RoomPlan<R> | Refusal
}

export class RoomSearch<R extends HostedRoom = HostedRoom> {
  readonly #options: RoomSearchOptions<R>
  readonly #invitations: Invitations<R>

  constructor(options: RoomSearchOptions<R>, invitations: Invitations<R>) {
    this.#options = options
    this.#invitations = invitations
  }

  /** The room for a client. `data`: its join data is invalid. */
  forClient(
    join: SentRequest,
    { fingerprint, data }: Pick<ConnectRequest, 'fingerprint' | 'data'>,
    isSpectator: boolean,
  ): R | RoomPlan<R> | Refusal | 'data' {
    const { directory, planRoom } = this.#options
    if ('room' in join || 'code' in join) {
      const named = 'room' in join ? directory.byId(join.room) : directory.byCode(join.code)
      return this.#ifOpen(named, fingerprint) ?? 'no-room'
    }
    const found = this.#typeOf('create' in join ? join.create : 'quick' in join ? join.quick : undefined, fingerprint)
    if (found === undefined) return 'no-room'
    const [name, type] = found
    if ('create' in join) return type.mayCreate ? this.#planAsked(name, type, join, data) : 'refused'
    const filter = 'filter' in join ? (join.filter ?? {}) : {}
    // Clients that join together share a room. When there are more than a room has seats, they are spread over several.
    const isRoomy = (site: R | RoomPlan<R>, players: number): boolean =>
      players + this.#invitations.newcomersTo(site) < type.capacity
    const isFit = (room: R): boolean => isSpectator || isRoomy(room, room.seats.players)
    const seat = directory.findSeat(name, filter, isSpectator, isFit)
    if (seat !== undefined) return seat
    const mayCreate = type.mayCreate && !isSpectator
    const isOpenTo = ({ code, passwordHash, metadata }: RoomPlan<R>['identity']): boolean =>
      code === '' && passwordHash === undefined && isMatch(metadata, filter)
    const planned = mayCreate ? this.#invitations.findPlan((plan) =>
      plan.type === type && isOpenTo(plan.identity) && isRoomy(plan, 0)) : undefined
    if (planned !== undefined) return planned
    const plan = mayCreate ? planRoom(name, plainOrder(type, filter)) : 'full'
    // Invitations do not block a seat: when no other room can be made, a seat that is still free is worth a try.
    return plan === 'full' ? directory.findSeat(name, filter, isSpectator) ?? plan : plan
  }

  /** The room for reserved seats. Undefined: the clients create it themselves. */
  forOrder(order: SeatOrder): R | RoomPlan<R> | undefined | Refusal {
    const { directory, planRoom } = this.#options
    const { fingerprint, filter = {}, isSpectator = false, isNew = false, isFresh = false, tokens } = order
    if (order.room !== undefined || order.code !== undefined) {
      const named = order.room !== undefined ? directory.byId(order.room) : directory.byCode(order.code ?? '')
      const room = this.#ifOpen(named, fingerprint)
      return room === undefined ? 'no-room' : room.isFrozen ? 'moved' : room.isLocked ? 'locked' : room
    }
    const known = this.#typeOf(order.type, fingerprint)
    if (known === undefined) return 'no-room'
    const [name, type] = known
    if (isNew) return type.mayCreate ? undefined : 'refused'
    const isFit = ({ seats }: R): boolean => isSpectator || seats.free >= tokens.length
    const found = isFresh ? undefined : directory.findSeat(name, filter, isSpectator, isFit)
    if (found !== undefined) return found
    return isSpectator || !type.mayCreate ? 'full' : planRoom(name, plainOrder(type, filter))
  }

  /** The type with this name, by default the first one, if it is of the build of the client. */
  #typeOf(name: string | undefined, fingerprint: Uint8Array): readonly [string, R['type']] | undefined {
    for (const each of this.#options.types)
      if ((name === undefined || each[0] === name) && isBuild(each[1], fingerprint)) return each
    return undefined
  }

  /** The room, if it goes on and is of the build of the client. */
  #ifOpen(room: R | undefined, fingerprint: Uint8Array): R | undefined {
    return room !== undefined && room.ending === undefined && isBuild(room.type, fingerprint) ? room : undefined
  }

  /** Plans the room that a client asks to create. Its options are the first bytes of the join data. */
  #planAsked(
    name: string,
    type: R['type'],
    { metadata, isPrivate = false, password, optionsSize = 0 }: Extract<SentRequest, { readonly create: string }>,
    data: Uint8Array,
  ): RoomPlan<R> | Refusal | 'data' {
    const options = optionsSize === 0 ? initialOptions(type)
      : optionsSize > data.length ? undefined : type.game.optionsCodec?.decode(data.subarray(0, optionsSize))
    if (options === undefined) return 'data'
    return this.#options.planRoom(name, {
      metadata: { ...type.metadata, ...metadata },
      isPrivate,
      options,
      ...(password !== undefined && { password }),
    })
  }
}

/** Whether rooms of this type are for clients of this build. */
export function isBuild({ game }: HostedRoom['type'], fingerprint: Uint8Array): boolean {
  return isEqualConstantTime(game.fingerprint, fingerprint)
}

function plainOrder(type: HostedRoom['type'], filter: Metadata): RoomOrder {
  return { metadata: { ...type.metadata, ...filter }, isPrivate: false, options: initialOptions(type) }
}
