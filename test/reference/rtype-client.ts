/**
 * A client of the R-Type protocol made from its document alone: it imports nothing from the engine. It connects, sends
 * heartbeats and inputs, acknowledges reliable packets once each time they arrive, and keeps what it received.
 *
 * Time and datagrams come from outside, so that it runs on a socket and in simulated time.
 */

import { readRtype, writeRtype, type JsonObject, type RtypeMeaning } from './rtype-checker.ts'

const RELIABLE = 1

export class ReferenceClient {
  readonly received: RtypeMeaning[] = []
  /** How often each reliable sequence arrived. */
  readonly reliable: Map<number, number> = new Map()
  readonly name: string
  readonly #byName = new Map<string, JsonObject[]>()
  readonly clientId: number
  playerId = 0
  state: 'connecting' | 'open' | 'rejected' | 'ended' = 'connecting'
  /** Datagrams that could not be read. */
  broken = 0
  /** Bits that the next inputs carry. */
  input = 0
  /** Whether heartbeats are sent. */
  hasHeartbeat = true
  /** Whether reliable packets are acknowledged. */
  doesAcknowledge = true
  rttMs = -1
  #sequence = 0
  #acceptedAt = 0
  #connectAt = 0
  #heartbeatAt = 0
  #inputAt = 0
  #pingAt = 0
  #out: Uint8Array[] = []
  #goodbye: { readonly bytes: Uint8Array; readonly sequence: number; at: number } | undefined = undefined

  constructor(name: string, clientId: number) {
    this.name = name
    this.clientId = clientId
  }

  /** All packets of a kind. */
  packets(name: string): readonly JsonObject[] {
    return this.#byName.get(name) ?? []
  }

  handle(now: number, bytes: Uint8Array): void {
    let read: RtypeMeaning
    try {
      read = readRtype(bytes)
    } catch {
      this.broken++
      return
    }
    if ((read.flags & RELIABLE) !== 0) {
      const count = this.reliable.get(read.sequence) ?? 0
      this.reliable.set(read.sequence, count + 1)
      if (this.doesAcknowledge) {
        const fields = { acked_sequence: read.sequence, received_timestamp: this.#time(now), client_id: this.clientId }
        this.write(now, 'ACKNOWLEDGMENT', fields)
      }
      if (count > 0) return
    }
    this.received.push(read)
    this.#byName.set(read.name, this.#byName.get(read.name) ?? [])
    this.#byName.get(read.name)!.push(read.fields)
    if (read.name === 'SERVER_ACCEPT' && this.state === 'connecting') {
      this.state = 'open'
      this.playerId = Number(read.fields['assigned_player_id'])
      this.#acceptedAt = now
    }
    if (read.name === 'SERVER_REJECT' && this.state === 'connecting') this.state = 'rejected'
    if (read.name === 'CLIENT_DISCONNECT') this.state = 'ended'
    if (read.name === 'ACKNOWLEDGMENT' && read.fields['acked_sequence'] === this.#goodbye?.sequence) {
      this.#goodbye = undefined
    }
    if (read.name === 'PONG') this.rttMs = this.#time(now) - Number(read.fields['client_timestamp'])
  }

  /** The datagrams that are due. */
  poll(now: number): Uint8Array[] {
    if (this.state === 'connecting' && now >= this.#connectAt) {
      this.write(now, 'CLIENT_CONNECT', { protocol_version: 1, player_name: this.name, client_id: this.clientId })
      this.#connectAt = now + 500
    }
    if (this.state === 'open') {
      if (this.hasHeartbeat && now >= this.#heartbeatAt) {
        this.write(now, 'HEARTBEAT', { player_id: this.playerId })
        this.#heartbeatAt = now + 1500
      }
      if (now >= this.#pingAt) {
        this.write(now, 'PING', { client_timestamp: this.#time(now), client_id: this.clientId })
        this.#pingAt = now + 2000
      }
      if (now >= this.#inputAt) {
        const aim = { aim_direction_x: 1000, aim_direction_y: 0 }
        this.write(now, 'PLAYER_INPUT', { player_id: this.playerId, input_state: this.input, ...aim })
        this.#inputAt = now + 16
      }
    }
    if (this.#goodbye !== undefined && now >= this.#goodbye.at) {
      this.#goodbye.at = now + 250
      this.#out.push(this.#goodbye.bytes)
    }
    const out = this.#out
    this.#out = []
    return out
  }

  write(now: number, name: string, fields: JsonObject, flags: number = 0): void {
    const meaning = { name, flags, sequence: ++this.#sequence, timestamp: this.#time(now), fields }
    this.#out.push(writeRtype(meaning))
  }

  /** Leaves: sends CLIENT_DISCONNECT every 250 ms until it is acknowledged. */
  leave(now: number): void {
    this.state = 'ended'
    this.write(now, 'CLIENT_DISCONNECT', { client_id: this.clientId, reason: 0 }, RELIABLE)
    this.#goodbye = { bytes: this.#out.at(-1)!, sequence: this.#sequence, at: now + 250 }
  }

  #time(now: number): number {
    return this.playerId === 0 ? 0 : Math.floor(now - this.#acceptedAt)
  }
}
