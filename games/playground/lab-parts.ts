/** Screens and figures of a lab, in one line each. */

import type { Figure, Screen } from './lab.ts'
import type { Pen, Role } from './pen.ts'

export function screen(title: string, role: Role, note: string, draw: (pen: Pen) => void): Screen {
  return { title, role, note, draw }
}

export function figure(name: string, value: string | number, role: Role = 'ink'): Figure {
  return { name, value: `${value}`, role }
}

/** `279 ms`, or a dash before the first measurement. */
export function milliseconds(ms: number): string {
  return Number.isNaN(ms) ? '–' : `${Math.round(ms)} ms`
}

/** `84 %`, from a fraction. */
export function percent(part: number): string {
  return Number.isNaN(part) ? '–' : `${Math.round(part * 100)} %`
}

/** `2.9 px`. */
export function pixels(length: number): string {
  return Number.isNaN(length) ? '–' : `${length.toFixed(1)} px`
}
