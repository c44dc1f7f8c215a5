/**
 * How much of the picture is drawn. A machine that draws without a graphics card begins in the reduced mode, and one
 * that is too slow changes to it: fewer pixels, light that is baked into the ground and the walls, no lights and
 * shadows of units and buildings, fewer sparks.
 */

/** Frames per second below which fewer pixels are drawn. */
const SLOW_FPS = 24
const RATIO_FULL_MAX = 1.5
/** Pixels of the picture for one of the page, in the reduced mode, and at the least. */
const RATIO_REDUCED = 0.7
const RATIO_MIN = 0.4
/** Least time between two frames in the reduced mode, and when the machine is too slow for that too, in ms. */
const FRAME_MS_REDUCED = 30
const FRAME_MS_SLOW = 48
/** Frames at the start that say nothing: shaders are compiled. */
const FRAMES_SKIPPED = 12
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i

/** Whether WebGL is drawn by the processor. */
export function isSoftware(): boolean {
  const pen = document.createElement('canvas').getContext('webgl2')
  if (pen === null) return true
  const names = pen.getExtension('WEBGL_debug_renderer_info')
  const name = String(pen.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? pen.RENDERER))
  pen.getExtension('WEBGL_lose_context')?.loseContext()
  return SOFTWARE.test(name)
}

export class Quality {
  isReduced: boolean
  /** Pixels of the picture for one pixel of the page. */
  ratio: number
  #frames = 0
  /** The share of slow frames, lately. */
  #slowness = 0

  readonly #isFixed: boolean
  /** Least time between two frames, in ms: the rest of the time is for the match. */
  #frameMs: number
  #drawnAt = 0

  /** `isFixed`: the player has chosen, and it stays. */
  constructor(isReduced: boolean, isFixed: boolean) {
    this.isReduced = isReduced
    this.#isFixed = isFixed
    this.#frameMs = isReduced ? FRAME_MS_REDUCED : 0
    this.ratio = isReduced ? RATIO_REDUCED : Math.min(devicePixelRatio, RATIO_FULL_MAX)
  }

  /** Whether a frame is due. */
  isDue(now: number): boolean {
    if (now - this.#drawnAt < this.#frameMs) return false
    this.#drawnAt = now
    return true
  }

  /** A frame took so long. True: draw differently from now on. */
  note(ms: number): boolean {
    if (++this.#frames < FRAMES_SKIPPED || this.#isFixed) return false
    this.#slowness = this.#slowness * 0.95 + (ms > 1000 / SLOW_FPS ? 0.05 : 0)
    if (this.#slowness < 0.6 || this.#frameMs === FRAME_MS_SLOW) return false
    this.#slowness = 0
    this.#frames = 0
    if (this.isReduced && this.ratio <= RATIO_MIN) {
      this.#frameMs = FRAME_MS_SLOW
      return false
    }
    if (this.ratio <= 1 && !this.isReduced) {
      this.isReduced = true
      this.#frameMs = FRAME_MS_REDUCED
    }
    this.ratio = Math.max(RATIO_MIN, this.ratio * 0.75)
    return true
  }
}
