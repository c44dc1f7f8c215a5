/**
 * The inputs of all players in the last ticks, so that the sync test can step these ticks again.
 */

import type { PeerId, Tick } from '../base/time.ts'
import type { Shape } from '../schema/field.ts'
import type { HeldInput, InputTable, Waiting } from './input-table.ts'

interface Entry {
  tick: Tick
  held: (HeldInput & { readonly peer: PeerId })[]
  messages: Waiting[]
}

export class InputLog<I extends Shape> {
  readonly #table: InputTable<I>
  readonly #entries: Entry[]

  constructor(table: InputTable<I>, depth: number) {
    this.#table = table
    this.#entries = Array.from({ length: depth + 1 }, () => ({ tick: -1, held: [], messages: [] }))
  }

  /** Records the inputs of a tick. */
  write(tick: Tick, players: Iterable<{ readonly peer: { readonly id: PeerId }; readonly inputs: HeldInput }>): void {
    const entry = this.#entry(tick)
    entry.tick = tick
    entry.held = [...players].map(({ peer, inputs: { current, isHeld, viewTick } }) => ({
      peer: peer.id,
      current: current.slice(),
      isHeld,
      viewTick,
    }))
    entry.messages = this.#table.said
  }

  /** Restores the inputs of a tick into the table. */
  read(tick: Tick): void {
    const { tick: known, held, messages } = this.#entry(tick)
    if (known !== tick) return
    for (const input of held) this.#table.load(input.peer, input)
    this.#table.said = messages
  }

  #entry(tick: Tick): Entry {
    return this.#entries[tick % this.#entries.length]
  }
}
