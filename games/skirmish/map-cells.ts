/** The cells of a map, and where the eight starts are on it. */

export const SIZE = 128
export const CELLS: number = SIZE * SIZE
export const MIDDLE: number = SIZE / 2
/** Where the starts are, from the centre. Indexed by seat. */
export const RING: readonly (readonly [number, number])[] = [
  [0, -48], [34, -34], [48, 0], [34, 34], [0, 48], [-34, 34], [-48, 0], [-34, -34],
]

export function cellAt(x: number, y: number): number {
  return y * SIZE + x
}

export function columnOf(cell: number): number {
  return cell % SIZE
}

export function rowOf(cell: number): number {
  return (cell - (cell % SIZE)) / SIZE
}
