/** The entities of an R-Type world: they move, change, come and go, and some are hidden from some clients. */

import type { RtypeEntity, RtypeWorldStream } from '../../packages/tickwire/src/core/rtype-session/world-stream.ts'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { line } from './rtype-model.ts'

const FIRST = 12
const COUNT_MAX = 25
/** In the standstill one entity changes at the first time and changes back at the second. */
const TWITCH_MS = [700, 850] as const

interface Entity {
  x: number
  y: number
  health: number
  isPowered: boolean
  readonly isStill: boolean
}

export class RtypeEntities {
  readonly #dice: Dice
  readonly #all = new Map<number, Entity>()
  #next = 1
  #twitches = 0

  constructor(dice: Dice) {
    this.#dice = dice
    for (let each = 0; each < FIRST; each++) this.#add()
  }

  /** One tick. */
  move(stream: RtypeWorldStream): void {
    const dice = this.#dice
    for (const [id, entity] of this.#all) {
      if (!entity.isStill || dice.chance(0.01)) entity.x = (entity.x + 3) % 900
      // The value returns to that of the last full snapshot.
      if (dice.chance(0.02)) entity.y = entity.y === 7 ? 8 : 7
      if (dice.chance(0.01)) entity.health = Math.floor(dice.fraction() * 255)
      if (dice.chance(0.005)) entity.isPowered = !entity.isPowered
      if (dice.chance(0.003)) {
        stream.noteDestroyed(id, 0)
        this.#all.delete(id)
      }
    }
    if (this.#all.size < COUNT_MAX && dice.chance(0.08)) this.#add()
  }

  /** All have stood still for `stillMs`, but one entity changes its health once, and changes it back. */
  twitch(stillMs: number): void {
    if (this.#twitches >= TWITCH_MS.length || stillMs < TWITCH_MS[this.#twitches]!) return
    const more = this.#twitches++ === 0 ? 1 : -1
    const [first] = this.#all.values()
    if (first !== undefined) first.health += more
  }

  /** What the server shows. */
  describe(): RtypeEntity[] {
    return [...this.#all].map(([id, { x, y, health, isPowered }]) => ({
      id, type: 2, variant: 0, isPlayable: false,
      components: [
        { component: 'TRANSFORM', posX: x, posY: y, rotation: 0, scale: 1000 },
        { component: 'HEALTH', currentHealth: health, maxHealth: 255, currentShield: 0, maxShield: 0 },
        ...(isPowered ? [{ component: 'POWERUP', powerupType: 0, powerLevel: 1, remainingMs: 0 } as const] : []),
      ],
    }))
  }

  /** What a client has to know. */
  lines(clientId: number): string[] {
    return [...this.#all].filter(([id]) => isVisible(clientId, id))
      .map(([id, { x, y, health, isPowered }]) => line(id, `${x} ${y}`, `${health}`, isPowered)).sort()
  }

  #add(): void {
    const dice = this.#dice
    this.#all.set(this.#next++, {
      x: Math.floor(dice.fraction() * 900), y: Math.floor(dice.fraction() * 500), health: 100, isPowered: false,
      isStill: dice.chance(0.5),
    })
  }
}

/** Some entities are hidden from some clients. */
export function isVisible(clientId: number, id: number): boolean {
  return (clientId + id) % 5 !== 0
}
