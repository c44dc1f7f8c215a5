/** The last mispredictions of a client, each once, with its cause. It only observes. */

import type { ClientHost } from '../core/game/client-host.ts'
import { describeMistake, type Mistake } from '../core/game/mistake-text.ts'
import type { ClientObserver } from '../core/game/client-observers.ts'
import type { MistakeListener } from '../core/predict/predictor-options.ts'
import type { Shape } from '../core/schema/field.ts'

const KEPT = 64

export class Mistakes implements ClientObserver {
  /** Total number. */
  count = 0
  /** The newest is last. */
  readonly recent: Mistake[] = []
  readonly #host: ClientHost<Shape>

  constructor(host: ClientHost<Shape>) {
    this.#host = host
  }

  handleMistake(...facts: Parameters<MistakeListener>): void {
    const [tick, , id] = facts
    // The same row is judged again with every update of it until it is corrected.
    if (this.recent.some((known) => known.tick === tick && known.id === id)) return
    const mistake = describeMistake(this.#host, ...facts)
    if (mistake === undefined) return
    this.count++
    this.recent.push(mistake)
    if (this.recent.length > KEPT) this.recent.shift()
  }
}
