/**
 * Compares a player's view with the authority's world, by object and field, as far as the player may see it.
 */

import type { Millis, PeerId } from '../core/base/time.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import type { Match } from '../core/game/match.ts'
import type { Shape } from '../core/schema/field.ts'
import type { Handle } from '../core/world/handle.ts'
import { flatHash } from '../core/world/state-hash.ts'
import type { World } from '../core/world/world.ts'

/** Field sets of a layout: the fields that all clients receive, and those that the owner receives. */
const FOR_ALL = 0
const FOR_OWNER = 2

/** What differs, and the authority's world. The world is undefined for a player that is not in a match. */
export interface Difference {
  readonly text: string
  readonly world: World | undefined
}

/** Whether the objects of a world change while `wait` lets time pass. */
export function changesDuring(world: World, wait: () => void): boolean {
  const [before, after] = [new Uint32Array(2), new Uint32Array(2)]
  flatHash(world, before)
  wait()
  flatHash(world, after)
  return before[0] !== after[0] || before[1] !== after[1]
}

/** The first difference between the view of a player and the authority's world, ascending by entity and id. */
export function differenceOf<I extends Shape>(
  client: number,
  player: ClientHost<I>,
  { world }: Match<I>,
  now: Millis,
): string | undefined {
  const {
    events: { world: view },
  } = player.draw(now)
  for (const [type, store] of world.stores.entries()) {
    const { name } = store.schema
    const theirs = new Map(view.stores[type]?.living().map((handle) => [handle.id, handle]))
    for (const truth of store.living()) {
      const seen = theirs.get(truth.id)
      if (seen === undefined) return `player ${client} does not see ${name} ${truth.id}`
      theirs.delete(truth.id)
      const field = fieldOf(world, truth, view, seen, player.peer)
      if (field !== undefined) return `player ${client} sees ${name} ${truth.id} ${field}`
    }
    for (const id of theirs.keys()) return `player ${client} sees ${name} ${id}, which the server does not have`
  }
  return undefined
}

/** The first field that differs. Texts and lists are compared by content, because handles differ on each side. */
function fieldOf(world: World, truth: Handle, view: World, seen: Handle, peer: PeerId): string | undefined {
  const { schema } = truth.$store
  if (truth.owner !== seen.owner) return `as ${seen.owner}'s, and it is ${truth.owner}'s`
  const [real, drawn] = [new Uint32Array(2), new Uint32Array(2)]
  for (const { path, firstLeaf, leafCount } of schema.masks[truth.owner === peer ? FOR_OWNER : FOR_ALL].members) {
    for (const leaf of schema.leaves.slice(firstLeaf, firstLeaf + leafCount)) {
      for (let cell = leaf.cell; cell < leaf.cell + leaf.cellCount; cell++) {
        const [is, as] = [truth.$cells[cell] ?? 0, seen.$cells[cell] ?? 0]
        if (schema.heapLeaves.includes(leaf)) {
          world.heap.hash(leaf, is, real)
          view.heap.hash(leaf, as, drawn)
          if (real[0] !== drawn[0] || real[1] !== drawn[1]) return `with another ${path}`
        } else if (!Object.is(is, as) && is !== as) {
          return `with ${path} ${as}, and it is ${is}`
        }
      }
    }
  }
  return undefined
}
