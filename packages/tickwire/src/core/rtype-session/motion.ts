/**
 * Where the entities of an R-Type client are between two snapshots, for drawing.
 *
 * ```
 *  others    drawn `delayMs` ago, between the two snapshots around that time; by their velocity if none is newer
 *  own ship  drawn now, by its velocity since the newest snapshot; what that was wrong by fades away
 * ```
 *
 * Ticks are the clock: the earliest arrival of a tick says how late the others are. A delta applies to the full
 * snapshot that it names. Without that snapshot only the places that it lists are known, and it is counted.
 */

import { RTYPE_TRACKS_MAX } from '../base/limits-rtype.ts'
import type { Millis } from '../base/time.ts'
import type { RtypePacket, RtypePacketOf } from '../rtype/packet-table.ts'

/** How entities are drawn. */
export interface RtypeMotionOptions {
  /** How far behind the newest snapshot others are drawn, in ms. Default: 100. */
  readonly delayMs?: Millis
}

/** A place on the field, in the units of the game. */
export interface RtypePlace {
  /** To the right. */
  readonly x: number
  /** Downwards. */
  readonly y: number
}

interface Sample extends RtypePlace {
  readonly at: Millis
}

interface Track {
  /** Oldest first. Never empty. */
  readonly samples: Sample[]
  velX: number
  velY: number
  /** The error of the drawn place at `wrongAt`. */
  wrongX: number
  wrongY: number
  wrongAt: Millis
}

type Snapshot = RtypePacketOf<'TRANSFORM_SNAPSHOT'> | RtypePacketOf<'TRANSFORM_SNAPSHOT_DELTA'>

const DELAY_MS = 100
/** Without a snapshot for this long an entity stands still. */
const COAST_MS = 250
/** An error fades within this time. */
const FADE_MS = 150
/** A larger difference is not an error: the entity was moved. */
const LEAP = 160
/** At 60 snapshots a second, half a second. */
const SAMPLES_MAX = 32
/** A path that became longer is believed slowly. */
const DRIFT = 0.01

/** Draws entities smoothly: interpolates others, predicts the local ship, and reconciles it. */
export class RtypeMotion {
  /** Deltas whose base did not arrive. */
  baselessCount = 0
  readonly #delayMs: Millis
  readonly #tracks = new Map<number, Track>()
  #base: { readonly tick: number; readonly places: Map<number, RtypePlace> } | undefined = undefined
  #ownId = 0
  #tickMs: Millis = 1000 / 60
  /** The local time of tick 0. */
  #zeroAt: Millis = Infinity

  constructor({ delayMs = DELAY_MS }: RtypeMotionOptions = {}) {
    this.#delayMs = delayMs
  }

  /** Applies a packet that arrived now. */
  handle(now: Millis, packet: RtypePacket): void {
    switch (packet.type) {
      case 'SERVER_ACCEPT':
        this.#ownId = packet.assignedPlayerId
        this.#tickMs = 1000 / Math.max(1, packet.serverTickrate)
        return
      case 'ENTITY_SPAWN': return this.#begin(now, packet.entityId, packet.posX, packet.posY, packet.velX, packet.velY)
      case 'ENTITY_FULL_STATE': {
        const place = packet.components.find((each) => each.component === 'TRANSFORM')
        const pace = packet.components.find((each) => each.component === 'VELOCITY')
        if (place !== undefined) this.#begin(now, packet.entityId, place.posX, place.posY, pace?.velX, pace?.velY)
        return
      }
      case 'ENTITY_DESTROY':
        this.#tracks.delete(packet.entityId)
        this.#base?.places.delete(packet.entityId)
        return
      case 'TRANSFORM_SNAPSHOT': case 'TRANSFORM_SNAPSHOT_DELTA': return this.#snapshot(now, packet)
      case 'VELOCITY_SNAPSHOT':
        for (const { entityId, value } of packet.entities) {
          const track = this.#tracks.get(entityId)
          if (track === undefined) continue
          this.#change(now, entityId, track, () => { [track.velX, track.velY] = [value.velX, value.velY] })
        }
        return
      default: return undefined
    }
  }

  /** Where an entity is drawn now. Undefined for an entity that does not exist. */
  place(now: Millis, entityId: number): RtypePlace | undefined {
    const track = this.#tracks.get(entityId)
    if (track === undefined) return undefined
    const at = this.#serverTime(now)
    return entityId === this.#ownId ? predict(track, at) : interpolate(track, at - this.#delayMs)
  }

  #serverTime(now: Millis): Millis {
    return this.#zeroAt === Infinity ? 0 : now - this.#zeroAt
  }

  #begin(now: Millis, id: number, x: number, y: number, velX: number = 0, velY: number = 0): void {
    const track = this.#tracks.get(id)
    const at = this.#serverTime(now)
    if (track !== undefined) return this.#add(now, id, track, { at, x, y })
    if (this.#tracks.size >= RTYPE_TRACKS_MAX) return
    this.#tracks.set(id, { samples: [{ at, x, y }], velX, velY, wrongX: 0, wrongY: 0, wrongAt: 0 })
  }

  #snapshot(now: Millis, packet: Snapshot): void {
    const { worldTick, entities } = packet
    const at = worldTick * this.#tickMs
    const zeroAt = now - at
    this.#zeroAt = zeroAt < this.#zeroAt ? zeroAt : this.#zeroAt + (zeroAt - this.#zeroAt) * DRIFT
    if (packet.type === 'TRANSFORM_SNAPSHOT') {
      // A snapshot in several packets has one tick. An old one that arrives late is not a base.
      if (this.#base === undefined || worldTick > this.#base.tick) this.#base = { tick: worldTick, places: new Map() }
    } else if (this.#base?.tick !== packet.baseTick) this.baselessCount++
    const base = this.#base
    const listed = new Set<number>()
    const isBase = packet.type === 'TRANSFORM_SNAPSHOT' && base?.tick === worldTick
    for (const { entityId, value: { posX, posY } } of entities) {
      const track = this.#tracks.get(entityId)
      if (track === undefined) continue
      listed.add(entityId)
      if (isBase) base.places.set(entityId, { x: posX, y: posY })
      this.#add(now, entityId, track, { at, x: posX, y: posY })
    }
    if (packet.type === 'TRANSFORM_SNAPSHOT' || base?.tick !== packet.baseTick) return
    // What a delta does not list is where it was in its base.
    for (const [id, { x, y }] of base.places) {
      const track = listed.has(id) ? undefined : this.#tracks.get(id)
      if (track !== undefined) this.#add(now, id, track, { at, x, y })
    }
  }

  #add(now: Millis, id: number, track: Track, sample: Sample): void {
    const { samples } = track
    const newest = samples.at(-1)
    if (newest !== undefined && sample.at <= newest.at) return
    this.#change(now, id, track, () => {
      samples.push(sample)
      if (samples.length > SAMPLES_MAX) samples.shift()
    })
  }

  /** Changes what is known of an entity. The local ship stays where it is drawn: the difference fades from now on. */
  #change(now: Millis, id: number, track: Track, change: () => void): void {
    const time = this.#serverTime(now)
    const before = id === this.#ownId ? predict(track, time) : undefined
    change()
    if (before === undefined) return
    track.wrongX = 0
    track.wrongY = 0
    const after = predict(track, time)
    const [wrongX, wrongY] = [before.x - after.x, before.y - after.y]
    if (Math.hypot(wrongX, wrongY) > LEAP) return
    track.wrongX = wrongX
    track.wrongY = wrongY
    track.wrongAt = time
  }
}

/** By its velocity since the newest sample, and what is left of the error. */
function predict({ samples, velX, velY, wrongX, wrongY, wrongAt }: Track, at: Millis): RtypePlace {
  const { x = 0, y = 0, at: from = at } = samples.at(-1) ?? {}
  const seconds = Math.min(COAST_MS, Math.max(0, at - from)) / 1000
  const left = Math.max(0, 1 - Math.max(0, at - wrongAt) / FADE_MS)
  return { x: x + velX * seconds + wrongX * left, y: y + velY * seconds + wrongY * left }
}

function interpolate(track: Track, at: Millis): RtypePlace {
  const { samples, velX, velY } = track
  for (let index = samples.length - 1; index >= 0; index--) {
    const from = samples[index]
    if (from === undefined || from.at > at) continue
    const to = samples[index + 1]
    if (to === undefined) {
      const seconds = Math.min(COAST_MS, at - from.at) / 1000
      return { x: from.x + velX * seconds, y: from.y + velY * seconds }
    }
    const part = (at - from.at) / (to.at - from.at)
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
  }
  const { x = 0, y = 0 } = samples[0] ?? {}
  return { x, y }
}
