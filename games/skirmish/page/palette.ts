/** The colours of the seats: on the map, on the minimap and in the lists. */

/** Indexed by seat. */
export const SEAT_COLOURS: readonly number[] = [
  0x36e2ff, 0xff9a4c, 0xff5fd2, 0x6ee86a, 0xa98bff, 0xffe14d, 0xff5a4f, 0xdfe8ff,
]

/** Indexed by seat. */
export const SEAT_NAMES: readonly string[] = ['Cyan', 'Amber', 'Rose', 'Moss', 'Violet', 'Sun', 'Ember', 'Frost']

/** The colour of a seat for style sheets and 2D canvases. */
export function cssColour(seat: number): string {
  return `#${SEAT_COLOURS[seat]!.toString(16).padStart(6, '0')}`
}
