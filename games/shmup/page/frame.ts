/**
 * Where the field is in the window. On a wide window ships fly to the right. On an upright phone the field is turned
 * and fills the screen: ships fly up, and cards and buttons have a strip below it.
 *
 * There are two spaces: that of the field, and that of the window, whose unit is as large and whose texts are upright.
 */

import { HEIGHT, WIDTH } from '../definitions.ts'

/** A part of the field's plane. */
export interface Bounds {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Height of the strip below an upright field, in CSS pixels. */
export const STRIP = 124

export class Frame {
  isUpright = false
  /** The size of the window, in units of the field. */
  width = WIDTH
  height = HEIGHT
  /** The visible part of the field's plane. */
  bounds: Bounds = { left: 0, top: 0, right: WIDTH, bottom: HEIGHT }
  /** The first y below an upright field, in the window. */
  stripTop = HEIGHT
  #scale = 1
  #left = 0
  #top = 0

  /** Adapts to the window. */
  fit(canvas: HTMLCanvasElement): void {
    const ratio = Math.min(2, devicePixelRatio)
    const [width, height] = [Math.round(innerWidth * ratio), Math.round(innerHeight * ratio)]
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width
      canvas.height = height
    }
    this.isUpright = height > width * 1.15
    const [wide, tall] = this.isUpright ? [HEIGHT, WIDTH] : [WIDTH, HEIGHT]
    const free = this.isUpright ? height - STRIP * ratio : height
    const scale = Math.min(width / wide, free / tall)
    this.#scale = scale
    this.#left = (width - wide * scale) / 2
    this.#top = (free - tall * scale) / (this.isUpright ? 1 : 2)
    this.width = width / scale
    this.height = height / scale
    this.stripTop = free / scale
    const [left, top] = [this.#left / scale, this.#top / scale]
    this.bounds = this.isUpright
      ? { left: WIDTH + top - this.height, right: WIDTH + top, top: -left, bottom: this.width - left }
      : { left: -left, right: this.width - left, top: -top, bottom: this.height - top }
  }

  /** From here on, the pen draws on the field. */
  enterField(pen: CanvasRenderingContext2D): void {
    const scale = this.#scale
    if (this.isUpright) pen.setTransform(0, -scale, scale, 0, this.#left, this.#top + WIDTH * scale)
    else pen.setTransform(scale, 0, 0, scale, this.#left, this.#top)
  }

  /** From here on, the pen draws on the window, from its upper left corner. */
  enterWindow(pen: CanvasRenderingContext2D): void {
    pen.setTransform(this.#scale, 0, 0, this.#scale, 0, 0)
  }

  /** Turns texts on the field upright. */
  level(pen: CanvasRenderingContext2D): void {
    if (this.isUpright) pen.rotate(Math.PI / 2)
  }
}
