/**
 * Many matches behind one endpoint: rooms that are made, found, joined, left and ended, each on its own.
 *
 * It owns an endpoint but no socket and no clock. The pump is that of a match alone: receive, tick, send.
 *
 *   host.handleDatagram(now, from, bytes, length)     whenever bytes come
 *   host.tick(now)                                    runs the ticks that are due, of all rooms
 *   host.drain(now, port)                             sends; returns when to call again at the latest
 *
 * Invariant: whatever a room's own code throws ends that room, is told to its players as `fault`, and touches no other.
 */

import { ConfigError } from '../../base/assert.ts'
import type { Entropy } from '../../base/entropy.ts'
import { CONNECTIONS_MAX, ROOMS_DEFAULT } from '../../base/limits.ts'
import type { Millis, PeerId } from '../../base/time.ts'
import type { LeaveCode } from '../../connection/close-reason.ts'
import type { Connection } from '../../connection/connection.ts'
import type { ConnectionStats } from '../../connection/stats.ts'
import { isEqualConstantTime } from '../../crypto/constant-time.ts'
import { pureProvider } from '../../crypto/pure-provider.ts'
import type { DatagramPort } from '../../endpoint/datagram-port.ts'
import { drain } from '../../endpoint/drain.ts'
import type { Refusal } from '../../endpoint/endpoint-config.ts'
import type { EndpointSecurity } from '../../endpoint/endpoint-security.ts'
import { createEndpoint, type Endpoint, type EndpointEvent } from '../../endpoint/endpoint.ts'
import type { OriginLimits } from '../../endpoint/origin-limits.ts'
import type { Game } from '../define-game.ts'
import { drawSeed } from '../server-host.ts'
import { DurationHistogram } from './duration-histogram.ts'
import type { Metadata } from './join-body.ts'
import { TicketMint } from './resume-ticket.ts'
import { RoomDirectory, type RoomFilter } from './room-directory.ts'
import { RoomDoor } from './room-door.ts'
import { completeRoomType, type CompleteRoomType, type RoomType } from './room-type.ts'
import type { RoomImage } from './room-image.ts'
import { Room, type RoomIdentity, type RoomListing } from './room.ts'
import { Traffic } from './traffic.ts'

export interface RoomHostOptions {
  readonly entropy: Entropy
  readonly security?: EndpointSecurity
  readonly limits?: Partial<OriginLimits>
  /** Rooms at once. */
  readonly maxRooms?: number
  /** Connections at once, over all rooms; 4096 at most, which is the default. */
  readonly maxConnections?: number
  /** What tickets are made with, of the process before, whose rooms will be restored. Default: drawn. */
  readonly ticketKey?: Uint8Array
  /** Measures ticks: milliseconds, from anywhere. Without it they are not measured. */
  readonly stopwatch?: () => Millis
  /** A room's own code threw this, and the room is over. */
  readonly onRoomFault?: (room: Room, error: unknown) => void
  /** `onAuth` threw this, and whoever asked is refused. */
  readonly onAuthFault?: (error: unknown) => void
  /** Something is to be sent that was not when `drain` last returned: drain again soon. */
  readonly onWake?: () => void
}

/** What became of rooms. */
export interface RoomCounts {
  created: number
  ended: number
  faults: number
}

/** Which seat a connection leads to. */
interface Seated {
  readonly room: Room
  readonly peer: PeerId
  readonly isBack: boolean
}

/** Makes the host of rooms; throws ConfigError on what cannot work. */
export function createRoomHost(types: { readonly [name: string]: RoomType }, options: RoomHostOptions): RoomHost {
  return new RoomHost(types, options)
}

export class RoomHost {
  readonly endpoint: Endpoint
  readonly door: RoomDoor
  readonly counts: RoomCounts = { created: 0, ended: 0, faults: 0 }
  /** What ticks took, of all rooms. */
  readonly ticks: DurationHistogram = new DurationHistogram()
  readonly #types: ReadonlyMap<string, CompleteRoomType>
  readonly #options: RoomHostOptions
  readonly #directory: RoomDirectory
  readonly #seated = new Map<number, Seated>()
  /** Of those who came too late for their seat: to be closed. */
  readonly #unseated: Connection[] = []
  readonly #now = new Float64Array(1)
  readonly #traffic = new Traffic()
  readonly #mint: TicketMint
  /** Rooms whose datagrams are recorded, as of the last drain: a flood must not be multiplied by rooms. */
  readonly #recorded: Room[] = []
  #isDraining = false

  constructor(types: { readonly [name: string]: RoomType }, options: RoomHostOptions) {
    this.#types = new Map(Object.entries(types).map(([name, type]) => [name, completeRoomType(name, type)]))
    const games = [...this.#types.values()].map(({ game }) => game)
    const [first] = games
    if (first === undefined) throw new ConfigError('rooms', 'there are none', 'Give at least one type of room.')
    this.#options = options
    this.#directory = new RoomDirectory(options.entropy)
    this.#mint = new TicketMint(options.security?.provider ?? pureProvider, options.entropy, options.ticketKey)
    this.door = new RoomDoor({
      types: this.#types,
      directory: this.#directory,
      mint: this.#mint,
      createRoom: (type, metadata, isPrivate) => this.#make(type, metadata, isPrivate),
      onAuthFault: (error) => options.onAuthFault?.(error),
      onAnswer: () => options.onWake?.(),
      now: () => this.#now[0],
    })
    this.endpoint = createEndpoint({
      fingerprint: first.fingerprint,
      fingerprints: games.slice(1).map(({ fingerprint }) => fingerprint),
      tickRate: Math.max(...games.map(({ tickRate }) => tickRate)),
      entropy: options.entropy,
      timers: {
        keepaliveMs: Math.min(...games.map(({ net }) => net.heartbeatMs)),
        timeoutMs: Math.max(...games.map(({ net }) => net.timeoutMs)),
      },
      maxConnections: options.maxConnections ?? CONNECTIONS_MAX,
      ...(options.security && { security: options.security }),
      ...(options.limits && { limits: options.limits }),
      admit: (request) => this.door.admit(request),
      assemble: (connection) => this.#assemble(connection),
    })
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** All rooms, oldest first, private ones too. */
  get rooms(): readonly Room[] {
    return [...this.#directory.rooms]
  }

  /** Everyone in a seat, over all rooms. */
  get players(): number {
    let count = 0
    for (const { seats } of this.#directory.rooms) count += seats.players
    return count
  }

  /** What all connections counted since the start. */
  traffic(): ConnectionStats {
    return this.#traffic.sum(this.endpoint.connections)
  }

  /** What may be told to anybody who looks for a room. */
  list(filter: RoomFilter = {}): RoomListing[] {
    return this.#directory.list(filter)
  }

  /** The game of a type of room, of the first unless one is named. */
  gameOf(type: string | undefined): Game | undefined {
    return type === undefined ? this.#types.values().next().value?.game : this.#types.get(type)?.game
  }

  room(id: string): Room | undefined {
    return this.#directory.byId(id)
  }

  /** Makes a room. Throws ConfigError when there is no such type, or no room for one more. */
  create(type: string, { metadata, isPrivate = false }: { readonly metadata?: Metadata; readonly isPrivate?: boolean } = {}): Room {
    const known = this.#types.get(type)
    if (known === undefined) throw new ConfigError('create', `there is no type of room "${type}"`, `Use one of: ${[...this.#types.keys()].join(', ')}.`)
    const room = this.#make(type, { ...known.metadata, ...metadata }, isPrivate)
    if (room === 'refused') throw new ConfigError('create', `onCreate of "${type}" threw`, 'See what `onRoomFault` was told.')
    if (typeof room === 'string') throw new ConfigError('create', `${this.#directory.count} rooms are all there may be`, 'Raise `maxRooms`, or end some.')
    return room
  }

  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.#now[0] = now
    for (const { watch } of this.#recorded) watch.handleDatagram(now, from, bytes, length)
    this.endpoint.handleDatagram(now, from, bytes, length)
  }

  handlePathClosed(address: string): void {
    this.endpoint.handlePathClosed(address)
  }

  /** Runs the ticks that are due, of all rooms; returns how many. */
  tick(now: Millis): number {
    this.#now[0] = now
    const { stopwatch } = this.#options
    let total = 0
    for (const room of this.#directory.rooms) {
      // What is due in a room happens on its ticks: a wake for one room costs the others a comparison.
      if (now < room.loop.nextAt()) continue
      const startedAt = stopwatch?.() ?? 0
      try {
        room.expireSeats(now)
        const ran = room.tick(now)
        total += ran
        if (ran > 0 && stopwatch !== undefined) this.#measure(room, stopwatch() - startedAt, ran)
      } catch (error) {
        this.#fault(room, error)
      }
    }
    this.#endRooms(now)
    return total
  }

  /** Sends what is owed, and returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    this.#now[0] = now
    this.door.takeAnswers((handle, verdict) => this.endpoint.settle(now, handle, verdict))
    if (this.door.reservations.count > 0) this.door.reservations.expire(now)
    let out = port
    this.#recorded.length = 0
    for (const room of this.#directory.rooms) {
      try {
        room.receive(now)
      } catch (error) {
        this.#fault(room, error)
      }
      if (!room.watch.hasPacketRecorders) continue
      this.#recorded.push(room)
      out = room.watch.tap(now, out)
    }
    this.#endRooms(now)
    const wakeAt = drain(this.endpoint, now, out, (event) => this.#handleEvent(now, event))
    for (const connection of this.#unseated.splice(0)) connection.close(now, 'ended')
    if (this.#endRooms(now)) return now
    let earliest = wakeAt
    for (const { loop } of this.#directory.rooms) earliest = Math.min(earliest, loop.nextAt())
    return earliest
  }

  /** Everything that another process needs to go on, between two ticks. Its key is a secret. */
  images(): { readonly ticketKey: Uint8Array; readonly rooms: readonly RoomImage[] } {
    return { ticketKey: this.#mint.key, rooms: this.rooms.flatMap((room) => (room.ending === undefined ? room.image() ?? [] : [])) }
  }

  /** Makes rooms of images, where their type is here and plays the same game; says which. Their players may come back with their tickets. */
  restore(now: Millis, images: readonly RoomImage[]): readonly Room[] {
    this.#now[0] = now
    return images.flatMap((image) => {
      const type = this.#types.get(image.typeName)
      if (type === undefined || !isEqualConstantTime(type.game.fingerprint, image.fingerprint)) return []
      const room = this.#open(image, type)
      if (typeof room === 'string') return []
      if (room.restore(now, image)) return [room]
      this.#end(now, room, 'ended')
      return []
    })
  }

  /** From now on nobody comes in. Rooms are told how long they have; `close` ends them. */
  beginDrain(ms: number): void {
    if (this.#isDraining) return
    this.#isDraining = true
    this.endpoint.refuseNewcomers()
    for (const room of this.#directory.rooms) {
      try {
        room.type.onDrain?.(room, ms)
      } catch (error) {
        this.#fault(room, error)
      }
    }
  }

  /** Ends all rooms. Go on draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.#isDraining = true
    for (const room of [...this.#directory.rooms]) this.#end(now, room, 'shutdown')
    this.endpoint.close(now)
  }

  #make(typeName: string, metadata: Metadata, isPrivate: boolean): Room | Refusal {
    const type = this.#types.get(typeName)
    if (type === undefined) return 'no-room'
    if (this.#directory.count >= (this.#options.maxRooms ?? ROOMS_DEFAULT)) return 'full'
    return this.#open({ ...this.#directory.drawIdentity(isPrivate), typeName, seed: drawSeed(this.#options.entropy), metadata }, type)
  }

  #open(identity: RoomIdentity & { readonly metadata: Metadata }, type: CompleteRoomType): Room | Refusal {
    const room = new Room(identity, type, this.endpoint, (faulty, error) => this.#fault(faulty, error))
    room.metadata = identity.metadata
    this.#directory.add(room)
    this.counts.created++
    try {
      type.onCreate?.(room)
    } catch (error) {
      this.#fault(room, error)
      return 'refused'
    }
    return room
  }

  #assemble(connection: Connection): void {
    const reservation = this.door.reservations.remove(connection.id)
    if (reservation === undefined || reservation.isAwaited || reservation.room.ending !== undefined) {
      this.#unseated.push(connection)
      return
    }
    const { room, seat, usedSerial, serial, user, tokenUser } = reservation
    if (usedSerial === undefined ? seat.state !== 'reserved' : seat.state === 'free' || seat.serial !== usedSerial) {
      this.#unseated.push(connection)
      return
    }
    this.#seated.set(connection.id, { room, peer: seat.peer, isBack: usedSerial !== undefined })
    if (usedSerial === undefined) room.seatNewcomer(seat, connection, user, tokenUser)
    else {
      this.door.counts.resumed++
      room.seatAgain(seat, connection, serial)?.close(this.#now[0], 'replaced')
    }
  }

  #handleEvent(now: Millis, event: EndpointEvent): void {
    if (event.type === 'closed') this.#traffic.handleEnded(event.connection)
    const seated = this.#seated.get(event.connection.id)
    if (seated === undefined) return
    const { room, peer, isBack } = seated
    try {
      if (event.type === 'opened') room.handleOpened(peer, isBack)
      else {
        this.#seated.delete(event.connection.id)
        room.handleClosed(now, peer, event.connection, event.reason)
      }
    } catch (error) {
      this.#fault(room, error)
    }
  }

  #measure(room: Room, ms: number, ran: number): void {
    const each = ms / ran
    for (let tick = 0; tick < ran; tick++) {
      this.ticks.record(each)
      room.ticks.record(each)
    }
  }

  #fault(room: Room, error: unknown): void {
    if (room.ending === 'fault') return
    room.ending = 'fault'
    this.counts.faults++
    this.#options.onRoomFault?.(room, error)
    this.#options.onWake?.()
  }

  /** Ends those that are to end, and those where nobody is. Whether there were any. */
  #endRooms(now: Millis): boolean {
    let hasEnded = false
    for (const room of this.#directory.rooms) {
      const isForsaken = room.seats.isEmpty && now - room.emptySince >= room.type.emptyMs
      if (room.ending === undefined && !isForsaken) continue
      this.#end(now, room, room.ending ?? 'ended')
      hasEnded = true
    }
    return hasEnded
  }

  #end(now: Millis, room: Room, code: LeaveCode): void {
    this.#directory.remove(room)
    this.door.reservations.forgetRoom(room)
    this.counts.ended++
    room.ending ??= code
    room.closeAll(now, code)
    try {
      room.type.onEnd?.(room)
    } catch (error) {
      if (code !== 'fault') this.#options.onRoomFault?.(room, error)
    }
  }
}
