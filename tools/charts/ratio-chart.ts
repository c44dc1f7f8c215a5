/**
 * A chart of a benchmark: one bar for each ratio to another library, on a logarithmic scale on which the other library
 * is 1. A bar to the left is in favour of Tickwire. The whisker is the range of all runs, the mark the bound.
 *
 * The colours are those of the labs, by day and by night, so that a chart reads on a bright and on a dark page.
 */

import { svgPicture } from '../../games/playground/svg-pen.ts'
import type { ResultFigure } from './figures.ts'

const [WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM] = [1024, 380, 100, 64, 42, 34]
const STEPS = [1, 2, 5]

/** The chart of `figures`, which all are ratios. */
export function ratioChart(title: string, figures: readonly ResultFigure[]): string {
  const values = figures.flatMap(({ value, bound }) => [value, bound?.value ?? value, 1])
  const [from, to] = [Math.min(...values) / 1.25, Math.max(...values) * 1.25]
  const span = WIDTH - LEFT - RIGHT
  const place = (value: number): number => LEFT + (Math.log(value / from) / Math.log(to / from)) * span
  const height = TOP + figures.length * ROW + BOTTOM
  const bottom = height - BOTTOM
  const marks = [
    `<rect width="${WIDTH}" height="${height}" class="page" rx="10"/>`,
    text(16, 30, 'title fill ink', escaped(title)),
    text(WIDTH - 16, 30, 'fill muted', 'median; 1 is the other side; less is better', 'end'),
    ...ticksOf(from, to).map((tick) =>
      `<line x1="${at(place(tick))}" x2="${at(place(tick))}" y1="${TOP - 14}" y2="${bottom}" class="line faint"/>`
      + text(place(tick), bottom + 20, tick === 1 ? 'fill ink' : 'fill muted', String(tick), 'middle')),
    ...figures.map((figure, index) => bar(figure, TOP + index * ROW, place)),
    `<line x1="${at(place(1))}" x2="${at(place(1))}" y1="${TOP - 14}" y2="${bottom}" class="line ink"/>`,
  ]
  return svgPicture(WIDTH, height, escaped(title), marks.join('\n'))
}

function bar(figure: ResultFigure, y: number, place: (value: number) => number): string {
  const { name, value, range, bound, against } = figure
  const [from, to] = [Math.min(place(value), place(1)), Math.max(place(value), place(1))]
  const end = Math.max(to, place(range?.[1] ?? value))
  const limitAt = place(bound?.value ?? value)
  const isNear = limitAt > end && limitAt < end + 60
  const role = value <= 1 ? 'you' : 'server'
  const limit = bound === undefined ? '' : `, bound ${bound.value}${figure.isMissed ? ' missed' : ''}`
  return [
    text(LEFT - 16, y + 8, 'fill ink', name, 'end'),
    text(LEFT - 16, y + 24, 'fill muted', escaped(cut(`${against}${limit}`)), 'end'),
    `<rect x="${at(from)}" y="${y}" width="${at(to - from)}" height="20" rx="3" class="fill ${role}"/>`,
    ...(range === undefined ? [] : [
      `<line x1="${at(place(range[0]))}" x2="${at(place(range[1]))}" y1="${y + 10}" y2="${y + 10}" class="line ink"/>`,
    ]),
    ...(bound === undefined ? [] : [
      `<rect x="${at(place(bound.value) - 1.5)}" y="${y - 4}" width="3" height="28" class="fill `
      + `${figure.isMissed ? 'bad' : 'good'}"/>`,
    ]),
    text((isNear ? limitAt : end) + 10, y + 15, 'fill ink', String(value)),
  ].join('')
}

/** 1, 2 and 5 of every power of ten in the range; only the powers where there are many. */
function ticksOf(from: number, to: number): number[] {
  const powers = Array.from({ length: 13 }, (_, index) => 10 ** (index - 6))
  const all = powers.flatMap((power) => STEPS.map((step) => Number((power * step).toPrecision(1))))
  const inside = all.filter((tick) => tick >= from && tick <= to)
  return inside.length <= 9 ? inside : inside.filter((tick) => Number.isInteger(Math.log10(tick)))
}

function text(x: number, y: number, role: string, words: string, anchor = 'start'): string {
  return `<text x="${at(x)}" y="${y}" class="${role}" text-anchor="${anchor}">${words}</text>`
}

/** Names of libraries may be longer than the space at the left. */
function cut(words: string): string {
  return words.length <= 50 ? words : `${words.slice(0, 49)}…`
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function at(place: number): string {
  return `${Math.round(place * 10) / 10}`
}
