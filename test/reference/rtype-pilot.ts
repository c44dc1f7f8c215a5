/**
 * A player of the R-Type shooter that knows only what a client received: it avoids close entities, lines up with the
 * nearest enemy, collects power-ups and fires. It imports nothing from the engine or the game.
 */

import type { JsonObject, RtypeMeaning } from './rtype-checker.ts'

interface Thing {
  readonly type: number
  x: number
  y: number
}

const [PLAYER, ENEMY, BOSS, ENEMY_SHOT, POWERUP, OBSTACLE] = [1, 2, 3, 5, 6, 7]
const [UP, DOWN, LEFT, RIGHT, FIRE, CHARGE, SPECIAL] = [1, 2, 4, 8, 0x10, 0x20, 0x40]
const TRANSFORM = 1
/** Distances in pixels of the field, 960 by 540. */
const FEAR = 95
const FRONT_MAX = 330

/** Keeps track of entities, and decides what to press. */
export class ReferencePilot {
  readonly things: Map<number, Thing> = new Map()
  /** A reckless pilot flies into the nearest enemy and avoids nothing. */
  readonly isReckless: boolean
  #read = 0

  constructor(isReckless: boolean = false) {
    this.isReckless = isReckless
  }

  /** Reads what arrived since the last call. */
  follow(received: readonly RtypeMeaning[]): void {
    for (; this.#read < received.length; this.#read++) this.#apply(received[this.#read]!)
  }

  /** The bits to press at a time in ms. `place` is its number among the players, from 0. */
  press(ownId: number, place: number, ms: number): number {
    const me = this.things.get(ownId)
    const special = ms % 7000 < 40 ? SPECIAL : 0
    if (me === undefined) return FIRE
    const goal = this.#goal(me, place)
    let [side, rise] = [Math.sign(goal.x - me.x) * 0.5, Math.sign(goal.y - me.y) * 0.6]
    if (Math.abs(goal.x - me.x) < 15) side = 0
    if (Math.abs(goal.y - me.y) < 12) rise = 0
    for (const { type, x, y } of this.isReckless ? [] : this.things.values()) {
      if (type !== ENEMY && type !== BOSS && type !== ENEMY_SHOT && type !== OBSTACLE) continue
      const reach = type === BOSS ? FEAR + 90 : FEAR
      const [dx, dy] = [me.x - x, me.y - y]
      const distance = Math.hypot(dx, dy) || 1
      if (distance > reach) continue
      const push = ((reach - distance) / reach) * 2.5
      side += (dx / distance) * push
      rise += (Math.abs(dy) < 4 ? (me.y > 235 ? -1 : 1) : dy / distance) * push
    }
    const bits = (side > 0.3 ? RIGHT : side < -0.3 ? LEFT : 0) | (rise > 0.3 ? DOWN : rise < -0.3 ? UP : 0)
    // A charged shot from time to time, otherwise fire.
    return bits | special | (ms % 9000 < 1000 ? CHARGE : FIRE)
  }

  #goal(me: Thing, place: number): { x: number; y: number } {
    const home = { x: 130 + place * 30, y: 100 + place * 105 }
    let [best, least] = [home, Infinity]
    for (const { type, x, y } of this.things.values()) {
      if (type === POWERUP && x < FRONT_MAX && Math.abs(y - me.y) < 260) return { x, y }
      if ((type !== ENEMY && type !== BOSS) || x < me.x + 70) continue
      const distance = Math.abs(y - me.y) + Math.abs(x - me.x) * 0.4 + Math.abs(y - home.y)
      if (distance < least) [best, least] = [{ x: this.isReckless ? x : home.x, y }, distance]
    }
    return best
  }

  #apply({ name, fields }: RtypeMeaning): void {
    const id = Number(fields['entity_id'])
    const type = Number(fields['entity_type'])
    if (name === 'ENTITY_SPAWN') {
      this.things.set(id, { type, x: Number(fields['position_x']), y: Number(fields['position_y']) })
    } else if (name === 'ENTITY_DESTROY') this.things.delete(id)
    else if (name === 'ENTITY_FULL_STATE') {
      const place = list(fields['components']).find((each) => each['component_type'] === TRANSFORM)
      if (place !== undefined) this.things.set(id, { type, x: Number(place['pos_x']), y: Number(place['pos_y']) })
    } else if (name === 'TRANSFORM_SNAPSHOT' || name === 'TRANSFORM_SNAPSHOT_DELTA') {
      for (const entry of list(fields['entries'])) {
        const thing = this.things.get(Number(entry['entity_id']))
        if (thing !== undefined) [thing.x, thing.y] = [Number(entry['pos_x']), Number(entry['pos_y'])]
      }
    }
  }

  /** How many entities of the type player it knows. */
  get players(): number {
    return [...this.things.values()].filter(({ type }) => type === PLAYER).length
  }
}

function list(value: JsonObject[string] | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value as readonly JsonObject[] : []
}
