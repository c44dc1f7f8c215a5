/**
 * Gives the image of a tick to the relay, which passes it on to clients that join or return. A witness gives the digest
 * of its own image, so that the relay can detect a wrong image without the game.
 *
 *   wanted ──▶ its tick is stepped: a copy of the world ──▶ a slice of the image in each tick ──▶ image, or digest
 *
 * The slices keep the draws of a page short: a world of 2,000 objects takes three, one of 65,536 a hundred.
 */

import { IMAGE_SLICE_BYTES } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import type { Sha256 } from '../order/seed-share.ts'
import { joinSnapshot, type SyncMessage } from '../order/sync-messages.ts'
import type { World } from '../world/world.ts'
import { WorldEncoder } from '../world/world-image.ts'
import type { History } from './desync/history.ts'

type Wanted = Extract<SyncMessage, { kind: 'wanted' }>

/** An image that is being encoded. */
interface Giving {
  readonly wanted: Wanted
  readonly world: World
  readonly roster: Uint8Array
  readonly encoder: WorldEncoder
}

/** Images that a relay may want at the same time: one for clients that join, one for the recording. */
const WANTED_MAX = 4

/** Answers a relay that wants images. */
export class ImageDonor {
  readonly #history: History
  readonly #sha256: Sha256
  readonly #send: (message: SyncMessage) => void
  /** Ticks that are not stepped yet. */
  #waiting: Wanted[] = []
  /** The first one is encoded, the others wait. */
  #giving: Giving[] = []

  constructor(history: History, sha256: Sha256, send: (message: SyncMessage) => void) {
    this.#history = history
    this.#sha256 = sha256
    this.#send = send
  }

  /** The relay wants the image of a tick, or its digest. A tick that is too long ago is not answered. */
  handleWanted(wanted: Wanted, now: Tick): void {
    if (this.#waiting.length + this.#giving.length >= WANTED_MAX) return
    if (wanted.tick <= now) this.#begin(wanted)
    else this.#waiting.push(wanted)
  }

  /** A tick was stepped, and is kept. */
  handleStepped(tick: Tick): void {
    this.#advance()
    if (this.#waiting.length === 0) return
    const due = this.#waiting.filter((wanted) => wanted.tick <= tick)
    this.#waiting = this.#waiting.filter((wanted) => wanted.tick > tick)
    for (const wanted of due) this.#begin(wanted)
  }

  /** There is a new connection: requests on the old one are void. */
  restart(): void {
    this.#waiting = []
    for (const { world } of this.#giving) this.#history.discard(world)
    this.#giving = []
  }

  /** Copies the world of the tick. */
  #begin(wanted: Wanted): void {
    const history = this.#history
    const kept = history.open(wanted.tick)
    if (kept === undefined) return
    const { world, roster } = kept
    const encoder = history.borrow(() => new WorldEncoder(world))
    this.#giving.push({ wanted, world, roster: roster.encode(), encoder })
  }

  /** Encodes a slice. */
  #advance(): void {
    const [giving] = this.#giving
    if (giving === undefined || !giving.encoder.advance(IMAGE_SLICE_BYTES)) return
    this.#giving.shift()
    this.#history.discard(giving.world)
    const { wanted: { tick, isWhole }, roster, encoder: { image } } = giving
    if (image === undefined) return
    const bytes = joinSnapshot(roster, image)
    if (isWhole) this.#send({ kind: 'image', tick, bytes })
    else this.#send({ kind: 'digest', tick, bytes: this.#sha256(bytes) })
  }
}
