/**
 * The rules of all entities of a game, sorted by how they are evaluated.
 *
 *   always            one set, the same for every client
 *   owner             nothing to do: an owner always knows its objects
 *   team, where       lists to scan for every client
 *   near              layers: entities with the same reach share a partition, whose squares fit that reach
 *
 * `anyOf` is split into its rules. Nothing here reads a world.
 */

import type { Entity } from '../../schema/definition.ts'
import { positionLeaves, type InterestRule } from '../../schema/interest.ts'
import { distanceSlope } from './weight.ts'

type NearRule = Extract<InterestRule, { readonly kind: 'near' }>
type WhereRule = Extract<InterestRule, { readonly kind: 'where' }>

/** The rules of one entity. */
export interface TypePolicy {
  readonly priority: number
  readonly isAlways: boolean
  readonly isTeam: boolean
  readonly where: readonly WhereRule[]
  /** Indexes of the layers that contain its objects. */
  readonly layers: readonly number[]
  /** Cells of its position; empty when it has none that a viewer may know. */
  readonly cells: readonly number[]
  /** How fast urgency falls with distance; 0 when it does not. */
  readonly slope: number
}

/** Entities with the same reach. */
export interface LayerPolicy {
  readonly reach: number
  readonly dimensions: number
  /** Indexed by type: the rule of that entity in this layer. */
  readonly rules: readonly (NearRule | undefined)[]
}

export interface Policies {
  /** Indexed by type. */
  readonly types: readonly TypePolicy[]
  readonly layers: readonly LayerPolicy[]
}

/** Sorts the rules of a game's entities. */
export function compilePolicies(entities: readonly Entity[]): Policies {
  const layers: { reach: number; dimensions: number; rules: (NearRule | undefined)[] }[] = []
  const flat = entities.map(({ interest }) => flatten(interest))
  const reachMax = Math.max(0, ...flat.flat().map((rule) => (rule.kind === 'near' ? rule.leave : 0)))
  const types = entities.map(({ schema, priority }, type): TypePolicy => {
    const rules = flat[type]
    const cells = positionLeaves(schema, ['all', 'team', 'owner']).map(({ cell }) => cell)
    const near = rules.filter((rule) => rule.kind === 'near')
    const own = near.map((rule) => {
      const at = layers.findIndex((layer) => layer.reach === rule.leave && layer.rules[type] === undefined)
      const layer = layers[at] ?? { reach: rule.leave, dimensions: 0, rules: entities.map(() => undefined) }
      layer.rules[type] = rule
      layer.dimensions = Math.max(layer.dimensions, cells.length)
      return at < 0 ? layers.push(layer) - 1 : at
    })
    // A position that only some clients may know must not affect when other clients are sent the object: then distance
    // counts for no client.
    const isPlain = cells.length > 0 && positionLeaves(schema, ['all']).length === cells.length
    const reach = near.length > 0 ? Math.max(...near.map(({ leave }) => leave)) : reachMax
    return {
      priority, cells,
      isAlways: rules.some(({ kind }) => kind === 'always'),
      isTeam: rules.some(({ kind }) => kind === 'team'),
      where: rules.filter((rule) => rule.kind === 'where'),
      layers: own,
      slope: isPlain && reach > 0 ? distanceSlope(reach) : 0,
    }
  })
  return { types, layers }
}

function flatten(rule: InterestRule): readonly Exclude<InterestRule, { readonly kind: 'any-of' }>[] {
  return rule.kind === 'any-of' ? rule.rules.flatMap(flatten) : [rule]
}
