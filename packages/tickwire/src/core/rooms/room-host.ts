/**
 * Rooms behind one endpoint: they are created, found, joined, left and ended independently. A single match is a host
 * with one room.
 *
 * The host owns an endpoint but no socket and no clock. The caller drives it: receive, tick, send.
 *
 *   host.handleDatagram(now, from, bytes, length)     for each datagram received
 *   host.tick(now)                                    runs the due ticks of all rooms
 *   host.drain(now, port)                             sends; returns when to call again at the latest
 *
 * Invariant: an error in the code of one room ends at most that room (its players get `fault`) and affects no other.
 */

import { ConfigError } from '../base/assert.ts'
import { CONNECTIONS_MAX } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import { UserCode } from '../base/user-code.ts'
import type { LeaveCode, RuleCode } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { ConnectionStats } from '../connection/stats.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import { GuessLimit } from '../endpoint/guess-limit.ts'
import { completeLimits } from '../endpoint/origin-limits.ts'
import { DurationHistogram } from './duration-histogram.ts'
import type { HostedRoom, RoomListing } from './hosted-room.ts'
import type { Invitation, RoomPlan } from './invitations.ts'
import { Reservations, type SeatAnswer, type SeatOrder } from './reservations.ts'
import { TicketMint } from './resume-ticket.ts'
import { RoomDirectory, type RoomFilter } from './room-directory.ts'
import { openRoom, RoomDoor } from './room-door.ts'
import type { RoomHostOptions, RoomHostParts } from './room-host-options.ts'
import type { RoomImage } from './room-image.ts'
import { RoomMover, type FrozenRoom } from './room-mover.ts'
import { RoomLifecycle, type NewRoomOptions, type RoomCounts } from './room-lifecycle.ts'
import { PasswordHasher } from './room-password.ts'
import { completeRules, type RoomRules } from './room-rules.ts'
import { SeatSpans } from './seat-spans.ts'
import { Traffic } from './traffic.ts'

/** The seat that a connection belongs to. */
interface Seated<R> {
  readonly room: R
  readonly peer: PeerId
  readonly isBack: boolean
}

/** Runs any number of rooms behind one endpoint, driven by a loop of your own: receive, tick, send. */
export class RoomHost<R extends HostedRoom = HostedRoom> {
  readonly endpoint: Endpoint
  /** Decides which clients are admitted, and counts refusals. */
  readonly door: RoomDoor<R>
  /** Durations of the ticks of all rooms. */
  readonly ticks: DurationHistogram = new DurationHistogram()
  /** Calls user code that belongs to no single room, such as `onAuth`, and counts what it throws. */
  readonly guard: UserCode
  readonly #stopwatch: (() => Millis) | undefined
  readonly #directory: RoomDirectory<R>
  readonly #lifecycle: RoomLifecycle<R>
  readonly #seated = new Map<number, Seated<R>>()
  /** Connections of clients that came too late for their seat: to be closed, with the reason. */
  readonly #unseated: [Connection, RuleCode | LeaveCode][] = []
  readonly #now = new Float64Array(1)
  readonly #traffic = new Traffic()
  readonly #mint: TicketMint
  readonly #mover: RoomMover<R>
  /** Seats that are kept for clients with a token. */
  readonly reservations: Reservations<R> = new Reservations()
  /** Rooms that recorded datagrams at the last drain. Cached, so that a flood does not cost a loop over all rooms. */
  readonly #recorded: R[] = []
  /** Undefined: nothing is traced. */
  readonly #spans: SeatSpans<R> | undefined
  #isDraining = false

  constructor(
    rules: { readonly [name: string]: RoomRules },
    options: RoomHostOptions<R>,
    { endpoint, build, readClaim, seedOf = (_type, seed) => seed }: RoomHostParts<R>,
  ) {
    const types = new Map(Object.entries(rules).map(([name, each]) => [name, completeRules(name, each) as R['type']]))
    const [first, ...others] = [...types.values()].map(({ game: { fingerprint } }) => fingerprint)
    if (first === undefined)
      throw new ConfigError('rooms', 'no types of rooms', 'give at least one type of room.')
    const { entropy, security, limits, maxConnections = CONNECTIONS_MAX, onError, stopwatch } = options
    this.#stopwatch = stopwatch
    this.#spans = options.tracer && new SeatSpans(options.tracer)
    this.guard = new UserCode(onError && ((fault) => onError(fault, undefined)))
    this.#directory = new RoomDirectory(entropy, options.place, options.isInFleet)
    this.#mint = new TicketMint(security?.provider ?? pureProvider, entropy, options.ticketKey)
    const { guard } = this
    const passwords = new PasswordHasher(security?.provider ?? pureProvider, entropy)
    const guesses = new GuessLimit(completeLimits(limits ?? {}), entropy)
    this.#lifecycle = new RoomLifecycle({
      types, directory: this.#directory, options, guard, passwords, build, seedOf, endpoint: () => this.endpoint,
      now: () => this.#now[0], onEnded: (number) => this.#mint.forget(number),
    })
    this.#mover = new RoomMover(this.#lifecycle, this.#mint)
    this.door = new RoomDoor({
      types,
      directory: this.#directory,
      mint: this.#mint,
      reservations: this.reservations,
      needsReservation: options.isInFleet === true,
      hasMoved: (number) => this.#mover.hasMoved(number),
      passwords,
      mayGuess: (from) => guesses.mayGuess(this.#now[0], from),
      planRoom: (type, order) => this.#lifecycle.plan(type, order),
      openPlan: (plan) => this.#lifecycle.openPlan(plan),
      openClaimed: (claim) => this.#lifecycle.openClaimed(claim),
      readClaim: (fingerprint, data) => readClaim?.(fingerprint, data),
      guard,
      onAnswer: () => options.onWake?.(),
      now: () => this.#now[0],
      spans: this.#spans,
    })
    this.endpoint = createEndpoint({
      ...endpoint,
      fingerprint: first,
      fingerprints: others,
      entropy,
      maxConnections,
      ...(security && { security }),
      ...(limits && { limits }),
      ...(options.onRefused && { onRefused: options.onRefused }),
      admit: (request) => this.door.admit(request),
      assemble: (connection) => this.#assemble(connection),
    })
  }

  /** Whether the host is shutting down and admits no new clients. */
  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Counters of rooms. */
  get counts(): Readonly<RoomCounts> {
    return this.#lifecycle.counts
  }

  /** Errors thrown by the code of all rooms, by callback, including rooms that have ended. */
  get codeFaults(): ReadonlyMap<string, number> {
    return this.#lifecycle.codeFaults
  }

  /** All rooms, oldest first, private ones too. */
  get rooms(): readonly R[] {
    return [...this.#directory.rooms]
  }

  /** The number of player seats taken or held, over all rooms. */
  get players(): number {
    let count = 0
    for (const { seats } of this.#directory.rooms) count += seats.players
    return count
  }

  /** The sum over all connections since the start. */
  traffic(): ConnectionStats {
    return this.#traffic.sum(this.endpoint.connections)
  }

  /** The public list of rooms. */
  list(filter: RoomFilter = {}): RoomListing[] {
    return this.#directory.list(filter)
  }

  /** The room with this id. Undefined if there is none. */
  room(id: string): R | undefined {
    return this.#directory.byId(id)
  }

  /** Creates a room. Throws ConfigError when the type is unknown or `maxRooms` is reached. */
  create(type: string, options: NewRoomOptions = {}): R {
    return this.#lifecycle.create(type, options)
  }

  /** A datagram has arrived from `from`. `bytes` may be decrypted in place. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.#now[0] = now
    for (const { watch } of this.#recorded) watch.handleDatagram(from, bytes, length)
    this.endpoint.handleDatagram(now, from, bytes, length)
  }

  /** The transport can no longer reach `address`. */
  handlePathClosed(address: string): void {
    this.endpoint.handlePathClosed(address)
  }

  /** Runs the due ticks of all rooms. Returns how many ran. */
  tick(now: Millis): number {
    this.#now[0] = now
    const stopwatch = this.#stopwatch
    let total = 0
    for (const room of this.#directory.rooms) {
      // Everything in a room happens on its ticks, so a wake-up for one room costs every other room one comparison.
      if (room.isFrozen || now < room.nextAt()) continue
      const startedAt = stopwatch?.() ?? 0
      try {
        room.expireSeats()
        const ran = room.tick()
        total += ran
        if (ran > 0 && this.#spans !== undefined && this.#spans.waiting > 0) this.#spans.tick(room)
        if (ran > 0 && stopwatch !== undefined) this.#measure(room, stopwatch() - startedAt, ran)
      } catch (error) {
        room.guard.break('tickwire', error)
      }
    }
    this.#lifecycle.endDue()
    this.guard.rethrow()
    return total
  }

  /** Sends what is due. Returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    this.#now[0] = now
    this.door.takeAnswers((handle, verdict) => this.endpoint.settle(now, handle, verdict))
    if (this.door.invitations.count > 0) this.door.invitations.expire(now)
    this.#spans?.expire((handle) => this.door.invitations.of(handle) !== undefined)
    if (this.reservations.count > 0) this.reservations.expire(now)
    let out = port
    this.#recorded.length = 0
    for (const room of this.#directory.rooms) {
      if (room.isFrozen) continue
      try {
        room.receive()
      } catch (error) {
        room.guard.break('tickwire', error)
      }
      if (!room.watch.hasPacketRecorders) continue
      this.#recorded.push(room)
      out = room.watch.tap(out)
    }
    this.#lifecycle.endDue()
    const wakeAt = drain(this.endpoint, now, out, (event) => this.#handleEvent(event))
    for (const [connection, code] of this.#unseated.splice(0)) connection.close(now, code)
    const hasEnded = this.#lifecycle.endDue()
    this.guard.rethrow()
    if (hasEnded) return now
    let earliest = wakeAt
    for (const room of this.#directory.rooms) if (!room.isFrozen) earliest = Math.min(earliest, room.nextAt())
    return earliest
  }

  /** The state that another process needs to continue, taken between two ticks. The key is secret. */
  images(): { readonly ticketKey: Uint8Array; readonly rooms: readonly RoomImage[] } {
    return { ticketKey: this.#mint.key, rooms: this.#lifecycle.images() }
  }

  /** Restores rooms; their players may resume with their tickets. `onRefused` gets each refused image and reason. */
  restore(
    now: Millis,
    images: readonly RoomImage[],
    onRefused?: (image: RoomImage, reason: string) => void,
  ): readonly R[] {
    this.#now[0] = now
    return images.flatMap((image) => {
      const room = this.#lifecycle.restore(image)
      if (typeof room !== 'string') return [room]
      onRefused?.(image, room)
      return []
    })
  }

  /** Keeps seats for clients that will come with these tokens, in an open room or in a new one. */
  reserve(now: Millis, order: SeatOrder): SeatAnswer {
    this.#now[0] = now
    return this.reservations.reserve(now, order, () => this.#isDraining ? 'full' : this.door.findReserved(order))
  }

  /** Stops a room and returns its state, for another process. Then call `release` or `unfreeze`. */
  freeze(now: Millis, room: R): FrozenRoom | undefined {
    this.#now[0] = now
    return this.#mover.freeze(room)
  }

  /** The room goes on here, because no other process took it. */
  unfreeze(room: R): void {
    room.isFrozen = false
  }

  /** Another process has the room: its clients here are closed with `moved`. */
  release(now: Millis, room: R): void {
    this.#now[0] = now
    this.#mover.release(room)
  }

  /** Takes a room over from another process, and holds its seats for at least `holdMs`. Returns it, or why not. */
  thaw(now: Millis, frozen: FrozenRoom, holdMs: Millis): R | string {
    this.#now[0] = now
    return this.#mover.thaw(frozen, holdMs)
  }

  /** From now on, new clients are refused. Rooms learn how much time is left; `close` ends them. */
  beginDrain(ms: number): void {
    if (this.#isDraining) return
    this.#isDraining = true
    this.endpoint.refuseNewcomers()
    for (const room of this.#directory.rooms) {
      room.guard.run('onDrain', 0, () => room.type.onDrain?.(room, ms))
    }
  }

  /** Ends all rooms. Keep draining until `endpoint.connections` is empty. */
  close(now: Millis, code: 'shutdown' | 'host-left' = 'shutdown'): void {
    this.#now[0] = now
    this.#isDraining = true
    for (const room of this.rooms) this.#lifecycle.end(room, code)
    this.endpoint.close(now, code)
  }

  /** The client has used its keys. Only now does it take its seat, and the first client in a planned room opens it. */
  #assemble(connection: Connection): void {
    const invitation = this.door.invitations.remove(connection.id)
    const reason = invitation === undefined || invitation.isAwaited ? 'ended' : this.#sitDown(connection, invitation)
    if (reason === undefined) return
    this.#spans?.refuse(connection.id, reason)
    this.#unseated.push([connection, reason])
    if (reason !== 'ended') this.door.counts[reason]++
  }

  /** Why an invited client gets no seat. Undefined when it has one. */
  #sitDown(
    connection: Connection, invitation: Invitation<R>,
  ): 'full' | 'locked' | 'refused' | 'ended' | 'moved' | undefined {
    const { site, peer, usedSerial, serial } = invitation
    const room = openRoom(site) ?? this.#lifecycle.openPlan(site as RoomPlan<R>)
    if (room === 'full' || room === 'refused') return room
    if (room.isFrozen || room.ending === 'moved') return 'moved'
    if (room.ending !== undefined) return 'ended'
    if (usedSerial !== undefined) {
      const seat = room.seats.of(peer)
      if (seat === undefined || seat.serial !== usedSerial) return 'ended'
      this.#seated.set(connection.id, { room, peer, isBack: true })
      this.#spans?.sit(connection.id, room, true)
      this.door.counts.resumed++
      room.seatAgain(seat, connection, serial)?.close(this.#now[0], 'replaced')
      return undefined
    }
    if (invitation.reservation !== undefined) this.reservations.use(invitation.reservation)
    else if (room.isLocked) return 'locked'
    if (!room.seatNewcomer(connection, invitation)) return 'full'
    this.#seated.set(connection.id, { room, peer, isBack: false })
    this.#spans?.sit(connection.id, room, false)
    this.door.counts.seated++
    return undefined
  }

  #handleEvent(event: EndpointEvent): void {
    if (event.type === 'closed') this.#traffic.handleEnded(event.connection)
    const seated = this.#seated.get(event.connection.id)
    if (seated === undefined) return
    const { room, peer, isBack } = seated
    try {
      if (event.type === 'opened') room.handleOpened(peer, isBack)
      else {
        this.#seated.delete(event.connection.id)
        room.handleClosed(peer, event.connection, event.reason)
      }
    } catch (error) {
      room.guard.break('tickwire', error)
    }
  }

  #measure(room: R, ms: number, ran: number): void {
    const each = ms / ran
    for (let tick = 0; tick < ran; tick++) {
      this.ticks.record(each)
      room.ticks.record(each)
    }
  }
}
