/**
 * `tickwire bisect`: the first difference between the images of two clients, and which of the two is that of the game.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Tick } from '../core/base/time.ts'
import { LogFeed } from '../core/lockstep/desync/game-referee.ts'
import { LockstepRunner } from '../core/lockstep/lockstep-runner.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import { MatchFile } from '../core/replay/match-file.ts'
import { differenceText } from '../core/world/heavy-test.ts'
import { locateDifference, type Hashed } from '../core/world/locate-difference.ts'
import { StateHash } from '../core/world/state-hash.ts'
import { World } from '../core/world/world.ts'
import { encodeWorld, restoreWorld } from '../core/world/world-image.ts'
import { seedOfImage } from '../core/replay/key-images.ts'
import { UsageError, type AsyncCommand, type CommandWorld } from './command.ts'
import { loadLockstepModule } from './lockstep-module.ts'
import { openRecordingOption } from './recording-option.ts'

/** Finds the first difference of images. */
export const bisect: AsyncCommand = {
  summary: 'the first difference between the images of two clients of a lockstep match',
  help: `
tickwire bisect FOLDER FOLDER --step game.ts [--log LOG]

Reads the images desync_{seed}_{tick}.snap of two clients (DebugLog, level 3), finds by binary search the first tick
whose images differ, and names the entity, the object and the field with both values.

  --step game.ts   the game
  --log LOG        the order log of one client, or a recording: steps the game to that tick, and says which of the two
                   differs from it

Exit code: 0 when all images are equal, 1 when one differs.`,
  async run(args, world) {
    const { values, positionals } = parseArgs({
      args: [...args], options: { step: { type: 'string' }, log: { type: 'string' } }, allowPositionals: true,
    })
    const [a, b, ...rest] = positionals
    if (a === undefined || b === undefined || rest.length > 0 || values.step === undefined)
      throw new UsageError('expected two folders and --step. Fix: tickwire bisect client-1 client-2 --step game.ts.')
    const game = await loadLockstepModule(values.step)
    const [inA, inB] = [imagesIn(a), imagesIn(b)]
    const ticks = [...inA.keys()].filter((tick) => inB.has(tick)).sort((x, y) => x - y)
    if (ticks.length === 0) throw new UsageError('the folders have no images of the same tick.')
    const read = (images: ReadonlyMap<Tick, string>, tick: Tick): Uint8Array => readFileSync(images.get(tick) ?? '')
    const isEqual = (tick: Tick): boolean => Buffer.compare(read(inA, tick), read(inB, tick)) === 0
    // A difference stays in every later image, unless it was repaired, so a binary search finds the first.
    let [low, high, looks] = [0, ticks.length, 0]
    while (low < high) {
      const middle = (low + high) >>> 1
      looks++
      if (isEqual(ticks[middle] ?? 0)) low = middle + 1
      else high = middle
    }
    const bad = ticks[low]
    if (bad === undefined) {
      world.print(`all ${ticks.length} images are equal`)
      return 0
    }
    world.print(`${ticks.length} images, ${looks} compared: tick ${bad} differs`)
    const [worldA, worldB] = [restore(game, read(inA, bad)), restore(game, read(inB, bad))]
    world.print(differenceText(locateDifference(worldA, worldB).difference))
    if (values.log !== undefined) judge(game, values.log, bad, [read(inA, bad), read(inB, bad)], world)
    return 1
  },
}

/** Steps the game to a tick and says whose image is the game's. */
function judge(
  game: LockstepGame, log: string, tick: Tick, images: readonly [Uint8Array, Uint8Array], world: CommandWorld,
): void {
  const { recording, close } = openRecordingOption([log])
  const file = new MatchFile(recording)
  close()
  const [stretch] = file.stretches
  if (stretch === undefined) return
  const feed = new LogFeed(stretch.log, file.seed)
  feed.until = tick
  const runner = new LockstepRunner(game, feed)
  while (runner.update(0) > 0);
  const own = encodeWorld(runner.world)
  const verdicts = images.map((image) => own !== undefined && Buffer.compare(own, image) === 0)
  world.print(`stepped to tick ${runner.tick}: the first folder is ${verdicts[0] ? 'right' : 'wrong'}, `
    + `the second is ${verdicts[1] ? 'right' : 'wrong'}`)
}

function restore(game: LockstepGame, image: Uint8Array): Hashed {
  const external = game.external?.()
  const world = new World(game.entities, { seed: seedOfImage(image), ...(external && { external }) })
  const verdict = restoreWorld(world, image)
  if (verdict !== 'restored') throw new UsageError(`an image is refused: ${verdict}.`)
  const hash = new StateHash(world)
  hash.update()
  return { world, hash }
}

/** The paths of the images in a folder, by tick. */
function imagesIn(folder: string): ReadonlyMap<Tick, string> {
  const images = new Map<Tick, string>()
  for (const name of readdirSync(folder)) {
    const [, tick] = /^desync_\d+_(\d+)\.snap$/.exec(name) ?? []
    if (tick !== undefined) images.set(Number(tick), join(folder, name))
  }
  return images
}
