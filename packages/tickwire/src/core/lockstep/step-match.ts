/** Steps a recorded match with the code of its game, and compares the worlds with what was recorded. */

import type { Tick } from '../base/time.ts'
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
  /** The first tick whose hash differs; 0: none. */
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
  if (stretch === undefined || stretch.first !== 1) return { problems, ticks: 0, roots: 0, images: 0, firstBad: 0 }
  const sealed = new Map(file.seals.flatMap(({ seal }) => seal.images).map((image) => [image.tick, image]))
  const feed = new LogFeed(stretch.log, file.seed)
  feed.until = Infinity
  let [equalRoots, images, firstBad] = [0, 0, 0]
  const runner = new LockstepRunner(game, feed, {
    onTick(tick, low, high) {
      const root = roots.get(tick)
      if (root !== undefined && root.low === low && root.high === high) equalRoots++
      else if (root !== undefined && firstBad === 0) {
        firstBad = tick
        problems.push(`tick ${tick}: the world differs from the recorded one`)
      }
      const image = sealed.get(tick)
      if (image === undefined) return
      const own = encodeWorld(runner.world)
      if (own !== undefined && sha256(own).every((byte, at) => byte === image.imageDigest[at])) images++
      else problems.push(`tick ${tick}: the world differs from the sealed image`)
    },
  })
  while (runner.update(0) > 0);
  return { problems, ticks: runner.tick, roots: equalRoots, images, firstBad }
}

function sealedRoots({ seals }: MatchFile): Map<Tick, Root> {
  return new Map(seals.flatMap(({ seal }) => seal.roots).map(({ tick, root }) => [tick, root]))
}
