/**
 * Shows a world to R-Type clients: spawns, destroys, components that appear and disappear, and snapshots at their
 * rates.
 *
 * The game describes its entities for each tick (`RtypeEntity`); this file compares with what each client has and makes
 * packets. Six components have snapshots at a rate of their own; the others are sent when they appear, change or
 * disappear. Transforms and healths are sent as deltas while more than 70 % of the entities did not change since the
 * last full snapshot, which is sent at least every second: a client that lost one waits that long.
 *
 * Entities that a client cannot see are not sent to it. Invariant: a client is sent nothing about an entity before its
 * ENTITY_SPAWN or ENTITY_FULL_STATE, and nothing after its ENTITY_DESTROY.
 */

import { ConfigError } from '../base/assert.ts'
import { rtypeCapacity } from '../rtype/codec.ts'
import { RTYPE_COMPONENTS, type RtypeComponent, type RtypeComponentName } from '../rtype/components.ts'
import type { RtypePacket, RtypePacketName } from '../rtype/packet-table.ts'
import { RTYPE } from '../rtype/values.ts'
import type { RtypePeer } from './server-types.ts'

/** The components with snapshots: rate in Hz by default, and its bounds. */
const SNAPSHOTS = {
  TRANSFORM: { rate: 60, min: 30, max: 60 },
  VELOCITY: { rate: 30, min: 20, max: 30 },
  HEALTH: { rate: 20, min: 10, max: 20 },
  WEAPON: { rate: 10, min: 5, max: 10 },
  AI: { rate: 5, min: 2, max: 5 },
  ANIMATION: { rate: 15, min: 10, max: 20 },
} as const

/** A component that has snapshots. */
export type RtypeSnapshotName = keyof typeof SNAPSHOTS

const SNAPSHOT_NAMES = Object.keys(SNAPSHOTS) as RtypeSnapshotName[]
/** Above this part of unchanged entities a delta is sent. */
const UNCHANGED_MIN = 0.7
const FULL_MS = 1000

/** An entity of the game, as R-Type clients see it. */
export interface RtypeEntity {
  /** Unique while it exists. */
  readonly id: number
  /** One of `RTYPE.ENTITY`. */
  readonly type: number
  /** The kind of enemy, projectile or power-up; a number of the game. */
  readonly variant: number
  /** Whether a player steers it. */
  readonly isPlayable: boolean
  /** Its components. TRANSFORM must be among them. */
  readonly components: readonly Exclude<RtypeComponent, { component: 'OPAQUE' }>[]
}

/** How a world is shown. */
export interface RtypeWorldOptions {
  /** Ticks a second of the game. Default 60. */
  readonly tickRate?: number
  /** Snapshots a second, by component, within the bounds of the protocol. Default 60, 30, 20, 10, 5 and 15. */
  readonly rates?: { readonly [name in RtypeSnapshotName]?: number }
  /** Whether a client can see an entity. Default: it sees all. */
  readonly isVisible?: (peer: RtypePeer, entity: RtypeEntity) => boolean
}

type Values = { readonly [field: string]: unknown }

interface Known {
  readonly components: Map<RtypeComponentName, Values>
  x: number
  y: number
}

interface Base {
  readonly tick: number
  readonly at: number
  readonly values: ReadonlyMap<number, Values>
  /** Whether the last delta over this base had entries. */
  hasDelta: boolean
}

interface Viewer {
  readonly known: Map<number, Known>
  readonly bases: Map<RtypeSnapshotName, Base>
  /** The next packets about entities are full states. */
  needsFull: boolean
}

type Send = (peer: RtypePeer, packet: RtypePacket) => void

/** Shows one world to any number of clients. */
export class RtypeWorldStream {
  readonly #tickRate: number
  readonly #rates: { readonly [name in RtypeSnapshotName]: number }
  readonly #isVisible: (peer: RtypePeer, entity: RtypeEntity) => boolean
  readonly #viewers: Map<RtypePeer, Viewer> = new Map()
  /** Why entities are gone, until the tick that notices. */
  readonly #reasons: Map<number, number> = new Map()

  constructor(options: RtypeWorldOptions = {}) {
    this.#tickRate = options.tickRate ?? 60
    this.#isVisible = options.isVisible ?? (() => true)
    const rate = (name: RtypeSnapshotName): number => {
      const { rate: standard, min, max } = SNAPSHOTS[name]
      const given = options.rates?.[name] ?? standard
      if (given >= min && given <= max) return given
      throw new ConfigError(`rates.${name}`, `out of range (expected ${min} to ${max} Hz, got ${given})`, 'change it.')
    }
    this.#rates = {
      TRANSFORM: rate('TRANSFORM'), VELOCITY: rate('VELOCITY'), HEALTH: rate('HEALTH'), WEAPON: rate('WEAPON'),
      AI: rate('AI'), ANIMATION: rate('ANIMATION'),
    }
  }

  /** Adds a client. A client that connects again gets full states instead of spawns. */
  add(peer: RtypePeer, isReturning: boolean = false): void {
    this.#viewers.set(peer, { known: new Map(), bases: new Map(), needsFull: isReturning })
  }

  /** Removes a client. */
  remove(peer: RtypePeer): void {
    this.#viewers.delete(peer)
  }

  /** Sends the full state of every entity to a client, for a client that has lost track. */
  resync(peer: RtypePeer): void {
    if (this.#viewers.has(peer)) this.add(peer, true)
  }

  /** Says why an entity is about to be gone: one of `RTYPE.DESTROY`. */
  noteDestroyed(id: number, reason: number): void {
    if (this.#viewers.size > 0) this.#reasons.set(id, reason)
  }

  /** Sends what this tick brings. */
  tick(now: number, worldTick: number, entities: readonly RtypeEntity[], send: Send): void {
    for (const [peer, viewer] of this.#viewers) {
      const seen = entities.filter((entity) => this.#isVisible(peer, entity))
      const put = (packet: RtypePacket): void => send(peer, packet)
      this.#lifecycle(viewer, seen, put)
      for (const name of SNAPSHOT_NAMES) this.#snapshot(now, worldTick, name, viewer, seen, put)
      viewer.needsFull = false
    }
    this.#reasons.clear()
  }

  #lifecycle(viewer: Viewer, seen: readonly RtypeEntity[], put: (packet: RtypePacket) => void): void {
    const ids = new Set(seen.map(({ id }) => id))
    for (const [entityId, { x, y }] of viewer.known) {
      if (ids.has(entityId)) continue
      viewer.known.delete(entityId)
      const destroyReason = this.#reasons.get(entityId) ?? RTYPE.DESTROY.OUT_OF_BOUNDS
      put({ type: 'ENTITY_DESTROY', entityId, destroyReason, posX: x, posY: y })
    }
    for (const entity of seen) {
      const known = viewer.known.get(entity.id) ?? this.#introduce(viewer, entity, put)
      const names = new Set<RtypeComponentName>()
      for (const component of entity.components) {
        names.add(component.component)
        if (component.component === 'TRANSFORM') [known.x, known.y] = [component.posX, component.posY]
        const before = known.components.get(component.component)
        known.components.set(component.component, component as Values)
        const isSnapshot = component.component in SNAPSHOTS
        if (before === undefined || (!isSnapshot && !isSame(before, component as Values))) {
          put({ type: 'COMPONENT_ADD', entityId: entity.id, added: component })
        }
      }
      for (const name of known.components.keys()) {
        if (names.has(name)) continue
        known.components.delete(name)
        put({ type: 'COMPONENT_REMOVE', entityId: entity.id, componentType: RTYPE_COMPONENTS[name].code })
      }
    }
  }

  /** The spawn says where an entity is and how it moves; snapshots follow. A full state says everything. */
  #introduce(viewer: Viewer, { id, type, variant, isPlayable, components }: RtypeEntity,
    put: (packet: RtypePacket) => void): Known {
    const known: Known = { components: new Map(), x: 0, y: 0 }
    viewer.known.set(id, known)
    if (viewer.needsFull) {
      for (const component of components) known.components.set(component.component, component as Values)
      put({ type: 'ENTITY_FULL_STATE', entityId: id, entityType: type, components })
      return known
    }
    let [posX, posY, velX, velY, initialHealth] = [0, 0, 0, 0, 0]
    for (const component of components) {
      if (component.component === 'TRANSFORM') [posX, posY] = [component.posX, component.posY]
      if (component.component === 'VELOCITY') [velX, velY] = [component.velX, component.velY]
      if (component.component === 'HEALTH') initialHealth = component.currentHealth
      if (component.component in SNAPSHOTS) known.components.set(component.component, component as Values)
    }
    const spawn = { entityId: id, entityType: type, mobVariant: variant, isPlayable }
    put({ type: 'ENTITY_SPAWN', ...spawn, posX, posY, velX, velY, initialHealth })
    return known
  }

  #snapshot(
    now: number,
    worldTick: number,
    name: RtypeSnapshotName,
    viewer: Viewer,
    seen: readonly RtypeEntity[],
    put: (packet: RtypePacket) => void,
  ): void {
    const values = new Map<number, Values>()
    for (const { id, components } of seen) {
      for (const component of components) if (component.component === name) values.set(id, component as Values)
    }
    const base = viewer.bases.get(name)
    const changed = [...values].filter(([id, value]) => !isSame(base?.values.get(id), value))
    // A weapon that changed is sent at once.
    const isUrgent = name === 'WEAPON' && changed.length > 0
    if (values.size === 0 || !(this.#isDue(worldTick, this.#rates[name]) || isUrgent)) return
    const canDelta = (name === 'TRANSFORM' || name === 'HEALTH') && base !== undefined && now - base.at < FULL_MS
    if (canDelta && 1 - changed.length / values.size > UNCHANGED_MIN) {
      // When all values are those of the base again, one empty delta says so.
      if (changed.length === 0 && !base.hasDelta) return
      base.hasDelta = changed.length > 0
      const type = name === 'TRANSFORM' ? 'TRANSFORM_SNAPSHOT_DELTA' : 'HEALTH_SNAPSHOT_DELTA'
      return putList(type, { worldTick, baseTick: base.tick }, changed, put)
    }
    putList(`${name}_SNAPSHOT`, { worldTick }, [...values], put)
    viewer.bases.set(name, { tick: worldTick, at: now, values, hasDelta: false })
  }

  /** Whether a stream of this rate sends in this tick. */
  #isDue(worldTick: number, rate: number): boolean {
    const sent = (tick: number): number => Math.floor((tick * rate) / this.#tickRate)
    return sent(worldTick) !== sent(worldTick - 1)
  }
}

/** One packet for as many entities as fit, all with the same tick. */
function putList(
  type: RtypePacketName,
  ticks: object,
  values: readonly (readonly [number, Values])[],
  put: (packet: RtypePacket) => void,
): void {
  const most = rtypeCapacity(type)
  for (let start = 0; start === 0 || start < values.length; start += most) {
    const entities = values.slice(start, start + most).map(([entityId, value]) => ({ entityId, value }))
    // reason: the entities have the component that the name of the packet says.
    put({ type, ...ticks, entities } as unknown as RtypePacket)
  }
}

function isSame(before: Values | undefined, after: Values): boolean {
  if (before === undefined) return false
  for (const field in after) if (before[field] !== after[field]) return false
  return true
}
