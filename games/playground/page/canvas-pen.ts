/**
 * A pen on a canvas, in the colours of the page's style sheet, sharp on every screen.
 */

import type { Pen, Point, Role } from '../pen.ts'

const ROLES: readonly Role[] = ['server', 'you', 'other', 'ink', 'muted', 'faint', 'good', 'bad']

/** The least height of letters on the screen. */
const LETTER_PX_MIN = 10

export class CanvasPen implements Pen {
  width: number
  height: number
  readonly #isFluid: boolean
  /** Pixels of the page for one of the picture. */
  #shownScale = 1
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D
  #colors = {} as Record<Role, string>

  /** Draws on an area of the given size, scaled to the displayed size; without one, on the displayed size. */
  constructor(canvas: HTMLCanvasElement, size?: readonly [width: number, height: number]) {
    const [width, height] = size ?? [1, 1]
    this.width = width
    this.height = height
    this.#isFluid = size === undefined
    this.#canvas = canvas
    const context = canvas.getContext('2d')
    if (context === null) throw new Error('this browser draws on no canvas')
    this.#context = context
    this.readColors()
  }

  /** Reads the colours of the style sheet, which differ between the light and the dark scheme. */
  readColors(): void {
    const style = getComputedStyle(document.documentElement)
    for (const role of ROLES) this.#colors[role] = style.getPropertyValue(`--${role}`).trim()
  }

  /** Before every picture: clears the canvas and matches its resolution to the screen. */
  clear(): void {
    if (this.#isFluid) {
      this.width = Math.max(this.#canvas.clientWidth, 1)
      this.height = Math.max(this.#canvas.clientHeight, 1)
    }
    this.#shownScale = Math.max(this.#canvas.clientWidth / this.width, 0.1)
    const scale = this.#shownScale * devicePixelRatio
    const [width, height] = [Math.round(this.width * scale), Math.round(this.height * scale)]
    if (this.#canvas.width !== width) this.#canvas.width = width
    if (this.#canvas.height !== height) this.#canvas.height = height
    this.#context.setTransform(scale, 0, 0, scale, 0, 0)
    this.#context.clearRect(0, 0, this.width, this.height)
    this.#context.lineJoin = 'round'
  }

  square(x: number, y: number, size: number, role: Role, style: 'solid' | 'ghost' = 'solid'): void {
    this.#context.beginPath()
    this.#context.roundRect(x - size / 2, y - size / 2, size, size, size / 6)
    this.#finish(role, style)
  }

  dot(x: number, y: number, radius: number, role: Role, style: 'solid' | 'ghost' = 'solid'): void {
    this.#context.beginPath()
    this.#context.arc(x, y, radius, 0, 2 * Math.PI)
    this.#finish(role, style)
  }

  path(points: readonly Point[], role: Role, style: 'solid' | 'dashed' = 'solid'): void {
    this.#context.beginPath()
    for (const [x, y] of points) this.#context.lineTo(x, y)
    this.#context.setLineDash(style === 'dashed' ? [3, 3] : [])
    this.#context.lineWidth = role === 'faint' ? 0.75 : 1.5
    this.#context.strokeStyle = this.#colors[role]
    this.#context.stroke()
    this.#context.setLineDash([])
  }

  text(words: string, x: number, y: number, role: Role, align: 'left' | 'center' | 'right' = 'left'): void {
    // On a small picture letters keep their size on the screen.
    const size = this.#isFluid ? 12 : Math.max(13, LETTER_PX_MIN / this.#shownScale)
    this.#context.font = `${size}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace`
    this.#context.textAlign = align
    this.#context.fillStyle = this.#colors[role]
    this.#context.fillText(words, x, y)
  }

  #finish(role: Role, style: 'solid' | 'ghost'): void {
    this.#context.fillStyle = this.#context.strokeStyle = this.#colors[role]
    this.#context.lineWidth = 1.5
    if (style === 'solid') this.#context.fill()
    else this.#context.stroke()
  }
}
