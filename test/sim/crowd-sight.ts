/**
 * What a peer may know in a tick, by the rules that the game declares, implemented again in the simplest way: every
 * object is examined, one by one. No grid, no sets, no memory.
 *
 * Between the distance at which an object enters the view and the one at which it leaves, both answers are right: hence
 * `may` and `must`.
 */

import type { PeerId, Tick } from '../../packages/tickwire/src/core/base/time.ts'
import { REACH } from './crowd-game.ts'
import type { CrowdTruth, TrueRow, TrueTick } from './crowd-truth.ts'

/** How far clients other than the owner see objects of an entity, by place in the game. */
export type SightRule = {
  readonly near?: number
  readonly isTeam?: boolean
  readonly isAlways?: boolean
  readonly isGhost?: boolean
}

export const CROWD_RULES: readonly SightRule[] = [
  { near: REACH.fighter },
  { near: REACH.shot },
  { isAlways: true },
  { isTeam: true },
  {},
  { isGhost: true },
  { isTeam: true, near: REACH.mine },
  { near: REACH.ball },
  { isAlways: true },
  {},
]

/** An object in view leaves it beyond this multiple of the distance, plus what rounding may do. */
const LEAVE = 1.1
const GRAIN = 1e-6

/** What a peer may know of an object. */
export interface Sight {
  readonly may: boolean
  readonly must: boolean
  /** Field set: 0 all, 1 team, 2 owner. */
  readonly set: 0 | 1 | 2
}

const UNSEEN: Sight = { may: false, must: false, set: 0 }

/** What a peer may know of an object in a tick. `hasStood`: the peer had a viewpoint before, and keeps its last one. */
export function sightOf(truth: CrowdTruth, tick: Tick, peer: PeerId, object: TrueRow, hasStood: boolean): Sight {
  const moment = truth.at(tick)
  if (moment === undefined) return UNSEEN
  const { teams, viewers } = moment.eyes
  const viewer = viewers.get(peer) ?? peer
  const isPrivy = truth.isPrivy || !viewers.has(peer)
  const team = teams.get(viewer) ?? 0
  const { owner, type } = object
  if (owner !== 0 && (owner === peer || (owner === viewer && isPrivy))) return { may: true, must: true, set: 2 }
  const isMate = isPrivy && team !== 0 && owner !== 0 && (teams.get(owner) ?? 0) === team
  const set = isMate ? 1 : 0
  const rule = truth.rules[type]!
  const isKnown =
    rule.isAlways === true || (rule.isTeam === true && isMate) || (rule.isGhost === true && sideOf(object) === team)
  if (isKnown) return { may: true, must: true, set }
  if (rule.near === undefined) return UNSEEN
  const { may, must } = nearness(moment, viewer, object, rule.near, hasStood)
  return { may, must, set }
}

/** Whether a peer has a viewpoint in a tick. */
export function standsAt(moment: TrueTick, peer: PeerId): boolean {
  return moment.places.has(moment.eyes.viewers.get(peer) ?? peer)
}

function nearness(
  moment: TrueTick,
  viewer: PeerId,
  object: TrueRow,
  reach: number,
  hasStood: boolean,
): { readonly may: boolean; readonly must: boolean } {
  const places = moment.places.get(viewer)
  // The viewpoint is the peer's last position, which this model does not record.
  if (places === undefined) return { may: hasStood, must: false }
  let nearest = Infinity
  for (let at = 0; at < places.length; at += 2) {
    const [dx, dy] = [places[at]! - object.x, places[at + 1]! - object.y]
    nearest = Math.min(nearest, Math.sqrt(dx * dx + dy * dy))
  }
  return { may: nearest <= reach * LEAVE + GRAIN, must: nearest <= reach - GRAIN }
}

/** The team of a ghost is its first field. */
function sideOf({ raw }: TrueRow): number {
  return raw[0]!
}
