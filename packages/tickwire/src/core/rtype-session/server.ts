/**
 * The server side of R-Type connections, without a socket: datagrams and time come in, datagrams and events go out.
 *
 * A stranger is answered with a SERVER_ACCEPT (23 bytes for its 49) and nothing else until it has shown that it
 * received the player id in it, by a HEARTBEAT or PLAYER_INPUT with that id. Only then does it hold a seat and receive
 * packets: a forged address gets less than was sent in its name. A SERVER_REJECT (77 bytes) is longer than a request,
 * so an address gets one when its requests together were longer; clients repeat theirs every 500 ms.
 *
 * The protocol is plain text: an attacker that reads a client's packets can forge them. The ids stop all others.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import {
  GUEST_MS,
  GUESTS_MAX,
  INBOUND_END_TIMES,
  PENDING_REPLIES_MAX,
  PEER_PACKETS_PER_SECOND,
  RTYPE_CREDITS_MAX,
  RTYPE_LEAVING_MAX,
  RTYPE_LEAVING_MS,
  RTYPE_PLAYERS_MAX,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { completeLimits, OriginGuard } from '../endpoint/origin-limits.ts'
import { decodeRtype, encodeRtype, type RtypeMessage } from '../rtype/codec.ts'
import { read32, RTYPE_HEADER_BYTES } from '../rtype/header.ts'
import type { RtypePacket, RtypePacketOf } from '../rtype/packet-table.ts'
import { RTYPE, RTYPE_VERSION } from '../rtype/values.ts'
import { Inbox, priorityOf } from './inbox.ts'
import { RtypeLink } from './link.ts'
import { isNewer32 } from './serial-window.ts'
import type { RtypePeer, RtypeServerDrop, RtypeServerEvent, RtypeServerOptions } from './server-types.ts'

interface Guest {
  readonly peer: RtypePeer
  readonly at: Millis
}

interface Seat {
  readonly peer: RtypePeer
  readonly link: RtypeLink
  heartbeatAt: Millis
  /** The sequence of the newest input. */
  inputSequence: number | undefined
  /** Datagrams since `secondAt`. */
  datagrams: number
  secondAt: Millis
}

interface Leaving {
  readonly seat: Seat
  readonly until: Millis
}

const REJECT_BYTES = 77
const ACCEPT_SEQUENCE = 1
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/

/** Accepts clients and carries their packets. */
export class RtypeServer {
  /** Datagrams that had no effect, by reason. */
  readonly drops: Map<RtypeServerDrop, number> = new Map()
  readonly #options: RtypeServerOptions
  readonly #entropy: Entropy
  readonly #guard: OriginGuard
  readonly #maxPlayers: number
  readonly #resendMs: number
  readonly #timeoutMs: number
  /** Clients that were accepted and have not shown that they received their player id. By address, the oldest first. */
  readonly #guests: Map<string, Guest> = new Map()
  readonly #seats: Map<string, Seat> = new Map()
  readonly #leaving: Map<string, Leaving> = new Map()
  /** Bytes of rejected requests, by address. */
  readonly #credits: Map<string, number> = new Map()
  readonly #events: Inbox<RtypeServerEvent> = new Inbox()
  #replies: { to: string; bytes: Uint8Array }[] = []
  #isClosing: boolean = false

  constructor(options: RtypeServerOptions, entropy: Entropy) {
    this.#options = options
    this.#entropy = entropy
    this.#guard = new OriginGuard(completeLimits(options.limits ?? {}), entropy)
    this.#maxPlayers = within('maxPlayers', options.maxPlayers ?? RTYPE_PLAYERS_MAX, 1, RTYPE_PLAYERS_MAX)
    this.#resendMs = within('resendMs', options.resendMs ?? 250, 100, 500)
    this.#timeoutMs = within('timeoutMs', options.timeoutMs ?? 10_000, 1000, 60_000)
  }

  /** The clients that have a seat. */
  get peers(): RtypePeer[] {
    return [...this.#seats.values()].map(({ peer }) => peer)
  }

  /** Clients that were accepted and have not answered yet. */
  get guests(): number {
    return this.#guests.size
  }

  /** Handles one datagram. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const seat = this.#seats.get(from)
    if (seat !== undefined && this.#isFlood(now, seat)) return
    const read = decodeRtype(bytes, length, this.#options)
    if (typeof read === 'string') this.#drop(read)
    else if (read.packet.type === 'CLIENT_CONNECT') this.#handleConnect(now, from, read.packet, length)
    else if (seat !== undefined && !this.#isProof(from, read.packet)) this.#handlePeer(now, seat, bytes, length)
    else this.#handleStranger(now, from, read, bytes, length)
  }

  /** The next event, those of the highest priority first. */
  poll(): RtypeServerEvent | undefined {
    return this.#events.poll()
  }

  /** Sends a packet to a client. A client that acknowledges nothing is removed. */
  send(now: Millis, peer: RtypePeer, packet: RtypePacket, flags: number = 0): 'queued' | 'too-large' | 'closed' {
    const seat = this.#seats.get(peer.address)
    if (seat === undefined || seat.peer !== peer) return 'closed'
    const result = seat.link.send(now, packet, flags)
    if (result !== 'full') return result
    this.#remove(now, seat, RTYPE.DISCONNECT.GENERIC_ERROR, true)
    return 'closed'
  }

  /** Removes a client. */
  kick(now: Millis, peer: RtypePeer, reason: number = RTYPE.DISCONNECT.KICKED_BY_SERVER): void {
    const seat = this.#seats.get(peer.address)
    if (seat?.peer === peer) this.#remove(now, seat, reason, true)
  }

  /** Removes all clients, and rejects new ones from now on. */
  close(now: Millis): void {
    this.#isClosing = true
    for (const seat of [...this.#seats.values()]) this.#remove(now, seat, RTYPE.DISCONNECT.KICKED_BY_SERVER, true)
  }

  /** Sends what is due, removes silent clients, and returns the time of the next call at the latest. */
  drain(now: Millis, send: (to: string, bytes: Uint8Array, length: number) => void): Millis {
    for (const { to, bytes } of this.#replies) send(to, bytes, bytes.length)
    this.#replies = []
    this.#forgetGuests(now)
    for (const seat of [...this.#seats.values()]) {
      const isSilent = now - seat.heartbeatAt >= this.#timeoutMs || seat.link.unackedMs(now) >= this.#timeoutMs
      if (isSilent) this.#remove(now, seat, RTYPE.DISCONNECT.TIMEOUT, true)
    }
    let next = this.#guests.size > 0 ? now + GUEST_MS : Infinity
    for (const [address, { link, heartbeatAt }] of this.#seats) {
      flush(now, address, link, send)
      next = Math.min(next, link.nextAt(), heartbeatAt + this.#timeoutMs)
    }
    for (const [address, { seat, until }] of this.#leaving) {
      flush(now, address, seat.link, send)
      next = Math.min(next, seat.link.nextAt(), until)
      if (now >= until) this.#leaving.delete(address)
    }
    return next
  }

  /** How many packets were sent again to a client, and how many are not acknowledged. */
  statsOf(peer: RtypePeer): { readonly resent: number; readonly unacked: number; readonly congested: number } {
    const { resent = 0, unacked = 0, congested = 0 } = this.#seats.get(peer.address)?.link ?? {}
    return { resent, unacked, congested }
  }

  #handleConnect(now: Millis, from: string, packet: RtypePacketOf<'CLIENT_CONNECT'>, length: number): void {
    if (!this.#guard.mayChallenge(now, from)) return this.#drop('limited')
    const { clientId, playerName } = packet
    const seat = this.#seats.get(from)
    if (seat?.peer.clientId === clientId) return this.#accept(from, seat.peer.playerId)
    const rejection = this.#rejectionOf(from, packet)
    if (rejection !== undefined) return this.#reject(from, length, rejection.code, rejection.text)
    const known = this.#guests.get(from)
    if (known?.peer.clientId === clientId) return this.#accept(from, known.peer.playerId)
    if (this.#guard.hasManyGuests(from, this.#guests.keys())) return this.#drop('limited')
    const peer = { playerId: this.#drawId(), clientId, name: playerName, address: from }
    keep(this.#guests, from, { peer, at: now }, GUESTS_MAX)
    this.#accept(from, peer.playerId)
  }

  #rejectionOf(
    from: string,
    { protocolVersion, playerName, clientId }: RtypePacketOf<'CLIENT_CONNECT'>,
  ): { readonly code: number; readonly text: string } | undefined {
    const { REJECT } = RTYPE
    if (protocolVersion !== RTYPE_VERSION) {
      const text = `Protocol version ${RTYPE_VERSION} expected, got ${protocolVersion}.`
      return { code: REJECT.INCOMPATIBLE_PROTOCOL_VERSION, text }
    }
    if (playerName.trim() === '' || CONTROL_CHARACTERS.test(playerName)) {
      return { code: REJECT.INVALID_PLAYER_NAME, text: 'A name has 1 to 31 bytes of printable text.' }
    }
    if (this.#options.isBanned?.(clientId, from) === true) {
      return { code: REJECT.BANNED_CLIENT, text: 'This client is banned.' }
    }
    if (this.#isClosing) return { code: REJECT.GENERIC_ERROR, text: 'The server is shutting down.' }
    const isReturning = [...this.#seats.values()].some(({ peer }) => peer.clientId === clientId)
    if (isReturning || this.#seats.size < this.#maxPlayers) return undefined
    return { code: REJECT.SERVER_FULL, text: `The server is full (${this.#maxPlayers} players).` }
  }

  #accept(to: string, assignedPlayerId: number): void {
    const { gameInstanceId = 1, tickRate = 60 } = this.#options
    const packet = {
      type: 'SERVER_ACCEPT', assignedPlayerId, maxPlayers: this.#maxPlayers, gameInstanceId, serverTickrate: tickRate,
    } as const
    this.#reply(to, packet)
  }

  /** Answers once the requests of this address were longer than the answer. */
  #reject(to: string, length: number, rejectCode: number, reasonMessage: string): void {
    const credit = (this.#credits.get(to) ?? 0) + length
    this.#credits.delete(to)
    if (credit >= REJECT_BYTES) return this.#reply(to, { type: 'SERVER_REJECT', rejectCode, reasonMessage })
    keep(this.#credits, to, credit, RTYPE_CREDITS_MAX)
  }

  #reply(to: string, packet: RtypePacket): void {
    if (this.#replies.length >= PENDING_REPLIES_MAX) return this.#drop('limited')
    const bytes = new Uint8Array(REJECT_BYTES)
    const length = encodeRtype(packet, ACCEPT_SEQUENCE, 0, bytes)
    this.#replies.push({ to, bytes: bytes.subarray(0, length) })
  }

  /** Whether a guest shows with this packet that it received its player id. */
  #isProof(from: string, packet: RtypePacket): boolean {
    const guest = this.#guests.get(from)
    const isAnswer = packet.type === 'HEARTBEAT' || packet.type === 'PLAYER_INPUT'
    return guest !== undefined && isAnswer && packet.playerId === guest.peer.playerId
  }

  #handleStranger(now: Millis, from: string, { packet }: RtypeMessage, bytes: Uint8Array, length: number): void {
    const leaving = this.#leaving.get(from)
    if (leaving !== undefined) {
      // Its last packets are still acknowledged, and its acknowledgements end our repeats.
      const { seat } = leaving
      const last = seat.link.receive(now, bytes, length, (each) => isFrom(seat.peer, each))
      if (typeof last !== 'string') acknowledge(seat.link, last.packet)
      if (!this.#isProof(from, packet)) return
    }
    const guest = this.#guests.get(from)
    if (guest === undefined || !this.#isProof(from, packet)) return this.#drop('stranger')
    this.#seatGuest(now, guest.peer, bytes, length)
  }

  #seatGuest(now: Millis, peer: RtypePeer, bytes: Uint8Array, length: number): void {
    // A client that connects again, from the same or another address, replaces its old seat.
    const before = this.#seats.get(peer.address)
      ?? [...this.#seats.values()].find((seat) => seat.peer.clientId === peer.clientId)
    if (before !== undefined) this.#seats.delete(before.peer.address)
    const addresses = [...this.#seats.keys()]
    if (this.#seats.size >= this.#maxPlayers || this.#guard.isCrowded(peer.address, addresses)) {
      if (before !== undefined) this.#seats.set(before.peer.address, before)
      // Other clients took the last seat after its SERVER_ACCEPT. A SERVER_REJECT would be longer than what it sent.
      // It stays a guest: if this answer is lost, its next packet gets another one, or the seat that became free.
      const { clientId } = peer
      this.#reply(peer.address, { type: 'CLIENT_DISCONNECT', clientId, reason: RTYPE.DISCONNECT.KICKED_BY_SERVER })
      return
    }
    const link = new RtypeLink(now, peer.clientId, ACCEPT_SEQUENCE + 1, this.#resendMs, this.#options)
    const seat = { peer, link, heartbeatAt: now, inputSequence: undefined, datagrams: 0, secondAt: now }
    this.#guests.delete(peer.address)
    this.#leaving.delete(peer.address)
    this.#seats.set(peer.address, seat)
    const isSame = before?.peer.clientId === peer.clientId
    if (before !== undefined && !isSame) {
      this.#events.add(0, { kind: 'leave', peer: before.peer, reason: RTYPE.DISCONNECT.NORMAL })
    }
    this.#events.add(0, { kind: 'join', peer, replaces: isSame ? before?.peer : undefined })
    this.#handlePeer(now, seat, bytes, length)
  }

  #handlePeer(now: Millis, seat: Seat, bytes: Uint8Array, length: number): void {
    const { peer, link } = seat
    const read = link.receive(now, bytes, length, (packet) => isFrom(peer, packet))
    if (typeof read === 'string') return this.#drop(read)
    const { packet, header } = read
    if (packet.type === 'HEARTBEAT') seat.heartbeatAt = now
    else if (packet.type === 'ACKNOWLEDGMENT') acknowledge(link, packet)
    else if (packet.type === 'PING') {
      const { clientTimestamp } = packet
      link.send(now, { type: 'PONG', clientTimestamp, serverTimestamp: link.timestamp(now) })
    } else if (packet.type === 'CLIENT_DISCONNECT') this.#remove(now, seat, packet.reason, false)
    else if (packet.type === 'PLAYER_INPUT') {
      const isStale = seat.inputSequence !== undefined && !isNewer32(header.sequence, seat.inputSequence)
      if (isStale) return this.#drop('stale')
      seat.inputSequence = header.sequence
      this.#events.add(priorityOf(header), { kind: 'input', peer, input: packet })
    } else this.#drop('direction')
  }

  /** Counts the datagrams of a client in a second, and removes it at ten times what is expected. */
  #isFlood(now: Millis, seat: Seat): boolean {
    if (now - seat.secondAt >= 1000) {
      seat.secondAt = now
      seat.datagrams = 0
    }
    if (++seat.datagrams <= PEER_PACKETS_PER_SECOND) return false
    this.#drop('flood')
    const isOver = seat.datagrams > PEER_PACKETS_PER_SECOND * INBOUND_END_TIMES
    if (isOver) this.#remove(now, seat, RTYPE.DISCONNECT.CLIENT_ERROR, true)
    return true
  }

  #remove(now: Millis, seat: Seat, reason: number, needsPacket: boolean): void {
    const { peer, link } = seat
    if (this.#seats.get(peer.address) === seat) this.#seats.delete(peer.address)
    if (needsPacket) link.send(now, { type: 'CLIENT_DISCONNECT', clientId: peer.clientId, reason })
    keep(this.#leaving, peer.address, { seat, until: now + RTYPE_LEAVING_MS }, RTYPE_LEAVING_MAX)
    this.#events.add(0, { kind: 'leave', peer, reason })
  }

  #forgetGuests(now: Millis): void {
    for (const [address, { at }] of this.#guests) {
      if (now - at < GUEST_MS) break
      this.#guests.delete(address)
    }
  }

  /** Not 0, which means no player in several packets, and not in use. */
  #drawId(): number {
    const drawn = new Uint8Array(4)
    for (let tries = 0; tries < 8; tries++) {
      this.#entropy.fill(drawn)
      const id = read32(drawn, 0)
      if (id !== 0 && ![...this.#seats.values()].some(({ peer }) => peer.playerId === id)) return id
    }
    return 1
  }

  #drop(reason: RtypeServerDrop): void {
    this.drops.set(reason, (this.drops.get(reason) ?? 0) + 1)
  }
}

/** Whether a packet carries the id that only this client has. */
function isFrom({ playerId, clientId }: RtypePeer, packet: RtypePacket): boolean {
  if (packet.type === 'HEARTBEAT' || packet.type === 'PLAYER_INPUT') return packet.playerId === playerId
  return 'clientId' in packet && packet.clientId === clientId
}

function acknowledge(link: RtypeLink, packet: RtypePacket): void {
  if (packet.type === 'ACKNOWLEDGMENT') link.handleAck(packet.ackedSequence)
}

/** Adds an entry as the newest, and drops the oldest if there are too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= max) return
    map.delete(oldest)
  }
}

function flush(
  now: Millis,
  to: string,
  link: RtypeLink,
  send: (to: string, bytes: Uint8Array, length: number) => void,
): void {
  for (let bytes = link.poll(now); bytes !== undefined; bytes = link.poll(now)) {
    if (bytes.length >= RTYPE_HEADER_BYTES) send(to, bytes, bytes.length)
  }
}

function within(path: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value
  throw new ConfigError(path, `out of range (expected ${min} to ${max}, got ${value})`, 'give a number in this range.')
}
