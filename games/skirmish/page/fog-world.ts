/**
 * The world of a page that receives only what its team sees. Units out of sight are gone. Buildings and crystals stay
 * as they were seen last, until the team sees their place without them: that is the memory of this page alone.
 */

import type { Entity, ObjectId, ObjectView, Tick, View } from 'tickwire'
import { Building, Crystal, Seat, Unit } from '../definitions.ts'
import { columnOf, rowOf } from '../map-cells.ts'
import { BUILDINGS } from '../rules.ts'
import { Sight } from '../sight.ts'

type BuildingView = ObjectView<typeof Building>
type CrystalView = ObjectView<typeof Crystal>

/** An object that is no more in the world of this page, and where it was. */
interface Vanished { readonly id: ObjectId; readonly seat: number; readonly x: number; readonly y: number }

export class FogWorld {
  readonly seed: number
  readonly #view: View
  readonly #sight = new Sight()
  /** As they were seen last, with those in view. */
  readonly #buildings = new Map<ObjectId, BuildingView>()
  readonly #crystals = new Map<ObjectId, CrystalView>()
  /** Buildings that are remembered and not in view, and those that the last tick forgot. */
  readonly #ghosts = new Set<ObjectId>()
  #team = -1

  constructor(view: View, seed: number) {
    this.#view = view
    this.seed = seed
  }

  get tick(): Tick {
    return this.#view.tick
  }

  each<E extends Entity>(entity: E): Iterable<ObjectView<E>> {
    const known = this.#knownOf(entity)
    const seen = this.#view.each(entity)
    if (known === undefined) return seen
    const ghosts = [...known.values()].filter(({ id }) => this.#view.get(entity, id) === null)
    return [...seen, ...ghosts]
  }

  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    return this.#view.get(entity, id) ?? (id === null ? null : this.#knownOf(entity)?.get(id) ?? null)
  }

  count(entity: Entity): number {
    return [...this.each(entity)].length
  }

  /** Whether a building is remembered, and not in view. */
  isGhost(id: ObjectId): boolean {
    return this.#buildings.has(id) && this.#view.get(Building, id) === null
  }

  /** Whether an object that vanished in the last tick has fallen. Others left the sight, or fell unseen before. */
  hasFallen({ id, seat, x, y }: Vanished): boolean {
    if (this.#ghosts.has(id)) return false
    for (const { number, team } of this.#view.each(Seat)) if (number === seat && team === this.#team) return true
    return this.isInSight(x, y)
  }

  /** Whether the own team sees all around a point: what vanishes there has fallen, and did not walk out of sight. */
  isInSight(x: number, y: number): boolean {
    const isSeen = (dx: number, dy: number): boolean => this.#sight.isSeen(x + dx, y + dy, this.#team)
    return this.#team >= 0 && isSeen(-1, 0) && isSeen(1, 0) && isSeen(0, -1) && isSeen(0, 1)
  }

  /** Call it after every tick of the view: remembers what is in view, and forgets what is seen to be gone. */
  note(player: number): void {
    const view = this.#view
    this.#team = -1
    for (const seat of view.each(Seat)) if (seat.player === player && player !== 0) this.#team = seat.team
    const own = this.#team < 0 ? 0 : 1 << this.#team
    this.#sight.look(view.each(Seat), view.each(Unit), view.each(Building), own)
    for (const id of this.#ghosts) if (!this.#buildings.has(id)) this.#ghosts.delete(id)
    for (const { id, at, kind } of this.#buildings.values()) {
      const middle = BUILDINGS[kind]!.size / 2
      if (view.get(Building, id) !== null) this.#ghosts.delete(id)
      else if (this.isInSight(columnOf(at) + middle, rowOf(at) + middle)) this.#buildings.delete(id)
      else this.#ghosts.add(id)
    }
    for (const { id, at } of this.#crystals.values()) {
      if (view.get(Crystal, id) === null && this.isInSight(columnOf(at) + 0.5, rowOf(at) + 0.5))
        this.#crystals.delete(id)
    }
    for (const { id, owner, kind, seat, at, hp, builtAt } of view.each(Building)) {
      this.#buildings.set(id, {
        id, owner, isAlive: true, kind, seat, at, hp, builtAt,
        queue: 0, trainedAt: 0, hasRally: false, rally: 0, target: 0, readyAt: 0, seenBy: 0,
      })
    }
    for (const { id, owner, at, left } of view.each(Crystal))
      this.#crystals.set(id, { id, owner, isAlive: true, at, left, seenBy: 0 })
  }

  /** The remembered objects of an entity. The map of an entity has its objects only. */
  #knownOf<E extends Entity>(entity: E): ReadonlyMap<ObjectId, ObjectView<E>> | undefined {
    const known = (entity as Entity) === Building ? this.#buildings
      : (entity as Entity) === Crystal ? this.#crystals : undefined
    return known as ReadonlyMap<ObjectId, unknown> as ReadonlyMap<ObjectId, ObjectView<E>> | undefined
  }
}
