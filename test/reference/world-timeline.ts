/**
 * The Timeline again, slow and simple: a Map from tick to a Map from id to a copy of the row. Of src it knows
 * nothing.
 */

export interface RememberedRow {
  readonly type: number
  readonly owner: number
  readonly row: readonly number[]
}

export type RememberedTick = ReadonlyMap<number, RememberedRow>

export class ReferenceTimeline {
  readonly windowTicks: number
  readonly #ticks = new Map<number, Map<number, RememberedRow>>()
  #newest = -1

  constructor(windowTicks: number) {
    this.windowTicks = windowTicks
  }

  get newest(): number {
    return this.#newest
  }

  /** The whole of a tick. */
  sample(tick: number, objects: RememberedTick): void {
    this.#ticks.set(tick, new Map(objects))
    this.#moveTo(tick)
  }

  /** One row of a tick. */
  put(tick: number, id: number, row: RememberedRow): boolean {
    if (tick <= this.#newest - this.windowTicks) return false
    const objects = this.#ticks.get(tick) ?? new Map<number, RememberedRow>()
    // One object lives at an index: a later row for the tick replaces an earlier one.
    for (const other of objects.keys()) if (other >>> 16 === id >>> 16) objects.delete(other)
    this.#ticks.set(tick, objects.set(id, row))
    this.#moveTo(Math.max(tick, this.#newest))
    return true
  }

  truncate(tick: number): void {
    for (const each of [...this.#ticks.keys()]) if (each > tick) this.#ticks.delete(each)
    this.#newest = Math.max(-1, ...this.#ticks.keys())
  }

  find(id: number, tick: number): RememberedRow | undefined {
    return this.#ticks.get(tick)?.get(id)
  }

  /**
   * Whether there is a tick after this one, up to the newest, at which the object was not what it was the tick before.
   */
  isChangedSince(id: number, tick: number): boolean {
    if (this.find(id, this.#newest) === undefined) return true
    for (let each = tick + 1; each <= this.#newest; each++) {
      if (JSON.stringify(this.find(id, each)) !== JSON.stringify(this.find(id, each - 1))) return true
    }
    return false
  }

  /** The newest remembered tick at which the object was written. */
  writtenAt(id: number): number {
    return Math.max(-1, ...[...this.#ticks].filter(([, objects]) => objects.has(id)).map(([tick]) => tick))
  }

  #moveTo(newest: number): void {
    this.#newest = newest
    for (const tick of [...this.#ticks.keys()]) if (tick <= newest - this.windowTicks) this.#ticks.delete(tick)
  }
}
