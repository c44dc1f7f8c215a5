/**
 * How much of the picture is drawn. A machine that draws without a graphics card begins in the reduced mode, and one
 * that is too slow changes to it: fewer pixels, no lights and shadows of units and buildings, fewer sparks.
 */

/** Frames per second below which fewer pixels are drawn. */
const SLOW_FPS = 24
const RATIO_FULL_MAX = 1.5
/** Pixels of the picture for one of the page, in the reduced mode, and at the least. */
const RATIO_REDUCED = 0.7
const RATIO_MIN = 0.4
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

  constructor(isReduced: boolean) {
    this.isReduced = isReduced
    this.ratio = isReduced ? RATIO_REDUCED : Math.min(devicePixelRatio, RATIO_FULL_MAX)
  }

  /** A frame took so long. True: draw differently from now on. */
  note(ms: number): boolean {
    if (++this.#frames < FRAMES_SKIPPED) return false
    this.#slowness = this.#slowness * 0.95 + (ms > 1000 / SLOW_FPS ? 0.05 : 0)
    if (this.#slowness < 0.6 || (this.isReduced && this.ratio <= RATIO_MIN)) return false
    this.#slowness = 0
    this.#frames = 0
    if (this.ratio <= 1 && !this.isReduced) this.isReduced = true
    this.ratio = Math.max(RATIO_MIN, this.ratio * 0.75)
    return true
  }
}
