/**
 * The interest options of a match. Their functions receive the match, because one type of room has many rooms, and each
 * room has its own teams: player 1 of one room is not player 1 of another.
 */

import type { PeerId } from '../base/time.ts'
import { refusePromise } from '../base/user-code.ts'
import type { InterestOptions } from '../replication/interest/interest.ts'
import type { ViewpointList } from '../replication/interest/viewpoints.ts'

/** Teams, viewpoints, and how objects are found by position. `M`: the match, or the room in `serveRooms`. */
export interface MatchInterest<M> extends Omit<InterestOptions, 'teamOf' | 'viewpoint'> {
  /** The team of a player in this match; 0 is no team. Without it no player has a team. */
  teamOf?(peer: PeerId, match: M): number
  /** Adds the positions that a player looks from. If it adds none: every object of the player that has a position. */
  viewpoint?(peer: PeerId, points: ViewpointList, match: M): void
}

/** The options with the match filled in. `undefined` stays `undefined`. */
export function bindInterest<M>(options: MatchInterest<M> | undefined, match: M): InterestOptions | undefined {
  if (options === undefined) return undefined
  const { teamOf, viewpoint, ...rest } = options
  return {
    ...rest,
    ...(teamOf && {
      teamOf: (peer) => {
        const team = teamOf.call(options, peer, match)
        refusePromise('teamOf', team)
        return team
      },
    }),
    ...(viewpoint && {
      viewpoint: (peer, points) => refusePromise('viewpoint', viewpoint.call(options, peer, points, match)),
    }),
  }
}
