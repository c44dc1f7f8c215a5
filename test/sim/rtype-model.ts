/**
 * The world as an R-Type client must understand it, from received packets alone. Packets arrive in any order, so each
 * value counts only if its sequence is newer than that of the last value for the same component.
 */

import type { JsonObject, RtypeMeaning } from '../reference/rtype-checker.ts'

const TRANSFORM = 1
const HEALTH = 3

interface Known {
  isThere: boolean
  sequence: number
  readonly components: Map<number, { readonly isThere: boolean; readonly sequence: number }>
}

/** The values of one component, as of the newest tick. */
interface Values {
  tick: number
  readonly fulls: Map<number, Map<number, string>>
  current: Map<number, string>
}

export class RtypeModel {
  readonly #known = new Map<number, Known>()
  readonly #values: { readonly [component: number]: Values } = {
    [TRANSFORM]: { tick: -1, fulls: new Map(), current: new Map() },
    [HEALTH]: { tick: -1, fulls: new Map(), current: new Map() },
  }
  #read = 0

  follow(received: readonly RtypeMeaning[]): void {
    for (; this.#read < received.length; this.#read++) this.#apply(received[this.#read]!)
  }

  /** The entities, sorted: id, place, health, and whether it has the component POWERUP. */
  entities(): string[] {
    const lines: string[] = []
    for (const [id, { isThere, components }] of this.#known) {
      if (!isThere) continue
      const hasPower = components.get(10)?.isThere === true
      lines.push(line(id, this.#values[TRANSFORM]!.current.get(id), this.#values[HEALTH]!.current.get(id), hasPower))
    }
    return lines.sort()
  }

  #apply({ name, fields, sequence }: RtypeMeaning): void {
    const id = Number(fields['entity_id'])
    if (name === 'ENTITY_SPAWN') this.#appear(id, sequence)
    else if (name === 'ENTITY_FULL_STATE') {
      this.#appear(id, sequence)
      for (const each of list(fields['components'])) this.#component(id, Number(each['component_type']), true, sequence)
    } else if (name === 'ENTITY_DESTROY') {
      const known = this.#of(id)
      if (sequence > known.sequence) Object.assign(known, { isThere: false, sequence })
    } else if (name === 'COMPONENT_ADD') this.#component(id, Number(fields['component_type']), true, sequence)
    else if (name === 'COMPONENT_REMOVE') this.#component(id, Number(fields['component_type']), false, sequence)
    else if (name.startsWith('TRANSFORM_SNAPSHOT')) this.#snapshot(TRANSFORM, fields, ['pos_x', 'pos_y'])
    else if (name.startsWith('HEALTH_SNAPSHOT')) this.#snapshot(HEALTH, fields, ['current_health'])
  }

  #of(id: number): Known {
    let known = this.#known.get(id)
    if (known === undefined) this.#known.set(id, known = { isThere: false, sequence: -1, components: new Map() })
    return known
  }

  #appear(id: number, sequence: number): void {
    const known = this.#of(id)
    if (sequence > known.sequence) Object.assign(known, { isThere: true, sequence })
  }

  #component(id: number, type: number, isThere: boolean, sequence: number): void {
    const { components } = this.#of(id)
    if (sequence > (components.get(type)?.sequence ?? -1)) components.set(type, { isThere, sequence })
  }

  #snapshot(component: number, fields: JsonObject, names: readonly string[]): void {
    const values = this.#values[component]!
    const tick = Number(fields['world_tick'])
    const base = fields['base_tick'] === undefined ? undefined : values.fulls.get(Number(fields['base_tick']))
    // A delta whose base was lost cannot be used.
    if (fields['base_tick'] !== undefined && base === undefined) return
    // Several packets of one tick complete each other.
    const state = new Map(base ?? values.fulls.get(tick) ?? [])
    for (const entry of list(fields['entries'])) {
      state.set(Number(entry['entity_id']), names.map((name) => Number(entry[name])).join(' '))
    }
    if (base === undefined) values.fulls.set(tick, state)
    if (tick < values.tick) return
    values.tick = tick
    values.current = state
  }
}

/** One entity as text. */
export function line(id: number, place: string | undefined, health: string | undefined, hasPower: boolean): string {
  return `${id} at ${place}, health ${health}${hasPower ? ', powered' : ''}`
}

function list(value: JsonObject[string] | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value as readonly JsonObject[] : []
}

/** What the server knows of a seated client. */
export interface Seated {
  readonly marks: { readonly mark: number; readonly at: number }[]
  lastInput: number
  input: number
}
