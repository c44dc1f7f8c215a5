/**
 * How much a client needs to hear of an object, each time he can be told something:
 *
 *   weight = priority of the entity x distance factor x authority factor
 *
 * Weights are added up until the object is told of, then start from 0: staleness is that sum, and nobody starves. When not
 * everything fits, two objects are told of in proportion to their weights.
 *
 * The factors are functions of what the client may know: where he looks from, where the object is, whose it is.
 */

/** An object at the end of its reach is told of so many times less often than one at hand: it looks that much smaller. */
export const DISTANCE_SPAN = 8
/** No distance makes an object less urgent than this: even the farthest is told of. */
export const DISTANCE_FACTOR_MIN: number = 1 / 64
/** What is mine is predicted from what I am told of it, and felt at once when it is wrong. */
export const AUTHORITY_FACTOR_OWN = 4

/** From 1 at hand to 1/8 at the end of its reach, and on. Without a reach distance does not matter. */
export function distanceFactor(distance: number, reach: number): number {
  const factor = 1 / (1 + distance * distanceSlope(reach))
  return factor > DISTANCE_FACTOR_MIN ? factor : DISTANCE_FACTOR_MIN
}

/** How fast the factor falls for objects of a reach: the part of it that is the same for all of them. */
export function distanceSlope(reach: number): number {
  return (DISTANCE_SPAN - 1) / reach
}

/** 4 for what the viewer owns, 1 for the rest. */
export function authorityFactor(isOwn: boolean): number {
  return isOwn ? AUTHORITY_FACTOR_OWN : 1
}
