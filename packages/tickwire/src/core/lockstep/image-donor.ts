/**
 * Gives the image of a tick to the relay, which passes it on to clients that join or return. A witness gives the digest
 * of its own image, so that the relay can tell a wrong image from a right one without the game.
 */

import type { Tick } from '../base/time.ts'
import type { Sha256 } from '../order/seed-share.ts'
import type { SyncMessage } from '../order/sync-messages.ts'
import { encodeWorld } from '../world/world-image.ts'
import type { History } from './desync/history.ts'

type Wanted = Extract<SyncMessage, { kind: 'wanted' }>

/** Images that a relay may want at the same time: one for clients that join, one for the recording. */
const WANTED_MAX = 4

/** Answers a relay that wants images. */
export class ImageDonor {
  readonly #history: History
  readonly #sha256: Sha256
  readonly #send: (message: SyncMessage) => void
  /** Ticks that are not stepped yet. */
  #waiting: Wanted[] = []

  constructor(history: History, sha256: Sha256, send: (message: SyncMessage) => void) {
    this.#history = history
    this.#sha256 = sha256
    this.#send = send
  }

  /** The relay wants the image of a tick, or its digest. A tick that is too long ago is not answered. */
  handleWanted(wanted: Wanted, now: Tick): void {
    if (wanted.tick <= now) this.#give(wanted)
    else if (this.#waiting.length < WANTED_MAX) this.#waiting.push(wanted)
  }

  /** A tick was stepped, and is kept. */
  handleStepped(tick: Tick): void {
    if (this.#waiting.length === 0) return
    const due = this.#waiting.filter((wanted) => wanted.tick <= tick)
    this.#waiting = this.#waiting.filter((wanted) => wanted.tick > tick)
    for (const wanted of due) this.#give(wanted)
  }

  /** The connection is another one: what was wanted on the old one is void. */
  restart(): void {
    this.#waiting = []
  }

  #give({ tick, isWhole }: Wanted): void {
    const history = this.#history
    const kept = history.open(tick)
    if (kept === undefined) return
    const image = history.borrow(() => encodeWorld(kept.world))
    history.discard(kept.world)
    if (image === undefined) return
    if (isWhole) this.#send({ kind: 'image', tick, bytes: image })
    else this.#send({ kind: 'digest', tick, bytes: this.#sha256(image) })
  }
}
