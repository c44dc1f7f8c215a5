/**
 * What an R-Type client knows: entities, level, score and health. It draws the field as text, and describes packets in
 * plain words.
 */

import type { Millis } from '../../core/base/time.ts'
import { RtypeMotion } from '../../core/rtype-session/motion.ts'
import type { RtypePacket } from '../../core/rtype/packet-table.ts'
import { RTYPE } from '../../core/rtype/values.ts'

/** The characters of entities in a drawing. Indexed by entity type. */
const SIGNS = ['?', '>', '<', 'B', '-', '*', '+', '#', '.']
const KINDS = ['things', 'players', 'enemies', 'bosses', 'shots', 'enemy shots', 'power-ups', 'obstacles', 'scenery']
const POWERUPS = ['speed', 'weapon', 'Force', 'shield', 'extra life', 'invincibility']
const ENDS = ['victory', 'defeat', 'abandoned']
/** The field is at least this large; entities beyond it make it larger. */
const WIDTH = 960
const HEIGHT = 540

/** The world as it was received. */
export class WorldView {
  /** The type of each entity, by its id. */
  readonly entities: Map<number, number> = new Map()
  /** The player id of this client; 0 before it is known. */
  ownId: number = 0
  level: number = 0
  score: number = 0
  health: number = 0
  readonly #motion = new RtypeMotion()
  #right: number = WIDTH
  #bottom: number = HEIGHT

  /** Applies a packet that arrived now. Returns a sentence about it if it is an event that people care about. */
  handle(now: Millis, packet: RtypePacket): string | undefined {
    this.#motion.handle(now, packet)
    switch (packet.type) {
      case 'SERVER_ACCEPT':
        this.ownId = packet.assignedPlayerId
        return `accepted as player ${packet.assignedPlayerId}: ${packet.maxPlayers} seats, `
          + `match ${packet.gameInstanceId}, ${packet.serverTickrate} ticks a second`
      case 'ENTITY_SPAWN':
        this.entities.set(packet.entityId, packet.entityType)
        if (packet.entityType === RTYPE.ENTITY.PLAYER) return `${this.#player(packet.entityId)} appears`
        return packet.entityType === RTYPE.ENTITY.ENEMY_BOSS ? 'a boss appears' : undefined
      case 'ENTITY_FULL_STATE':
        this.entities.set(packet.entityId, packet.entityType)
        return undefined
      case 'ENTITY_DESTROY': return this.#destroy(packet.entityId)
      case 'HEALTH_SNAPSHOT': case 'HEALTH_SNAPSHOT_DELTA':
        for (const { entityId, value } of packet.entities) {
          if (entityId === this.ownId) this.health = value.currentHealth
        }
        return undefined
      default: return this.#event(packet)
    }
  }

  /** One line about the state. */
  summary(): string {
    const counts = KINDS.map((kind, type) => ({ kind, count: this.#count(type) })).filter(({ count }) => count > 0)
    const listed = counts.map(({ kind, count }) => `${kind} ${count}`).join(', ')
    return `level ${this.level}, score ${this.score}, health ${this.health}; ${listed || 'no entities'}`
  }

  /** The field now, as lines of text. The ship of this client is `@`. */
  draw(now: Millis, columns: number, rows: number): string[] {
    const cells = Array.from({ length: rows }, () => Array.from({ length: columns }, () => ' '))
    for (const [id, type] of [...this.entities].sort(([, a], [, b]) => b - a)) {
      const { x, y } = this.#motion.place(now, id) ?? { x: -1, y: -1 }
      if (type === RTYPE.ENTITY.PLAYER) this.#enlarge(x, y)
      const row = cells[Math.floor((y / this.#bottom) * rows)]
      const column = Math.floor((x / this.#right) * columns)
      const sign = id === this.ownId ? '@' : SIGNS[type] ?? '?'
      if (row !== undefined && column >= 0 && column < columns) row[column] = sign
    }
    const edge = `+${'-'.repeat(columns)}+`
    return [edge, ...cells.map((row) => `|${row.join('')}|`), edge]
  }

  #event(packet: RtypePacket): string | undefined {
    switch (packet.type) {
      case 'SERVER_REJECT': return `rejected (code ${packet.rejectCode}): ${packet.reasonMessage}`
      case 'CLIENT_DISCONNECT': return `disconnected by the server (reason ${packet.reason})`
      case 'GAME_START': return `the game starts with ${packet.playerCount} players`
      case 'GAME_END': return `the game ends: ${ENDS[packet.endReason] ?? `reason ${packet.endReason}`}`
      case 'LEVEL_START':
        this.level = packet.levelId
        return `level ${packet.levelId}, ${packet.levelName}, about ${packet.estimatedDurationS} s`
      case 'LEVEL_COMPLETE': return `level ${packet.completedLevel} complete after ${packet.completionTimeS} s`
      case 'PLAYER_HIT':
        return `${this.#player(packet.playerId)} is hit for ${packet.damage}, ${packet.remainingHealth} left`
      case 'PLAYER_DEATH': return `${this.#player(packet.playerId)} dies`
      case 'POWERUP_PICKUP':
        return `${this.#player(packet.playerId)} takes ${POWERUPS[packet.powerupType] ?? 'a power-up'}`
      case 'SCORE_UPDATE':
        if (packet.playerId === this.ownId) this.score = packet.newScore
        return undefined
      default: return undefined
    }
  }

  #destroy(id: number): string | undefined {
    const type = this.entities.get(id)
    this.entities.delete(id)
    return type === RTYPE.ENTITY.ENEMY_BOSS ? 'the boss is gone' : undefined
  }

  /** A field is as large as its players go. */
  #enlarge(x: number, y: number): void {
    this.#right = Math.max(this.#right, x + 1)
    this.#bottom = Math.max(this.#bottom, y + 1)
  }

  #player(id: number): string {
    return id === this.ownId ? 'your ship' : `player ${id}`
  }

  #count(type: number): number {
    let count = 0
    for (const each of this.entities.values()) if (each === type) count++
    return count
  }
}
