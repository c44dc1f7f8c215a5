/**
 * The debugging data of a client, by level. Each level has everything of the levels below.
 *
 *   1  the order log: all ticks, and the hash after each, as a recording (`order-log.bin`)
 *   2  every `derived` cache is rebuilt after each tick and compared with what it was
 *   3  an image every 300 ticks, `desync_{seed}_{tick}.snap`
 *
 * When the relay looks at a desync, the order log is written up to that tick. Rules of the relay with `debugLevel: 3`
 * also get an image then, whatever the own level is.
 *
 * `tickwire replay-log` and `tickwire bisect` read the files.
 */

import { InvariantError } from '../../base/assert.ts'
import { HISTORY_TICKS, REPLAY_CHUNK_TICKS } from '../../base/limits.ts'
import type { Tick } from '../../base/time.ts'
import type { Root } from '../../order/sync-messages.ts'
import { CHUNK } from '../../replay/chunk.ts'
import { encodeHashes } from '../../replay/hash-chunk.ts'
import { encodeTicks } from '../../replay/match-chunks.ts'
import { matchHead } from '../../replay/match-head.ts'
import { MemorySink } from '../../replay/recording-memory.ts'
import { RecordingWriter, type RecordingSink } from '../../replay/recording-writer.ts'
import { encodeWorld } from '../../world/world-image.ts'
import type { LockstepRunner, RunnerWatch } from '../lockstep-runner.ts'

/** How much a client keeps for debugging. */
export interface DebugOptions {
  /** 0: nothing. 1: the order log. 2: also checks of caches. 3: also images. */
  readonly level: 0 | 1 | 2 | 3
  /** Where the order log is written: a file `order-log.bin`. Default: nowhere. */
  readonly sink?: RecordingSink
  /** Called with each image and the name of its file. */
  readonly onImage?: (name: string, image: Uint8Array) => void
  /** Ticks from one image to the next. Default: 300. */
  readonly imageTicks?: number
}

const IMAGE_TICKS = 300

/** Keeps the debugging data of one runner. */
export class DebugLog implements RunnerWatch {
  readonly #runner: LockstepRunner
  readonly #options: DebugOptions
  readonly #before: RunnerWatch | undefined
  readonly #writer: RecordingWriter | undefined
  /** The hashes of ticks that are not written yet, which follow each other, and the first of these ticks. */
  #roots: Root[] = []
  #first: Tick = 1

  constructor(runner: LockstepRunner, options: DebugOptions) {
    this.#runner = runner
    this.#options = options
    this.#before = runner.watch
    const { level, sink } = options
    if (level >= 1 && sink !== undefined) this.#writer = new RecordingWriter(matchHead(runner.game), sink)
    runner.watch = this
  }

  handleStepped(tick: Tick, low: number, high: number): void {
    const { level, imageTicks = IMAGE_TICKS } = this.#options
    // First: the watch before may answer the relay, and the order log is written up to this tick then.
    if (level >= 1) this.#note(tick, { low, high })
    this.#before?.handleStepped(tick, low, high)
    if (level >= 2) this.#checkDerived(tick)
    if (level >= 3 && tick % imageTicks === 0) this.#writeImage()
  }

  handleReplaced(tick: Tick): void {
    this.#before?.handleReplaced?.(tick)
    const kept = Math.max(0, tick + 1 - this.#first)
    if (kept < this.#roots.length) this.#roots.length = kept
  }

  handleDesync(level: number): void {
    this.#before?.handleDesync?.(level)
    this.flush()
    if (level >= 3) this.#writeImage()
  }

  /** Writes the ticks since the last call. */
  flush(): void {
    this.#write(this.#roots.length)
  }

  /** Ends the order log. */
  close(): void {
    this.flush()
    this.#writer?.close(this.#runner.tick)
  }

  #note(tick: Tick, root: Root): void {
    const next = this.#first + this.#roots.length
    // A tick that was written is not in the log again, also when the match goes on from before it.
    if (tick < next) return
    if (tick > next) {
      this.flush()
      this.#first = tick
    }
    this.#roots.push(root)
    // The newest ticks may have to be taken back.
    if (this.#roots.length >= REPLAY_CHUNK_TICKS + HISTORY_TICKS) this.#write(REPLAY_CHUNK_TICKS)
  }

  #write(count: number): void {
    const first = this.#first
    const roots = this.#roots.splice(0, count)
    this.#first += roots.length
    if (roots.length === 0 || this.#writer === undefined) return
    const { log, seed } = this.#runner.feed
    this.#writer.write(MemorySink.chunk(CHUNK.ticks, first, encodeTicks(log, first, this.#first - 1, seed)))
    this.#writer.write(MemorySink.chunk(CHUNK.hashes, first, encodeHashes(roots)))
  }

  #writeImage(): void {
    const { world } = this.#runner
    const image = encodeWorld(world)
    if (image !== undefined) this.#options.onImage?.(`desync_${world.seed}_${world.tick}.snap`, image)
  }

  #checkDerived(tick: Tick): void {
    const { game: { derived = [] }, world } = this.#runner
    for (const cache of derived) {
      const before = cache.hash(world)
      cache.rebuild(world)
      if (cache.hash(world) === before) continue
      throw new InvariantError(
        `derived.${cache.name}: stale in tick ${tick} (expected what rebuild makes, got something else). `
          + 'Fix: update it wherever the fields change that it is made from.',
      )
    }
  }
}
