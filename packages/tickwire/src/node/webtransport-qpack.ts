/**
 * Header blocks of HTTP/3 (QPACK, RFC 9204), as far as a server without a dynamic table needs them.
 *
 * ```
 * block   0 (nothing inserted), base, then field lines
 * line    1 1 index(6)                     name and value of the static table
 *         0 1 N 1 index(4) value           name of the static table, another value
 *         0 0 1 N H length(3) name value   both literal
 * value   H length(7) bytes                H: Huffman-coded (RFC 7541, appendix B)
 * ```
 *
 * It knows the entries of the static table that a WebTransport request uses; other fields are skipped. Invariant: no
 * input makes it throw or read past its end; malformed input gives undefined.
 */

const FIELDS_MAX = 64

/** Names of the relevant request fields. Keyed by index in the static table. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0, ':authority'],
  [1, ':path'],
  ...range(15, 21).map((index) => [index, ':method'] as const),
  [22, ':scheme'],
  [23, ':scheme'],
  [90, 'origin'],
])
const VALUES: ReadonlyMap<number, string> = new Map([
  [0, ''],
  [1, '/'],
  [15, 'CONNECT'],
  [17, 'GET'],
  [20, 'POST'],
  [22, 'http'],
  [23, 'https'],
  [90, ''],
])

/** Indexes of `:status` in the static table. */
const STATUS = { 200: 25, 404: 27, 400: 67, 403: 68, 503: 28 } as const

export type Status = keyof typeof STATUS

/** A block that contains only the status of a response. */
export function encodeStatus(status: Status): Uint8Array {
  const index = STATUS[status]
  return Uint8Array.from(index < 63 ? [0, 0, 0xc0 | index] : [0, 0, 0xff, index - 63])
}

/** The fields of a block by name, the first of each; undefined if it is malformed or needs a dynamic table. */
export function decodeFields(block: Uint8Array): ReadonlyMap<string, string> | undefined {
  const reader = new BlockReader(block)
  const fields = new Map<string, string>()
  if (reader.integer(8) !== 0) return undefined
  reader.integer(7)
  for (let count = 0; !reader.isAtEnd && !reader.failed; count++) {
    if (count === FIELDS_MAX) return undefined
    const [name, value] = readField(reader)
    if (!fields.has(name)) fields.set(name, value)
  }
  return reader.failed ? undefined : fields
}

function readField(reader: BlockReader): readonly [string, string] {
  const first = reader.peek()
  if ((first & 0x80) !== 0) {
    const index = reader.integer(6)
    if ((first & 0x40) === 0) reader.fail()
    return [NAMES.get(index) ?? '', VALUES.get(index) ?? '']
  }
  if ((first & 0x40) !== 0) {
    const index = reader.integer(4)
    if ((first & 0x10) === 0) reader.fail()
    return [NAMES.get(index) ?? '', reader.text(7)]
  }
  if ((first & 0x20) === 0) reader.fail()
  return [reader.text(3), reader.text(7)]
}

class BlockReader {
  failed = false
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  fail(): void {
    this.failed = true
  }

  peek(): number {
    return this.#bytes[this.#at] ?? 0
  }

  /** Decodes an integer that begins in the low `bits` of a byte. 0 after a failure. */
  integer(bits: number): number {
    const mask = (1 << bits) - 1
    let value = this.#byte() & mask
    if (value < mask) return this.failed ? 0 : value
    for (let shift = 0; ; shift += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** shift
      if ((byte & 0x80) === 0) break
      // No length here exceeds a few kilobytes.
      if (shift >= 14) this.failed = true
      if (this.failed) return 0
    }
    return this.failed ? 0 : value
  }

  /** Decodes a string whose length begins in the low `bits` of a byte, with its Huffman flag just above. */
  text(bits: number): string {
    const isCoded = (this.peek() & (1 << bits)) !== 0
    const length = this.integer(bits)
    const end = this.#at + length
    if (end > this.#bytes.length) this.failed = true
    if (this.failed) return ''
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    const text = isCoded ? decodeHuffman(bytes) : String.fromCharCode(...bytes)
    if (text === undefined) this.failed = true
    return text ?? ''
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) this.failed = true
    return byte ?? 0
  }
}

/**
 * Characters in code order, keyed by the length of their code. The code is canonical, so the lengths define it. Codes
 * longer than 15 bits are omitted: no host, path or origin contains their characters.
 */
const BY_LENGTH: ReadonlyMap<number, string> = new Map([
  [5, '012aceiost'], [6, ' %-./3456789=A_bdfghlmnpru'], [7, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'], [8, '&*,;XZ'],
  [10, '!"()?'], [11, "'+|"], [12, '#>'], [13, '\0$@[]~'], [14, '^}'], [15, '<`{'],
])

/** Characters, keyed by length and code. */
const CODES: ReadonlyMap<number, string> = canonicalCodes()

function canonicalCodes(): ReadonlyMap<number, string> {
  const codes = new Map<number, string>()
  let code = 0
  for (let length = 5; length <= 15; length++) {
    for (const symbol of BY_LENGTH.get(length) ?? '') codes.set((length << 16) | code++, symbol)
    code <<= 1
  }
  return codes
}

function decodeHuffman(bytes: Uint8Array): string | undefined {
  let text = ''
  let code = 0
  let length = 0
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1)
      if (++length > 15) return undefined
      const symbol = CODES.get((length << 16) | code)
      if (symbol === undefined) continue
      text += symbol
      code = 0
      length = 0
    }
  }
  // The padding is less than a byte, and all ones.
  return length < 8 && code === (1 << length) - 1 ? text : undefined
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
