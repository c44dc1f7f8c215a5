/** Reads seals as docs/wire/RECORDING.md says, and computes the top over their ticks. Imports nothing of src. */

import { createHash } from 'node:crypto'

export interface SealMeaning {
  readonly first: number
  readonly last: number
  /** The top in the seal, and the one that the ticks and hashes give, in hexadecimal digits. */
  readonly top: string
  readonly computed: string
  /** The hashes that players agreed on, by tick: ten bytes. */
  readonly roots: ReadonlyMap<number, Uint8Array>
}

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The body of a seal chunk. `bytesOf`: the bytes of a tick in the log. */
export function readSeal(body: Uint8Array, bytesOf: (tick: number) => Uint8Array): SealMeaning {
  const view = Buffer.from(body.buffer, body.byteOffset, body.length)
  const [first, last] = [view.readUIntLE(0, 6), view.readUIntLE(6, 6)]
  const top = view.subarray(12, 44).toString('hex')
  let at = 44 + 32
  at += 1 + view[at]! * 71
  const count = view.readUInt16LE(at)
  at += 2
  const roots = new Map<number, Uint8Array>()
  for (let each = 0; each < count; each++, at += 16)
    roots.set(view.readUIntLE(at, 6), view.subarray(at + 6, at + 16))
  if (body.length !== at + 32 + 64) throw new Error('the seal has another size')
  let row: Uint8Array[] = []
  for (let tick = first; tick <= last; tick++) {
    const number = Buffer.alloc(6)
    number.writeUIntLE(tick, 0, 6)
    row.push(sha256(Uint8Array.of(0), number, roots.get(tick) ?? new Uint8Array(10), sha256(bytesOf(tick))))
  }
  while (row.length > 1) {
    const above: Uint8Array[] = []
    for (let pair = 0; pair < row.length; pair += 2)
      above.push(pair + 1 < row.length ? sha256(Uint8Array.of(1), row[pair]!, row[pair + 1]!) : row[pair]!)
    row = above
  }
  return { first, last, top, computed: Buffer.from(row[0]!).toString('hex'), roots }
}
