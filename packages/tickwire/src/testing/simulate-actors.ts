/**
 * The actors of a simulated match besides its players: the server at the other end of all cables, and the players'
 * screens.
 */

import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import type { View } from '../core/game/view.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { Shape } from '../core/schema/field.ts'
import type { MemoryLink } from './memory-link.ts'
import type { SimActor } from './sim-clock.ts'
import type { SimCable, SimPlayer } from './simulate-player.ts'
import { StallingActor } from './simulate-stalls.ts'

export { SimPlayer } from './simulate-player.ts'

/** The server at the other end of all cables. A player's address is its number, and that of its connection. */
export class SimServer<I extends Shape> extends StallingActor {
  /** Undefined while the server is down: datagrams to it are lost. */
  host: RoomHost | undefined
  readonly #players: readonly SimPlayer<I>[]
  /** The cables that something arrived on, by address. */
  readonly #links = new Map<string, MemoryLink>()
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt: Millis = 0

  constructor(host: RoomHost, players: readonly SimPlayer<I>[]) {
    super()
    this.host = host
    this.#players = players
  }

  /** Another process of the server begins. */
  begin(now: Millis, host: RoomHost): void {
    this.host = host
    this.#nextAt = now
    this.endStall()
  }

  protected dueAt(): Millis {
    let earliest = this.host === undefined ? Infinity : this.#nextAt
    for (const { cables } of this.#players)
      for (const { link } of cables) earliest = Math.min(earliest, link.nextAt(0))
    return earliest
  }

  wake(now: Millis): void {
    this.#players.forEach(({ cables }, player) => {
      for (const cable of cables) this.#receive(now, addressOf(player, cable), cable)
    })
    if (this.host === undefined) return
    this.host.tick(now)
    this.#nextAt = this.host.drain(now, {
      send: (to, bytes, length) => this.#links.get(to)?.send(now, 0, bytes, length),
    })
  }

  #receive(now: Millis, from: string, { link }: SimCable): void {
    for (let length = link.poll(now, 0, this.#incoming); length >= 0; length = link.poll(now, 0, this.#incoming)) {
      this.#links.set(from, link)
      this.host?.handleDatagram(now, from, this.#incoming, length)
    }
  }
}

function addressOf(player: number, { life }: SimCable): string {
  return life === 0 ? String(player) : `${player}.${life}`
}

/** A player's screen. It stops when the player's host stops. */
export class SimDrawer<I extends Shape> implements SimActor {
  readonly #player: SimPlayer<I>
  readonly #everyMs: number
  readonly #draw: (view: View, now: Millis) => void
  #nextAt: Millis

  constructor(player: SimPlayer<I>, now: Millis, everyMs: number, draw: (view: View, now: Millis) => void) {
    this.#player = player
    this.#everyMs = everyMs
    this.#draw = draw
    this.#nextAt = now
  }

  nextAt(): Millis {
    return this.#player.afterStall(this.#nextAt)
  }

  wake(now: Millis): void {
    // Frames that were missed during a stall are not drawn later.
    while (this.#nextAt <= now) this.#nextAt += this.#everyMs
    this.#draw(this.#player.host.draw(now), now)
  }
}
