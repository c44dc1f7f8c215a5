/**
 * A UDP socket to one R-Type server, with the record of everything that arrived. Packets are written by the engine's
 * codec; `sendRaw` sends other bytes.
 */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { decodeRtype, encodeRtype, type RtypeMessage } from '../../core/rtype/codec.ts'
import type { RtypeFault } from '../../core/rtype/header.ts'
import type { RtypePacket } from '../../core/rtype/packet-table.ts'
import { RTYPE_VERSION } from '../../core/rtype/values.ts'
import { monotonicNow } from '../../node/clock.ts'
import { codeOf } from '../file-option.ts'

const DATAGRAM_BYTES_MAX = 1200

/** Where the server is. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly family: 4 | 6
  /** How long an answer may take, in ms. */
  readonly answerMs: number
}

/** A datagram of the server. */
export interface Arrival {
  /** In ms since the socket was opened. */
  readonly at: number
  readonly bytes: Uint8Array
  readonly read: RtypeMessage | RtypeFault
}

/** The socket. */
export class Wire {
  readonly arrivals: Arrival[] = []
  /** Called for each datagram, after it was recorded. */
  onArrival: (arrival: Arrival) => void = () => {}
  /** The system's error code, such as ECONNREFUSED; undefined without an error. */
  error: string | undefined = undefined
  readonly #socket: Socket
  readonly #openedAt: number = monotonicNow()
  #sequence: number = 0
  #acceptedAt: number | undefined = undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', (error) => { this.error ??= codeOf(error) })
    socket.on('message', (bytes) => {
      const copy = Uint8Array.from(bytes)
      const arrival = { at: this.now, bytes: copy, read: decodeRtype(copy, copy.length) }
      this.arrivals.push(arrival)
      this.onArrival(arrival)
    })
  }

  static async open({ host, port, family }: Target): Promise<Wire> {
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    const wire = new Wire(socket)
    socket.connect(port, host)
    await once(socket, 'connect')
    return wire
  }

  /** In ms since the socket was opened. */
  get now(): number {
    return monotonicNow() - this.#openedAt
  }

  /** The timestamp of a packet that is sent now: 0 before `accept`. */
  get timestamp(): number {
    return this.#acceptedAt === undefined ? 0 : Math.floor(this.now - this.#acceptedAt)
  }

  /** Timestamps count from now on. */
  accept(): void {
    this.#acceptedAt = this.now
  }

  /** The datagram of a packet, with the next sequence. */
  write(packet: RtypePacket, flags: number = 0): { readonly bytes: Uint8Array; readonly sequence: number } {
    const out = new Uint8Array(DATAGRAM_BYTES_MAX)
    const sequence = ++this.#sequence
    const length = encodeRtype(packet, sequence, this.timestamp, out, { flags })
    return { bytes: out.slice(0, length), sequence }
  }

  send(packet: RtypePacket, flags: number = 0): void {
    this.sendRaw(this.write(packet, flags).bytes)
  }

  connect(playerName: string, clientId: number, protocolVersion: number = RTYPE_VERSION): void {
    this.send({ type: 'CLIENT_CONNECT', protocolVersion, playerName, clientId })
  }

  sendRaw(bytes: Uint8Array): void {
    this.#socket.send(bytes, (error) => { if (error !== null) this.error ??= codeOf(error) })
  }

  close(): void {
    this.#socket.close()
  }
}
