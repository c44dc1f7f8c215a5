/**
 * The rules of all entities of a game, sorted by how they are followed.
 *
 *   always            one set, the same for everyone
 *   owner             nothing to do: an owner knows what is his
 *   team, where       lists to go through for every client
 *   near              layers: entities of one reach share a partition, whose cells fit that reach
 *
 * `anyOf` falls apart into its rules. Nothing here looks at a world.
 */

import type { Entity } from '../../schema/definition.ts'
import { positionLeaves, type InterestRule } from '../../schema/interest.ts'
import { distanceSlope } from './weight.ts'

type NearRule = Extract<InterestRule, { readonly kind: 'near' }>
type WhereRule = Extract<InterestRule, { readonly kind: 'where' }>

/** What one entity asks for. */
export interface TypePolicy {
  readonly priority: number
  readonly isAlways: boolean
  readonly isTeam: boolean
  readonly where: readonly WhereRule[]
  /** Layers that its objects are in. */
  readonly layers: readonly number[]
  /** Cells of its position; empty when it has none that a viewer could know. */
  readonly cells: readonly number[]
  /** How fast urgency falls with distance; 0 when it does not. */
  readonly slope: number
}

/** Entities that are known within one reach. */
export interface LayerPolicy {
  readonly reach: number
  readonly dimensions: number
  /** By type: the rule of that entity in this layer. */
  readonly rules: readonly (NearRule | undefined)[]
}

export interface Policies {
  /** By type. */
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
    // What only some may hold must not show in when others are told: then distance does not matter to anyone.
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
