/** Where a match stands after a tick, as a relay has to know it, read from the events of its ticks. */

import type { PeerId } from '../base/time.ts'
import { eventsOf, type TickEvent } from '../order/tick-event.ts'
import type { TickLog } from '../order/tick-log.ts'

/** Where a match stands. */
export class MatchStanding {
  /** The players in the order of joining, and whether each is away. */
  readonly players: Map<PeerId, boolean> = new Map<PeerId, boolean>()
  /** The highest player so far. */
  lastPlayer: PeerId = 0
  percent = 100
  isPaused = false
  isHashFull = true
  hasEnded = false
  /** How often the match went on at another relay. */
  handovers = 0

  apply({ name, player, value }: TickEvent): void {
    switch (name) {
      case 'join':
        this.players.set(player, false)
        this.lastPlayer = Math.max(this.lastPlayer, player)
        break
      case 'leave':
        this.players.delete(player)
        break
      case 'away':
      case 'back':
        if (this.players.has(player)) this.players.set(player, name === 'away')
        break
      case 'pause':
      case 'resume':
        this.isPaused = name === 'pause'
        break
      case 'speed':
        this.percent = value
        break
      case 'hash':
        if (value <= 1) this.isHashFull = value === 1
        break
      case 'handover':
        this.handovers = value
        break
      case 'end':
        this.hasEnded = true
        break
      case 'deadline':
        break
    }
  }
}

/** Where the match of a log stands after its newest tick. */
export function standingOf(log: TickLog): MatchStanding {
  const standing = new MatchStanding()
  for (let tick = 1; tick <= log.newest; tick++) for (const event of eventsOf(log, tick)) standing.apply(event)
  return standing
}
