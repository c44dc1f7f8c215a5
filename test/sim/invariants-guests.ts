/**
 * I16 for clients that were accepted and have not sent a sealed packet yet: none of them gets a reset, whatever address
 * it sends from.
 *
 * Observed from outside, by what the server sends: an Accepted makes an id a guest, for as long as guests are kept; the
 * id belongs to a connection when that opens. A client that asked again from the same address may have lost its earlier
 * place, and is skipped.
 */

import { GUEST_MS } from '../../packages/tickwire/src/core/base/limits.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { HandshakeMessage, readHandshake } from '../../packages/tickwire/src/core/connection/handshake.ts'
import { PACKET_TYPE, PacketHeader, readHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { hold } from './invariants.ts'

/** The guests of one server. */
export class GuestWatch {
  /** By id: when the server last accepted it, by its own clock, and at which address. */
  readonly #guests = new Map<string, { readonly at: number; readonly to: string }>()
  readonly #header = new PacketHeader()
  readonly #words = new HandshakeMessage()

  handleOpened(connection: Connection): void {
    this.#guests.delete(nameOf(connection))
  }

  handleSent(now: number, to: string, bytes: Uint8Array, length: number): void {
    const header = this.#header
    if (readHeader(bytes, length, header) !== 'ok') return
    const name = nameOf(header)
    // The packet has an id that the server gave out: it belongs to a connection, or its guest was refused.
    if (header.type !== PACKET_TYPE.handshake) this.#guests.delete(name)
    else {
      const kind = readHandshake(header, bytes, length, this.#words)
      if (kind === 'accepted') this.#expect(now, to, name)
      else if (kind === 'reset')
        hold(!this.#isAwaited(now, name), 'I16', () => `a guest at ${to} got a reset`)
    }
  }

  #expect(now: number, to: string, name: string): void {
    for (const [other, guest] of this.#guests) if (guest.to === to) this.#guests.delete(other)
    this.#guests.set(name, { at: now, to })
  }

  #isAwaited(now: number, name: string): boolean {
    const guest = this.#guests.get(name)
    return guest !== undefined && now < guest.at + GUEST_MS
  }
}

function nameOf({ idLo, idHi }: { readonly idLo: number; readonly idHi: number }): string {
  return `${idLo} ${idHi}`
}
