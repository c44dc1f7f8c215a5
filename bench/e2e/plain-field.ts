/** The game of the end-to-end bench as plain arrays, for servers that send the whole state. */

import { angleOf, FIELD, moved, type Keys } from './workload.ts'

export class PlainField {
  /** Per player: x, y in tenths, angle, shots. */
  readonly players: [x: number, y: number, angle: number, fired: number][] = []
  readonly #keys: (Keys | undefined)[] = []

  /** Adds a player. Returns its index. */
  join(): number {
    const index = this.players.length
    this.players.push([((index * 37) % FIELD) * 10, ((index * 91) % FIELD) * 10, 0, 0])
    return index
  }

  press(index: number, keys: Keys): void {
    this.#keys[index] = keys
  }

  step(): void {
    this.players.forEach((player, index) => {
      const keys = this.#keys[index]
      if (keys === undefined) return
      player[0] = moved(player[0] / 10, keys.dx) * 10
      player[1] = moved(player[1] / 10, keys.dy) * 10
      player[2] = angleOf(keys)
      if (keys.fire) player[3] = (player[3] + 1) & 255
    })
  }
}
