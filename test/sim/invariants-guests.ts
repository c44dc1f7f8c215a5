/**
 * I16 of those who were let in and have not spoken yet: none of them is told that he is nobody, wherever he speaks from.
 *
 * Looked at from outside, by what the server says: Accepted makes a guest of an id, for as long as guests are kept; it is a connection's when that
 * opens. Who asked again from the same address may have lost the place he had before, and is passed over.
 */

import { GUEST_MS } from '../../packages/tickwire/src/core/base/limits.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { HandshakeMessage, readHandshake } from '../../packages/tickwire/src/core/connection/handshake.ts'
import { PACKET_TYPE, PacketHeader, readHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { hold } from './invariants.ts'

/** The guests of one server. */
export class GuestWatch {
  /** By id: when the server last said so, by its own clock, and where. */
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
    // Under an id that it was given: it is a connection's, or its guest was turned away.
    if (header.type !== PACKET_TYPE.handshake) this.#guests.delete(name)
    else {
      const kind = readHandshake(header, bytes, length, this.#words)
      if (kind === 'accepted') this.#expect(now, to, name)
      else if (kind === 'reset') hold(!this.#isAwaited(now, name), 'I16', () => `a guest was told at ${to} that he is nobody`)
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
