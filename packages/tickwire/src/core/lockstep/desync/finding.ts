/** What a diverged client found out: the differences by name with both values, and the line of code. */

import type { ObjectId, Tick } from '../../base/time.ts'
import { loadField } from '../../schema/values.ts'
import { NO_TYPE } from '../../world/object-table.ts'
import { valueText } from '../../world/locate-difference.ts'
import type { World } from '../../world/world.ts'
import { siteText } from './code-site.ts'
import type { TraceFinding } from './search.ts'
import type { TraceRecord } from './write-trace.ts'

/** One difference between a diverged client and the majority. */
export interface NamedDifference {
  /** Where it is. */
  readonly in: 'field' | 'existence' | 'generator' | 'allocator' | 'external'
  /** The entity, of a field or an object. */
  readonly entity?: string
  /** The object. */
  readonly id?: ObjectId
  /** The field. `owner` counts as one. */
  readonly field?: string
  /** The value of the diverged client and that of the majority, as text. */
  readonly values?: readonly [own: string, majority: string]
}

/** What a diverged client found out. */
export interface DesyncFinding {
  /** The tick in which the worlds differ. */
  readonly tick: Tick
  /** How many objects differ. 0: none, or a whole image was needed. */
  readonly objects: number
  /** The entities of those objects. */
  readonly entities: readonly string[]
  /** The first differences, at most 8. */
  readonly differences: readonly NamedDifference[]
  /** Questions to the donor until the difference had a name. */
  readonly rounds: number
  /** Bytes of those questions and answers. */
  readonly bytes: number
  /** Why they differ. Undefined: not known yet. */
  readonly trace?: TraceFinding
  /** How long it took from the verdict until the world was repaired, in ms. Undefined: it was not. */
  readonly healMs?: number
  /** All of this as one line. */
  readonly text: string
}

const DIFFERENCES_MAX = 8

/** The differences between the local world and the majority's. `indexes`: objects to look at; empty: all. */
export function nameDifferences(own: World, majority: World, indexes: readonly number[]): NamedDifference[] {
  const found: NamedDifference[] = []
  const end = Math.max(own.objects.highWater, majority.objects.highWater)
  const all = indexes.length > 0 ? indexes : Array.from({ length: end }, (_, index) => index)
  for (const index of all) {
    if (found.length >= DIFFERENCES_MAX) break
    compareObjects(own, majority, index, found)
  }
  if (own.prng.state.some((word, at) => word !== majority.prng.state[at])) {
    found.push({ in: 'generator', values: [hexOf(own.prng.state), hexOf(majority.prng.state)] })
  }
  if (own.external.hash() !== majority.external.hash()) found.push({ in: 'external' })
  if (found.length === 0) found.push({ in: 'allocator' })
  return found
}

function compareObjects(a: World, b: World, index: number, found: NamedDifference[]): void {
  const [typeA, typeB] = [typeAt(a, index), typeAt(b, index)]
  const [idA, idB] = [a, b].map(({ objects }, at) => [typeA, typeB][at] === NO_TYPE ? 0 : objects.idAt(index))
  if (typeA !== typeB || idA !== idB) {
    const type = typeA === NO_TYPE ? typeB : typeA
    if (type === NO_TYPE) return
    const entity = a.stores[type].schema.name
    found.push({ in: 'existence', entity, id: idA || idB, values: [lives(idA), lives(idB)] })
    return
  }
  if (typeA === NO_TYPE) return
  const { schema: { name: entity, members, leaves, cellCount }, heap } = a.stores[typeA]
  const [ownerA, ownerB] = [a.objects.ownerAt(index), b.objects.ownerAt(index)]
  if (ownerA !== ownerB)
    found.push({ in: 'field', entity, id: idA, field: 'owner', values: [String(ownerA), String(ownerB)] })
  for (const { name: field, firstLeaf, field: kind } of members) {
    const [valueA, valueB] = [a, b].map(({ objects, stores }) =>
      valueText(loadField(
        leaves, { leaf: firstLeaf }, kind, stores[typeA].cells, objects.slotAt(index) * cellCount, heap,
      )))
    if (valueA !== valueB && found.length < DIFFERENCES_MAX)
      found.push({ in: 'field', entity, id: idA, field, values: [valueA, valueB] })
  }
}

function typeAt({ objects }: World, index: number): number {
  return index < objects.highWater ? objects.typeAt(index) : NO_TYPE
}

function lives(id: ObjectId): string {
  return id === 0 ? 'none' : `object ${id}`
}

function hexOf(words: Uint32Array): string {
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join('')
}

/** One line: where, both values, and the line of code. */
export function findingText(tick: Tick, differences: readonly NamedDifference[], trace?: TraceFinding): string {
  const [first] = differences
  const where = first === undefined ? 'no difference found' : differenceLine(first)
  return `tick ${tick}: ${where}${trace === undefined ? '' : `; ${traceLine(trace)}`}`
}

function differenceLine({ in: place, entity, id, field, values }: NamedDifference): string {
  const what = place === 'field' ? `${entity} ${id}, ${field}` : place === 'existence' ? `${entity} ${id}` : place
  return values === undefined ? what : `${what}, ${values[0]} against ${values[1]}`
}

function traceLine({ kind, own, theirs }: TraceFinding): string {
  switch (kind) {
    case 'write': return `first difference: ${recordLine(own)} against ${recordLine(theirs)}`
    case 'outside': return 'the world was written outside of step, or step read something outside of the world'
    case 'unsteady': return 'step gives another result each time: it reads something outside of the world'
    case 'same': return 'all writes are equal'
    default: return 'the tick could not be stepped again'
  }
}

function recordLine(record: TraceRecord | undefined): string {
  if (record === undefined) return 'nothing'
  const { number, kind, entity, id, field, value, site } = record
  const object = id === 0 ? entity : `${entity} ${id}`
  return `${kind} ${number}, ${object} ${field} = ${value}${site === undefined ? '' : `, ${siteText(site)}`}`
}
