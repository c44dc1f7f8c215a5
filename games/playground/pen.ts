/**
 * What labs draw with: a few strokes in the colours of who is who. On the page it is a canvas, for the guide a picture file.
 */

/** Whose thing it is decides its colour, everywhere: the server's, yours, the other player's. */
export type Role = 'server' | 'you' | 'other' | 'ink' | 'muted' | 'faint' | 'good' | 'bad'

export type Point = readonly [x: number, y: number]

export interface Pen {
  readonly width: number
  readonly height: number
  /** `ghost` is an outline: where something is for somebody else, or was. */
  square(x: number, y: number, size: number, role: Role, style?: 'solid' | 'ghost'): void
  dot(x: number, y: number, radius: number, role: Role, style?: 'solid' | 'ghost'): void
  path(points: readonly Point[], role: Role, style?: 'solid' | 'dashed'): void
  text(words: string, x: number, y: number, role: Role, align?: 'left' | 'center' | 'right'): void
}
