/**
 * The ids of predicted spawns in the view. A client gives a predicted spawn a provisional id. When the authority
 * reports the spawn, the object receives the id that the authority assigned.
 */

import { ENDED_SPAWNS_MAX } from '../base/limits.ts'
import type { ObjectId } from '../base/time.ts'
import type { Interpolator } from '../interpolate/interpolator.ts'
import type { Predictor } from '../predict/predictor.ts'
import type { World } from '../world/world.ts'
import type { OwnObjects } from './own-objects.ts'

export class SpawnRenames {
  readonly #world: World
  readonly #interpolator: Interpolator
  readonly #own: OwnObjects
  /** Provisional ids of objects that were shown and have ended, until the authority assigns their real ids. */
  readonly #ended = new Set<ObjectId>()

  constructor(world: World, interpolator: Interpolator, own: OwnObjects) {
    this.#world = world
    this.#interpolator = interpolator
    this.#own = own
  }

  /** Renames the objects whose spawn the authority has reported since the last call. */
  apply(predictor: Predictor): void {
    const { renamed } = predictor
    for (let at = 0; at < renamed.length; at += 2) this.#rename(renamed[at], renamed[at + 1])
    renamed.length = 0
  }

  /** An own object has ended. If its id is provisional, the real object must not be shown when its rows arrive. */
  handleEnded(predictor: Predictor, id: ObjectId): void {
    if (!predictor.isProvisional(id)) return
    this.#ended.add(id)
    for (const oldest of this.#ended) {
      if (this.#ended.size <= ENDED_SPAWNS_MAX) break
      this.#ended.delete(oldest)
    }
  }

  #rename(from: ObjectId, to: ObjectId): void {
    const handle = this.#world.atIndexOf(from)
    // The object was shown and has already ended; only now does the authority report its spawn.
    if (this.#ended.delete(from)) this.#interpolator.remove(to)
    if (handle?.id === from) this.#own.rename(handle, to)
  }
}
