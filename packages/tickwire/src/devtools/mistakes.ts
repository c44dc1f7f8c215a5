/** The last mispredictions of a client, each once, with what it was about. An onlooker. */

import type { ObjectId, Tick } from '../core/base/time.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import { describeMistake, type Mistake } from '../core/game/mistake-text.ts'
import type { Onlooker } from '../core/game/onlookers.ts'
import type { Shape } from '../core/schema/field.ts'

const KEPT = 64

export class Mistakes implements Onlooker {
  /** Ever. */
  count = 0
  /** The newest last. */
  readonly recent: Mistake[] = []
  readonly #host: ClientHost<Shape>

  constructor(host: ClientHost<Shape>) {
    this.#host = host
  }

  handleMistake(
    tick: Tick, type: number, id: ObjectId, predictedRows: Int32Array, predictedAt: number, toldRows: Int32Array, toldAt: number,
  ): void {
    // The same row is judged again with every word of it until it is put right.
    if (this.recent.some((known) => known.tick === tick && known.id === id)) return
    const mistake = describeMistake(this.#host, tick, type, id, predictedRows, predictedAt, toldRows, toldAt)
    if (mistake === undefined) return
    this.count++
    this.recent.push(mistake)
    if (this.recent.length > KEPT) this.recent.shift()
  }
}
