/** What is drawn on a machine that is too slow for all of it: fewer pixels, then no glow and no shadows. */

/** Frames per second below which less is drawn; below the second, much less. */
const SLOW_FPS = 24
const CRAWLING_FPS = 8
/** The time over which frames are counted, and frames that say nothing: shaders are compiled. */
const LOOK_MS = 2000
const FRAMES_SKIPPED = 4
/** Pixels of the picture for one of the page, by step. Indexed by step. */
const SHARES = [1, 0.7, 0.45, 0.3] as const

export class FrameRate {
  /** 0 draws everything, and each step draws less. */
  step = 0
  #frames = 0
  #ms = 0
  #skipped = 0

  /** Pixels of the picture for one pixel of the page, as a share of the full number. */
  get share(): number {
    return SHARES[this.step] ?? 1
  }

  /** A frame came so long after the one before. True: draw less from now on. */
  note(ms: number): boolean {
    if (this.#skipped < FRAMES_SKIPPED) {
      this.#skipped++
      return false
    }
    this.#frames++
    this.#ms += ms
    if (this.#ms < LOOK_MS) return false
    const fps = this.#frames * 1000 / this.#ms
    this.#frames = this.#ms = 0
    if (fps >= SLOW_FPS || this.step === SHARES.length - 1) return false
    this.step = Math.min(SHARES.length - 1, this.step + (fps < CRAWLING_FPS ? 2 : 1))
    this.#skipped = 0
    return true
  }
}
