/**
 * Reads the text of a QR code, as a phone does: versions 1 to 5 with the lowest error correction, which have one block
 * of bytes (ISO 18004).
 */

const SIZE_MAX = 37
const LEAST_CORRECTION = 1
const FORMAT_MASK = 0b10101
const BYTES_MODE = 4

const MASKS: readonly ((x: number, y: number) => number)[] = [
  (x, y) => (x + y) % 2,
  (_x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
]

/** `isDark`: the modules without a border, row by row. */
export function readQr(isDark: readonly (readonly boolean[])[]): string {
  const size = isDark.length
  if (size > SIZE_MAX || (size - 17) % 4 !== 0) throw new Error(`a QR code of ${size} rows`)
  const at = (x: number, y: number): number => Number(isDark[y]?.[x] ?? false)
  let format = 0
  for (let x = 0; x < 5; x++) format = format * 2 + at(x, 8)
  format ^= FORMAT_MASK
  if (format >>> 3 !== LEAST_CORRECTION) throw new Error(`error correction ${format >>> 3}`)
  const mask = MASKS[format & 7]!
  const center = size - 7
  const isFixed = (x: number, y: number): boolean =>
    x === 6 || y === 6 || (x < 9 && (y < 9 || y >= size - 8)) || (y < 9 && x >= size - 8)
    || (size > 21 && Math.abs(x - center) <= 2 && Math.abs(y - center) <= 2)
  const bits: number[] = []
  for (let right = size - 1; right > 0; right -= 2) {
    // The column of the timing pattern is left out.
    if (right === 6) right--
    const isUpward = ((right + 1) & 2) === 0
    for (let step = 0; step < size; step++) {
      const y = isUpward ? size - 1 - step : step
      for (const x of [right, right - 1]) if (!isFixed(x, y)) bits.push(at(x, y) ^ Number(mask(x, y) === 0))
    }
  }
  const take = (from: number, count: number): number =>
    bits.slice(from, from + count).reduce((value, bit) => value * 2 + bit, 0)
  if (take(0, 4) !== BYTES_MODE) throw new Error(`mode ${take(0, 4)}`)
  return Buffer.from(Array.from({ length: take(4, 8) }, (_, byte) => take(12 + 8 * byte, 8))).toString('utf8')
}

/** The QR code in a text for a dark terminal, with two rows of modules in each line and a border of two modules. */
export function readQrText(text: string): string {
  const lines = text.split('\n')
    .filter((line) => /^ *[█▀▄][█▀▄ ]{20,}$/.test(line))
    .map((line) => line.replace(/^ {2}/, ''))
  const width = Math.max(...lines.map(({ length }) => length))
  const rows = lines.flatMap((line) => {
    const cells = [...line.padEnd(width)]
    return [cells.map((cell) => cell === ' ' || cell === '▄'), cells.map((cell) => cell === ' ' || cell === '▀')]
  })
  return readQr(rows.slice(2, width - 2).map((row) => row.slice(2, -2)))
}
