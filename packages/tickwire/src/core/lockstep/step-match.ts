/**
 * Steps a recorded match with the code of its game, and compares the worlds with what was recorded.
 *
 * In a disputed tick no majority of the players had the same world, as between two players of which one diverged. Its
 * recorded hash is that of one side, and may differ from the stepped one. The next hash of a majority decides: if it is
 * equal, the players were healed to the world that follows from the orders.
 */

import type { Tick } from '../base/time.ts'
import { isDisputed } from '../order/seal.ts'
import type { Sha256 } from '../order/seed-share.ts'
import type { Root } from '../order/sync-messages.ts'
import type { MatchFile } from '../replay/match-file.ts'
import { encodeWorld } from '../world/world-image.ts'
import type { LockstepGame } from './define-lockstep.ts'
import { LogFeed } from './desync/game-referee.ts'
import { LockstepRunner } from './lockstep-runner.ts'

/** The result of stepping a match again. */
export interface SteppedMatch {
  /** The differences. */
  readonly problems: readonly string[]
  /** Ticks that were stepped. */
  readonly ticks: Tick
  /** Hashes that are equal. */
  readonly roots: number
  /** Images that are equal to the bit. */
  readonly images: number
  /** Ticks in which no majority of the players had the same world. */
  readonly disputed: readonly Tick[]
  /** Whether a majority had the stepped world after the last disputed tick. */
  readonly isHealed: boolean
  /** The first tick whose hash differs, and is not disputed or was never healed; 0: none. */
  readonly firstBad: Tick
}

/** Steps the match up to the first gap. `roots`: hashes to compare with. Default: those of the seals. */
export function stepMatch(
  game: LockstepGame, file: MatchFile, sha256: Sha256,
  roots: ReadonlyMap<Tick, Root> = sealedRoots(file),
): SteppedMatch {
  const problems: string[] = []
  if (game.fingerprint.some((byte, at) => byte !== file.recording.head.fingerprint[at]))
    problems.push('the recording is of another game, or of another build of it')
  const [stretch] = file.stretches
  if (stretch === undefined || stretch.first !== 1)
    return { problems, ticks: 0, roots: 0, images: 0, disputed: [], isHealed: false, firstBad: 0 }
  const sealed = new Map(file.seals.flatMap(({ seal }) => seal.images).map((image) => [image.tick, image]))
  const feed = new LogFeed(stretch.log, file.seed)
  feed.until = Infinity
  const isOpen = new Set(file.seals.flatMap(({ seal }) => seal.roots).filter(isDisputed).map(({ tick }) => tick))
  const disputed: Tick[] = []
  let [equalRoots, images, firstBad] = [0, 0, 0]
  /** The first disputed tick that differs, and after which no majority was equal. */
  let unhealed: Tick = 0
  let isHealed = false
  const runner = new LockstepRunner(game, feed, {
    onTick(tick, low, high) {
      const root = roots.get(tick)
      const isEqual = root !== undefined && root.low === low && root.high === high
      if (isEqual) equalRoots++
      if (isOpen.has(tick)) {
        disputed.push(tick)
        isHealed = false
        if (!isEqual && unhealed === 0) unhealed = tick
      } else if (isEqual) {
        unhealed = 0
        isHealed = disputed.length > 0
      } else if (root !== undefined && firstBad === 0) {
        firstBad = tick
        const why = unhealed === 0 ? ''
          : `: the players disagreed in tick ${unhealed}, and their world does not follow from the orders`
        problems.push(`tick ${tick}: the world differs from the recorded one${why}`)
      }
      const image = sealed.get(tick)
      if (image === undefined) return
      const own = encodeWorld(runner.world)
      if (own !== undefined && sha256(own).every((byte, at) => byte === image.imageDigest[at])) images++
      else problems.push(`tick ${tick}: the world differs from the sealed image`)
    },
  })
  while (runner.update(0) > 0);
  if (firstBad === 0 && unhealed > 0) {
    firstBad = unhealed
    problems.push(`tick ${unhealed}: the players disagreed and were not healed`)
  }
  return { problems, ticks: runner.tick, roots: equalRoots, images, disputed, isHealed, firstBad }
}

function sealedRoots({ seals }: MatchFile): Map<Tick, Root> {
  return new Map(seals.flatMap(({ seal }) => seal.roots).map(({ tick, root }) => [tick, root]))
}
