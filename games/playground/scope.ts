/**
 * A chart of the last seconds: one line for each name, and spans that show how long something took.
 *
 * A span is drawn between its two times, at the value of its line.
 */

import type { Pen, Point, Role } from './pen.ts'

const SPAN_MS = 3000
const GRID_MS = 500
/** Space for labels: the scale at the left, names to the right of the lines, and above and below. */
const MARGIN = { left: 56, right: 100, top: 18, bottom: 22 }
const LABEL_APART = 15
const LABEL_WIDTH = 48

interface Sample {
  readonly at: number
  readonly values: readonly number[]
}

interface Span {
  readonly from: number
  readonly to: number
  readonly value: number
  readonly role: Role
}

export class Scope {
  readonly title: string
  readonly #lines: readonly { readonly name: string; readonly role: Role }[]
  readonly #min: number
  readonly #max: number
  readonly #unit: string
  #samples: Sample[] = []
  #spans: Span[] = []

  constructor(
    title: string,
    [min, max]: readonly [min: number, max: number],
    lines: { readonly [name: string]: Role },
    unit: string = 'px',
  ) {
    this.#unit = unit
    this.title = title
    this.#min = min
    this.#max = max
    this.#lines = Object.entries(lines).map(([name, role]) => ({ name, role }))
  }

  /** Adds the values at a time, in the order of the lines. */
  add(at: number, ...values: readonly number[]): void {
    this.#samples.push({ at, values })
    if (this.#samples.length > 1 && (this.#samples[1]?.at ?? at) < at - SPAN_MS) this.#samples.shift()
  }

  /** Marks a span from one time to another. */
  mark(from: number, to: number, value: number, role: Role): void {
    this.#spans = [...this.#spans.filter((span) => span.to > to - SPAN_MS), { from, to, value, role }]
  }

  draw(pen: Pen): void {
    const newest = this.#samples.at(-1)?.at ?? 0
    const [right, bottom] = [pen.width - MARGIN.right, pen.height - MARGIN.bottom]
    const wide = right - MARGIN.left
    const placeX = (at: number): number => right - ((newest - at) / SPAN_MS) * wide
    const placeY = (value: number): number =>
      bottom - ((value - this.#min) / (this.#max - this.#min)) * (bottom - MARGIN.top)
    // On a narrow chart every second label has room.
    const labelMs = (GRID_MS / SPAN_MS) * wide < LABEL_WIDTH ? 2 * GRID_MS : GRID_MS
    for (let at = Math.ceil((newest - SPAN_MS) / GRID_MS) * GRID_MS; at <= newest; at += GRID_MS) {
      if (at < 0) continue
      pen.path([[placeX(at), MARGIN.top], [placeX(at), bottom]], 'faint')
      if (placeX(at) <= MARGIN.left + 12 || at % labelMs !== 0) continue
      pen.text(`${(at / 1000).toFixed(1)} s`, placeX(at), pen.height - 6, 'muted', 'center')
    }
    for (const value of [this.#min, (this.#min + this.#max) / 2, this.#max]) {
      pen.path([[MARGIN.left, placeY(value)], [right, placeY(value)]], 'faint')
      pen.text(`${value} ${this.#unit}`, MARGIN.left - 6, placeY(value) + 4, 'muted', 'right')
    }
    this.#lines.forEach(({ role }, line) => {
      const shown = this.#samples.filter(({ at }) => placeX(at) >= MARGIN.left)
      pen.path(shown.map(({ at, values }): Point => [placeX(at), placeY(values[line] ?? NaN)]), role)
    })
    this.#drawLabels(pen, right, placeY)
    for (const { from, to, value, role } of this.#spans) {
      if (placeX(from) < MARGIN.left) continue
      pen.path([[placeX(from), placeY(value)], [placeX(to), placeY(value)]], role, 'dashed')
      pen.text(`${Math.round(to - from)} ms`, (placeX(from) + placeX(to)) / 2, placeY(value) - 4, role, 'center')
    }
  }

  /** Labels at the ends of the lines, moved apart if lines end together. */
  #drawLabels(pen: Pen, right: number, placeY: (value: number) => number): void {
    const values = this.#samples.at(-1)?.values ?? []
    const labels = this.#lines
      .map((line, index) => ({ ...line, y: placeY(values[index] ?? this.#min) + 4 }))
      .sort((a, b) => a.y - b.y)
    const last = labels.length - 1
    labels.forEach((label, index) => { label.y = Math.max(label.y, (labels[index - 1]?.y ?? -Infinity) + LABEL_APART) })
    const over = Math.max(0, (labels[last]?.y ?? 0) - (pen.height - MARGIN.bottom))
    for (const { name, role, y } of labels) pen.text(name, right + 8, y - over, role)
  }
}
