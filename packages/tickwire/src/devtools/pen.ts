/**
 * A canvas that is filled from top to bottom: text, graphs and bars in the style of the overlay.
 *
 * It knows nothing about networks. One `Pen` draws one overlay; `begin` starts a new picture.
 */

import type { Series } from './series.ts'

/** Legible on a dark overlay over any game. Colours differ in lightness too, for red-green colour blindness. */
export const INK = {
  text: '#e8ecf4',
  dim: '#8d97ab',
  faint: 'rgba(255,255,255,0.07)',
  good: '#46d9a0',
  fair: '#ffc35c',
  bad: '#ff6173',
  blue: '#62b4ff',
  violet: '#b79bff',
} as const

const SANS = '11px system-ui, -apple-system, "Segoe UI", sans-serif'
const SANS_BOLD = '600 11px system-ui, -apple-system, "Segoe UI", sans-serif'
const MONO = '11px ui-monospace, "SF Mono", Menlo, Consolas, monospace'
const LARGE = '600 17px ui-monospace, "SF Mono", Menlo, Consolas, monospace'
const LINE = 15

/** A part of the picture, and the text that explains it. */
interface Explained {
  readonly right: number
  readonly bottom: number
  readonly text: string
}

/** A number with its name below it. `about` explains it. */
export interface Tile {
  readonly name: string
  readonly value: string
  readonly unit: string
  readonly ink: string
  readonly about: string
}

export class Pen {
  /** The current vertical position. */
  y = 0
  /** Whether only graphs are redrawn and texts stay: texts cost most, and change least. */
  #isGraphsOnly = false
  readonly width: number
  readonly #context: CanvasRenderingContext2D
  /** From top to bottom, and from left to right. Each begins where the one before it ends. */
  readonly #explained: Explained[] = []

  constructor(context: CanvasRenderingContext2D, width: number) {
    this.#context = context
    this.width = width
  }

  begin(height: number, isGraphsOnly: boolean): void {
    this.y = 0
    this.#isGraphsOnly = isGraphsOnly
    if (!isGraphsOnly) {
      this.#context.clearRect(0, 0, this.width, height)
      this.#explained.length = 0
    }
    this.#context.textBaseline = 'alphabetic'
  }

  skip(pixels: number): void {
    this.y += pixels
  }

  /** The text explains all rows and graphs since the last explanation. */
  explain(text: string): void {
    if (!this.#isGraphsOnly) this.#explained.push({ right: this.width, bottom: this.y, text })
  }

  /** The explanation of a place of the picture, '' for none. */
  explanationAt(x: number, y: number): string {
    return this.#explained.find(({ right, bottom }) => x <= right && y <= bottom)?.text ?? ''
  }

  /** A heading on the left, its current value on the right. */
  heading(title: string, said: string, ink: string = INK.dim): void {
    const context = this.#context
    this.y += LINE
    if (this.#isGraphsOnly) return
    context.font = SANS_BOLD
    context.fillStyle = INK.text
    context.fillText(title, 0, this.y - 4)
    context.font = MONO
    context.fillStyle = ink
    context.textAlign = 'right'
    context.fillText(said, this.width, this.y - 4)
    context.textAlign = 'left'
  }

  /** Numbers side by side, each above its name and with its explanation. */
  tiles(tiles: readonly Tile[]): void {
    const context = this.#context
    const step = this.width / tiles.length
    if (!this.#isGraphsOnly) tiles.forEach(({ name, value, unit, ink, about }, at) => {
      const x = at * step
      context.font = LARGE
      context.fillStyle = ink
      context.fillText(value, x, this.y + 18)
      const wide = context.measureText(value).width
      context.font = SANS
      context.fillStyle = INK.dim
      context.fillText(unit, x + wide + 3, this.y + 18)
      context.fillText(name, x, this.y + 32)
      this.#explained.push({ right: x + step, bottom: this.y + 38, text: about })
    })
    this.y += 38
  }

  /** A line of text: the name on the left, the amount on the right. A name without room ends in an ellipsis. */
  line(left: string, right: string, ink: string = INK.dim): void {
    const context = this.#context
    this.y += LINE
    if (this.#isGraphsOnly) return
    context.font = MONO
    context.fillStyle = ink
    const room = this.width - 8 - context.measureText(right).width
    context.fillText(shorten(left, Math.floor(room / context.measureText('0').width)), 0, this.y - 4)
    if (right === '') return
    context.textAlign = 'right'
    context.fillStyle = INK.text
    context.fillText(right, this.width, this.y - 4)
    context.textAlign = 'left'
  }

  /** A line with a bar behind it, as long as its share. */
  bar(left: string, right: string, share: number, ink: string): void {
    const context = this.#context
    if (!this.#isGraphsOnly) {
      context.globalAlpha = 0.28
      context.fillStyle = ink
      context.fillRect(0, this.y + 1, Math.max(1, this.width * Math.min(share, 1)), LINE - 3)
      context.globalAlpha = 1
    }
    this.line(left, right, INK.text)
  }

  /** Columns, the newest on the right. `inkOf` returns the colour of each, '' for none. */
  columns(height: number, count: number, heightOf: (at: number) => number, inkOf: (at: number) => string): void {
    const context = this.#context
    this.#ground(height)
    const step = this.width / count
    const wide = Math.max(step - 0.4, 0.6)
    let dipped = ''
    for (let at = 0; at < count; at++) {
      const ink = inkOf(at)
      if (ink === '') continue
      const tall = Math.max(1, Math.min(heightOf(at), 1) * height)
      if (ink !== dipped) context.fillStyle = dipped = ink
      context.fillRect(at * step, this.y + height - tall, wide, tall)
    }
    this.y += height
  }

  /** A curve of a series between two values, with a line at each of `marks`. */
  curve(height: number, series: Series, min: number, max: number, ink: string, marks: readonly number[] = []): void {
    const context = this.#context
    const bottom = this.y + height
    // A line at the border stays within the ground: what is outside is not cleared before the next draw.
    const placeOf = (value: number): number =>
      bottom - 1 - ((Math.max(min, Math.min(value, max)) - min) / (max - min)) * (height - 2)
    this.#ground(height)
    context.fillStyle = 'rgba(255,255,255,0.22)'
    for (const mark of marks) context.fillRect(0, Math.round(placeOf(mark)), this.width, 1)
    context.strokeStyle = ink
    context.lineWidth = 1.5
    context.lineJoin = 'round'
    context.beginPath()
    const first = series.capacity - series.length
    for (let at = 0; at < series.length; at++) {
      const x = (first + at) / (series.capacity - 1) * this.width
      const y = placeOf(series.at(at))
      if (at === 0) context.moveTo(x, y)
      else context.lineTo(x, y)
    }
    context.stroke()
    this.y = bottom
  }

  /** Coloured words that explain the colours above. */
  legend(words: readonly (readonly [string, string])[]): void {
    const context = this.#context
    this.y += LINE
    if (this.#isGraphsOnly) return
    context.font = SANS
    let x = 0
    for (const [word, ink] of words) {
      context.fillStyle = ink
      context.fillRect(x, this.y - 11, 7, 7)
      context.fillStyle = INK.dim
      context.fillText(word, x + 11, this.y - 4)
      x += context.measureText(word).width + 24
    }
  }

  #ground(height: number): void {
    const context = this.#context
    context.clearRect(0, this.y, this.width, height)
    context.fillStyle = INK.faint
    context.fillRect(0, this.y, this.width, height)
  }
}

/** A text that is cut to so many characters. Its end is an ellipsis then. */
export function shorten(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, Math.max(0, charactersMax - 1))}…`
}
