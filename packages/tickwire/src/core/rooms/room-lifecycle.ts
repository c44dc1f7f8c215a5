/**
 * Creates, restores and ends the rooms of a host.
 *
 *   plan ──▶ open ──▶ begin (onCreate) ──▶ end (onEnd)
 *   restore ───────────▲
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { ROOMS_DEFAULT } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { CodeFault, UserCode } from '../base/user-code.ts'
import type { LeaveCode } from '../connection/close-reason.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import { FragmentPool } from '../delivery/fragment-pool.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { Refusal } from '../endpoint/endpoint-config.ts'
import { initialOptions, type HostedRoom, type RoomIdentity, type RoomWiring } from './hosted-room.ts'
import type { RoomPlan } from './invitations.ts'
import { checkPassword, type Metadata } from './join-body.ts'
import type { RoomDirectory } from './room-directory.ts'
import type { RoomHostOptions, RoomHostParts, SeatClaim } from './room-host-options.ts'
import type { RoomImage } from './room-image.ts'
import type { PasswordHasher } from './room-password.ts'
import type { RoomRules } from './room-rules.ts'

/** Counts of rooms, by outcome. */
export interface RoomCounts {
  /** Rooms that were created. */
  created: number
  /** Rooms that have ended. */
  ended: number
  /** Rooms that have moved to another process. */
  moved: number
  /** Rooms that ended because code of the game threw. */
  faults: number
}

/** Options of a new room. */
export interface NewRoomOptions {
  /** The metadata of the room. Default: that of the room type. */
  readonly metadata?: Metadata
  /** A private room is in no list; clients join it with its code. Default: false. */
  readonly isPrivate?: boolean
  /** The seed of all random numbers in the match, 32 bits. Default: random. */
  readonly seed?: number
  /** Its options, by the schema `roomOptions` of the game. Default: the initial values. */
  readonly options?: { readonly [field: string]: unknown }
  /** Clients need this password to join, 32 bytes at most. Default: none. */
  readonly password?: string
}

/** What a planned room is opened with. */
export interface RoomOrder extends Pick<NewRoomOptions, 'seed' | 'password'> {
  readonly metadata: Metadata
  readonly isPrivate: boolean
  readonly options: object
}

/** What the lifecycle shares with its host. */
interface LifecycleParts<R extends HostedRoom> {
  readonly types: ReadonlyMap<string, R['type']>
  readonly directory: RoomDirectory<R>
  readonly options: RoomHostOptions<R>
  now(): Millis
  readonly guard: UserCode
  readonly passwords: PasswordHasher
  readonly build: RoomHostParts<R>['build']
  readonly seedOf: NonNullable<RoomHostParts<R>['seedOf']>
  endpoint(): Endpoint
  /** The room has this number no longer. */
  onEnded(number: number): void
}

export class RoomLifecycle<R extends HostedRoom> {
  readonly counts: RoomCounts = { created: 0, ended: 0, moved: 0, faults: 0 }
  /** Errors thrown by the code of all rooms, by callback, including rooms that have ended. */
  readonly codeFaults: Map<string, number> = new Map<string, number>()
  readonly #parts: LifecycleParts<R>
  /** The memory for incomplete large messages, shared by all rooms. */
  readonly #fragments: FragmentPool

  constructor(parts: LifecycleParts<R>) {
    this.#parts = parts
    this.#fragments = parts.options.fragments ?? new FragmentPool()
  }

  /** Creates a room. Throws ConfigError when the type is unknown or `maxRooms` is reached. */
  create(type: string, { metadata, isPrivate = false, options, ...rest }: NewRoomOptions): R {
    const { types, directory } = this.#parts
    const known = types.get(type)
    if (known === undefined)
      throw new ConfigError('create', `unknown type of room "${type}"`, `use one of ${[...types.keys()].join(', ')}.`)
    if (rest.password !== undefined) checkPassword(rest.password)
    const plan = this.plan(type, {
      ...rest,
      metadata: { ...known.metadata, ...metadata },
      isPrivate,
      options: options === undefined ? initialOptions(known) : quantized(known, options),
    })
    const room = typeof plan === 'string' ? plan : this.#open(plan.identity, known)
    if (room === 'refused')
      throw new ConfigError('create', `onCreate of "${type}" threw`, 'see the error that `onError` received.')
    if (typeof room === 'string')
      throw new ConfigError(
        'create',
        `the limit of ${directory.count} rooms is reached`,
        'raise `maxRooms`, or end some rooms.',
      )
    return room
  }

  /** Reserves the identity of a new room, or returns why there can be none. */
  plan(typeName: string, { metadata, isPrivate, options, password, seed }: RoomOrder): RoomPlan<R> | Refusal {
    const { types, directory, passwords, seedOf, options: { entropy } } = this.#parts
    const type = types.get(typeName)
    if (type === undefined) return 'no-room'
    if (!this.#hasRoomForRoom()) return 'full'
    const names = directory.drawIdentity(isPrivate)
    return {
      identity: {
        ...names, typeName, seed: seedOf(type, seed ?? drawSeed(entropy)), metadata, options,
        passwordHash: password === undefined ? undefined : passwords.hash(password),
      },
      type,
      lastPeer: 0,
      room: undefined,
    }
  }

  /** Opens a planned room, for its first client. */
  openPlan(plan: RoomPlan<R>): R | 'full' | 'refused' {
    if (!this.#hasRoomForRoom()) return 'full'
    const room = this.#parts.guard.run('external', 0, () => this.#open(plan.identity, plan.type)) ?? 'refused'
    if (room === 'refused') return room
    room.seats.skipTo(plan.lastPeer)
    plan.room = room
    return room
  }

  /** Opens the room of a match that began at another server. */
  openClaimed({ match, typeName, seed }: SeatClaim<R>): R | Refusal {
    const { types, directory } = this.#parts
    const type = types.get(typeName)
    if (type === undefined) return 'no-room'
    if (!this.#hasRoomForRoom()) return 'full'
    const { metadata } = type
    const identity = { ...directory.drawIdentity(false), id: match, typeName, seed, metadata, isClaimed: true }
    return this.#open(identity, type)
  }

  /** The states of all rooms that have not ended. */
  images(): readonly RoomImage[] {
    return [...this.#parts.directory.rooms].flatMap((room) => {
      if (room.ending !== undefined) return []
      // `external.encode` of the game may throw.
      return room.guard.run('external.encode', 0, () => room.image()) ?? []
    })
  }

  /** The restored room, or why the image was refused. */
  restore(image: RoomImage, holdMs: Millis = 0): R | string {
    const { types, directory } = this.#parts
    const type = types.get(image.typeName)
    if (type === undefined) return 'unknown-type'
    if (directory.byNumber(image.number) !== undefined || directory.byId(image.id) !== undefined) return 'taken'
    if (!isEqualConstantTime(type.game.fingerprint, image.fingerprint)) return 'other-game'
    const room = this.#parts.guard.run('external', 0, () => this.#build(image, type))
    const verdict = room?.guard.run('external.decode', 0, () => room.restore(image, holdMs)) ?? 'fault'
    return room === undefined || verdict !== 'restored' ? verdict : this.#begin(room)
  }

  /** Ends the rooms that are marked to end or have been empty too long. Returns whether there were any. */
  endDue(): boolean {
    const now = this.#parts.now()
    let hasEnded = false
    for (const room of this.#parts.directory.rooms) {
      const isForsaken = room.seats.isEmpty && now - room.emptySince >= room.type.emptyMs
      if (room.isFrozen || (room.ending === undefined && !isForsaken)) continue
      this.end(room, room.ending ?? 'ended')
      hasEnded = true
    }
    return hasEnded
  }

  /** A room that has moved goes on elsewhere, so `onEnd` is not called. */
  end(room: R, code: LeaveCode | 'moved'): void {
    this.#parts.directory.remove(room)
    room.ending ??= code
    room.closeAll(code)
    if (code === 'moved') {
      this.counts.moved++
      return
    }
    this.counts.ended++
    this.#parts.onEnded(room.number)
    room.guard.run('onEnd', 0, () => room.type.onEnd?.(room))
  }

  #hasRoomForRoom(): boolean {
    return this.#parts.directory.count < (this.#parts.options.maxRooms ?? ROOMS_DEFAULT)
  }

  #open(identity: RoomIdentity & { readonly metadata: Metadata }, type: R['type']): R | 'refused' {
    const room = this.#build(identity, type)
    if (room === undefined) return 'refused'
    room.metadata = identity.metadata
    return this.#begin(room)
  }

  /** Undefined when the game's `external` threw. Throws ConfigError when the game cannot run with its settings. */
  #build(identity: RoomIdentity, type: R['type']): R | undefined {
    const { guard, endpoint, now, build } = this.#parts
    const wiring: RoomWiring = {
      endpoint: endpoint(),
      now,
      fragments: this.#fragments,
      onFault: (fault, room) => this.#handleFault(fault, room as R),
    }
    try {
      return build(identity, type, wiring)
    } catch (error) {
      if (error instanceof ConfigError) throw error
      guard.report('external', error)
      return undefined
    }
  }

  #begin(room: R): R | 'refused' {
    this.#parts.directory.add(room)
    this.counts.created++
    try {
      room.guard.must('onCreate', 0, () => room.type.onCreate?.(room))
    } catch {
      // reason: the error is already reported, and the room ends
      return 'refused'
    }
    return room
  }

  #handleFault(fault: CodeFault, room: R): void {
    const { guard, options: { onError, onWake } } = this.#parts
    const { callback, isFatal } = fault
    this.codeFaults.set(callback, (this.codeFaults.get(callback) ?? 0) + 1)
    if (isFatal) this.counts.faults++
    if (onError === undefined) guard.handle(fault)
    else onError(fault, room)
    if (isFatal) onWake?.()
  }
}

/** Options as a client's would arrive: bounded and rounded by their schema. */
function quantized({ game: { optionsCodec } }: RoomRules, options: { readonly [field: string]: unknown }): object {
  return optionsCodec?.decode(optionsCodec.encode(options)) ?? {}
}

/** Draws the 32-bit seed of a match. */
export function drawSeed(entropy: Entropy): number {
  const bytes = new Uint8Array(4)
  entropy.fill(bytes)
  return (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24) >>> 0
}
