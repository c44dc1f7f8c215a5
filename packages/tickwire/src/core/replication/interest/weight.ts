/**
 * How urgently a client needs an object, each time a packet can be sent:
 *
 *   weight = priority of the entity x distance factor x authority factor
 *
 * Weights accumulate until the object is sent, then start from 0: the sum measures staleness, and no object starves.
 * When not everything fits, objects are sent in proportion to their weights.
 *
 * The factors depend only on what the client may know: its viewpoints, the object's position, the object's owner.
 */

/**
 * An object at the end of its reach is sent this many times less often than one at distance 0: it looks that much
 * smaller.
 */
export const DISTANCE_SPAN = 8
/** The lower bound of the distance factor: even the farthest object is sent. */
export const DISTANCE_FACTOR_MIN: number = 1 / 64
/** The client predicts its own objects from the rows it receives, and the player notices errors in them at once. */
export const AUTHORITY_FACTOR_OWN = 4

/** From 1 at distance 0 to 1/8 at the end of the reach, and lower beyond. With an infinite reach it is 1. */
export function distanceFactor(distance: number, reach: number): number {
  const factor = 1 / (1 + distance * distanceSlope(reach))
  return factor > DISTANCE_FACTOR_MIN ? factor : DISTANCE_FACTOR_MIN
}

/** How fast the factor falls with distance: the part that is the same for all objects of a reach. */
export function distanceSlope(reach: number): number {
  return (DISTANCE_SPAN - 1) / reach
}

/** 4 for objects that the viewer owns, 1 for the rest. */
export function authorityFactor(isOwn: boolean): number {
  return isOwn ? AUTHORITY_FACTOR_OWN : 1
}
