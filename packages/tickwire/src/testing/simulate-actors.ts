/**
 * Who lives in a simulated match: players at their ends of cables, the authority at the other end of all, and their screens.
 */

import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import { createClientHost, type ClientHost, type ClientHostOptions } from '../core/game/client-host.ts'
import type { Game } from '../core/game/define-game.ts'
import type { ServerHost } from '../core/game/server-host.ts'
import type { View } from '../core/game/view.ts'
import type { Shape } from '../core/schema/field.ts'
import { MemoryLink, type Weather } from './memory-link.ts'
import type { SimActor } from './sim-clock.ts'
import { Dice } from './sim-entropy.ts'

/** One player at his end of a cable. */
export class SimPlayer<I extends Shape> implements SimActor {
  readonly host: ClientHost<I>
  readonly link: MemoryLink
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt: Millis = 0

  constructor(game: Game<I>, seed: number, weather: Weather, options: Partial<ClientHostOptions>) {
    this.host = createClientHost(game, { entropy: new Dice(seed ^ 0xc11), ...options })
    this.link = new MemoryLink(seed, weather)
  }

  nextAt(): Millis {
    return Math.min(this.#nextAt, this.link.nextAt(1))
  }

  wake(now: Millis): void {
    for (let length = this.#poll(now); length >= 0; length = this.#poll(now)) {
      this.host.handleDatagram(now, 'server', this.#incoming, length)
    }
    this.host.tick(now)
    this.#nextAt = this.host.drain(now, { send: (_to, bytes, length) => this.link.send(now, 1, bytes, length) })
  }

  #poll(now: Millis): number {
    return this.link.poll(now, 1, this.#incoming)
  }
}

/** The authority at the other end of all cables; a player's address is his number. */
export class SimServer<I extends Shape> implements SimActor {
  readonly #host: ServerHost<I>
  readonly #players: readonly SimPlayer<I>[]
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt: Millis = 0

  constructor(host: ServerHost<I>, players: readonly SimPlayer<I>[]) {
    this.#host = host
    this.#players = players
  }

  nextAt(): Millis {
    return this.#players.reduce((earliest, player) => Math.min(earliest, player.link.nextAt(0)), this.#nextAt)
  }

  wake(now: Millis): void {
    this.#players.forEach(({ link }, index) => {
      for (let length = link.poll(now, 0, this.#incoming); length >= 0; length = link.poll(now, 0, this.#incoming)) {
        this.#host.handleDatagram(now, String(index), this.#incoming, length)
      }
    })
    this.#host.tick(now)
    this.#nextAt = this.#host.drain(now, {
      send: (to, bytes, length) => this.#players[Number(to)]?.link.send(now, 0, bytes, length),
    })
  }
}

/** A player's screen. */
export class SimDrawer<I extends Shape> implements SimActor {
  readonly #host: ClientHost<I>
  readonly #everyMs: number
  readonly #draw: (view: View, now: Millis) => void
  #nextAt: Millis

  constructor(host: ClientHost<I>, now: Millis, everyMs: number, draw: (view: View, now: Millis) => void) {
    this.#host = host
    this.#everyMs = everyMs
    this.#draw = draw
    this.#nextAt = now
  }

  nextAt(): Millis {
    return this.#nextAt
  }

  wake(now: Millis): void {
    this.#nextAt += this.#everyMs
    this.#draw(this.#host.draw(now), now)
  }
}
