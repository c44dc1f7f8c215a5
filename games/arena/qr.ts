/**
 * A QR code for a terminal: byte mode, the lowest level of error correction, up to 106 bytes.
 *
 * ISO 18004, versions 1 to 5: these have a single block of data, which keeps the code short. Two rows of modules are
 * one line of text.
 */

interface Version {
  readonly size: number
  readonly dataBytes: number
  readonly checkBytes: number
  /** The centre of the only alignment pattern; 0 if there is none. */
  readonly alignment: number
}

const VERSIONS: readonly Version[] = [
  { size: 21, dataBytes: 19, checkBytes: 7, alignment: 0 },
  { size: 25, dataBytes: 34, checkBytes: 10, alignment: 18 },
  { size: 29, dataBytes: 55, checkBytes: 15, alignment: 22 },
  { size: 33, dataBytes: 80, checkBytes: 20, alignment: 26 },
  { size: 37, dataBytes: 108, checkBytes: 26, alignment: 30 },
]

/**
 * The modules as rows of booleans, true for dark. Without `mask`, the one with the lowest penalty is used. Undefined
 * when the text is too long.
 */
export function qrMatrix(text: string, mask?: number): boolean[][] | undefined {
  const bytes = new TextEncoder().encode(text)
  const version = VERSIONS.find(({ dataBytes }) => bytes.length + 2 <= dataBytes)
  if (version === undefined) return undefined
  if (mask !== undefined) return draw(version, codewords(bytes, version), mask)
  const candidates = Array.from({ length: 8 }, (_, mask) => draw(version, codewords(bytes, version), mask))
  return candidates.reduce((best, next) => penalty(next) < penalty(best) ? next : best)
}

/** The code as lines of half blocks, light on dark, with a margin. */
export function qrText(text: string): string {
  const matrix = qrMatrix(text)
  if (matrix === undefined) return ''
  const size = matrix.length
  const isLight = (x: number, y: number): boolean =>
    x < -1 || y < -1 || x > size || y > size ? false : matrix[y]?.[x] !== true
  const lines: string[] = []
  for (let y = -1; y <= size; y += 2) {
    let line = '  '
    for (let x = -1; x <= size; x++)
      line += isLight(x, y) ? (isLight(x, y + 1) ? '█' : '▀') : isLight(x, y + 1) ? '▄' : ' '
    lines.push(line)
  }
  return lines.join('\n')
}

/** The padded data, and its check bytes. */
function codewords(bytes: Uint8Array, { dataBytes, checkBytes }: Version): number[] {
  const bits: number[] = []
  const push = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit--) bits.push((value >> bit) & 1)
  }
  push(4, 4)
  push(bytes.length, 8)
  for (const byte of bytes) push(byte, 8)
  push(0, Math.min(4, dataBytes * 8 - bits.length))
  while (bits.length % 8 !== 0) bits.push(0)
  const data = Array.from({ length: bits.length / 8 }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((byte, bit) => (byte << 1) | bit, 0),
  )
  for (let pad = 0; data.length < dataBytes; pad++) data.push(pad % 2 === 0 ? 0xec : 0x11)
  return [...data, ...remainder(data, checkBytes)]
}

function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) product = product << 1 ^ (product >> 7) * 0x11d ^ (b >> bit & 1) * a
  return product
}

/** Remainder of the data divided by the generator polynomial, in GF(256). */
function remainder(data: readonly number[], count: number): number[] {
  const generator = new Array<number>(count).fill(0)
  generator[count - 1] = 1
  for (let degree = 0, root = 1; degree < count; degree++, root = multiply(root, 2)) {
    for (let at = 0; at < count; at++) generator[at] = multiply(generator[at]!, root) ^ (generator[at + 1] ?? 0)
  }
  const rest = new Array<number>(count).fill(0)
  for (const byte of data) {
    const factor = byte ^ rest.shift()!
    rest.push(0)
    for (let at = 0; at < count; at++) rest[at]! ^= multiply(generator[at]!, factor)
  }
  return rest
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0, (_, y) => y % 2 === 0, (x) => x % 3 === 0, (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0, (x, y) => x * y % 2 + x * y % 3 === 0,
  (x, y) => (x * y % 2 + x * y % 3) % 2 === 0, (x, y) => ((x + y) % 2 + x * y % 3) % 2 === 0,
]

function draw({ size, alignment }: Version, words: readonly number[], mask: number): boolean[][] {
  const modules = Array.from({ length: size }, () => new Array<boolean | undefined>(size).fill(undefined))
  const set = (x: number, y: number, isDark: boolean): void => {
    if (modules[y] !== undefined && x >= 0 && x < size) modules[y][x] = isDark
  }
  for (let at = 8; at < size - 8; at++) {
    set(at, 6, at % 2 === 0)
    set(6, at, at % 2 === 0)
  }
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]] as const) {
    for (let y = -4; y <= 4; y++) for (let x = -4; x <= 4; x++) {
      const ring = Math.max(Math.abs(x), Math.abs(y))
      set(cx + x, cy + y, ring !== 2 && ring !== 4)
    }
  }
  if (alignment > 0)
    for (let y = -2; y <= 2; y++)
      for (let x = -2; x <= 2; x++) set(alignment + x, alignment + y, Math.max(Math.abs(x), Math.abs(y)) !== 1)
  setFormat(size, mask, set)
  fill(modules, words, mask)
  return modules.map((row) => row.map((isDark) => isDark === true))
}

function setFormat(size: number, mask: number, set: (x: number, y: number, isDark: boolean) => void): void {
  const value = 1 << 3 | mask
  let rest = value
  for (let step = 0; step < 10; step++) rest = rest << 1 ^ (rest >> 9) * 0x537
  const bits = (value << 10 | rest) ^ 0x5412
  const bit = (index: number): boolean => (bits >> index & 1) === 1
  for (let at = 0; at < 6; at++) set(8, at, bit(at))
  set(8, 7, bit(6))
  set(8, 8, bit(7))
  set(7, 8, bit(8))
  for (let at = 9; at < 15; at++) set(14 - at, 8, bit(at))
  for (let at = 0; at < 8; at++) set(size - 1 - at, 8, bit(at))
  for (let at = 8; at < 15; at++) set(8, size - 15 + at, bit(at))
  set(8, size - 8, true)
}

/** Fills modules up and down in columns of two, from the right, around those that are set. */
function fill(modules: (boolean | undefined)[][], words: readonly number[], mask: number): void {
  const size = modules.length
  let at = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step++) {
      const y = (right + 1 & 2) === 0 ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        const row = modules[y]!
        if (row[x] !== undefined) continue
        const isDark = ((words[at >> 3] ?? 0) >> (7 - (at & 7)) & 1) === 1
        row[x] = isDark !== MASKS[mask]!(x, y)
        at++
      }
    }
  }
}

/** Penalty of a pattern: long runs, blocks, and too much of one colour are hard to read. */
function penalty(matrix: readonly (readonly boolean[])[]): number {
  const size = matrix.length
  let sum = 0
  let dark = 0
  for (let y = 0; y < size; y++) {
    let [rowRun, columnRun] = [1, 1]
    for (let x = 0; x < size; x++) {
      if (matrix[y]![x]) dark++
      rowRun = x > 0 && matrix[y]![x] === matrix[y]![x - 1] ? rowRun + 1 : 1
      columnRun = x > 0 && matrix[x]![y] === matrix[x - 1]![y] ? columnRun + 1 : 1
      for (const run of [rowRun, columnRun]) sum += run === 5 ? 3 : run > 5 ? 1 : 0
      const isBlock =
        x > 0
        && y > 0
        && matrix[y]![x] === matrix[y - 1]![x]
        && matrix[y]![x] === matrix[y]![x - 1]
        && matrix[y]![x] === matrix[y - 1]![x - 1]
      if (isBlock) sum += 3
    }
  }
  return sum + Math.floor(Math.abs(dark * 20 / (size * size) - 10)) * 10
}
