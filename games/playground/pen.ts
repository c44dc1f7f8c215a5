/**
 * The drawing interface of labs: a few shapes, coloured by role. On the page it is a canvas, for the guide an image
 * file.
 */

/** Determines the colour, everywhere: the server's, yours, the other player's. */
export type Role = 'server' | 'you' | 'other' | 'ink' | 'muted' | 'faint' | 'good' | 'bad'

export type Point = readonly [x: number, y: number]

export interface Pen {
  readonly width: number
  readonly height: number
  /** `ghost` is an outline: where an object is for another participant, or was before. */
  square(x: number, y: number, size: number, role: Role, style?: 'solid' | 'ghost'): void
  dot(x: number, y: number, radius: number, role: Role, style?: 'solid' | 'ghost'): void
  path(points: readonly Point[], role: Role, style?: 'solid' | 'dashed'): void
  text(words: string, x: number, y: number, role: Role, align?: 'left' | 'center' | 'right'): void
}
