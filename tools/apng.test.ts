import { crc32, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { encodeApng, type Pixels } from './apng.ts'

interface Chunk {
  readonly type: string
  readonly body: Buffer
}

/** Splits a PNG, checking its frame: signature, lengths, checksums. */
function chunksOf(png: Buffer): Chunk[] {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const chunks: Chunk[] = []
  for (let at = 8; at < png.length;) {
    const end = at + 8 + png.readUInt32BE(at)
    expect(png.readUInt32BE(end)).toBe(crc32(png.subarray(at + 4, end)))
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), body: png.subarray(at + 8, end) })
    at = end + 4
  }
  return chunks
}

/** Plays an animation as a viewer would: each frame is drawn over the one before it. */
function play(png: Buffer): Uint8Array[] {
  const chunks = chunksOf(png)
  const width = chunks[0]!.body.readUInt32BE(0)
  const canvas = new Uint8Array(width * chunks[0]!.body.readUInt32BE(4) * 4)
  const frames: Uint8Array[] = []
  let control = Buffer.alloc(0)
  for (const { type, body } of chunks) {
    if (type === 'fcTL') control = Buffer.from(body)
    if (type !== 'IDAT' && type !== 'fdAT') continue
    const [wide, high, left, top] = [4, 8, 12, 16].map((at) => control.readUInt32BE(at)) as [
      number,
      number,
      number,
      number,
    ]
    const rows = inflateSync(type === 'fdAT' ? body.subarray(4) : body)
    expect(rows.length).toBe(high * (wide * 4 + 1))
    for (let pixel = 0; pixel < wide * high; pixel++) {
      const [y, x] = [Math.floor(pixel / wide), pixel % wide]
      const from = y * (wide * 4 + 1) + 1 + x * 4
      if (type === 'fdAT' && rows[from + 3] === 0) continue
      canvas.set(rows.subarray(from, from + 4), ((top + y) * width + left + x) * 4)
    }
    frames.push(canvas.slice())
  }
  return frames
}

function picture(width: number, height: number, colourOf: (x: number, y: number) => readonly number[]): Pixels {
  const rgba = Array.from({ length: width * height }, (_, at) => colourOf(at % width, Math.floor(at / width))).flat()
  return { width, height, rgba: Uint8Array.from(rgba) }
}

test('the frames that are played are those that were encoded, also where nothing changes', () => {
  const square = (left: number): Pixels =>
    picture(9, 5, (x, y) => (x === left && y === 2 ? [250, 40, 7, 255] : [10, 20, 30, 255]))
  const frames = [square(1), square(2), square(2), square(8)]
  expect(play(encodeApng(frames, 50))).toEqual(frames.map(({ rgba }) => rgba))
})

test('sequence numbers count controls and data together, as viewers demand', () => {
  const frames = [0, 1, 2].map((shade) => picture(2, 2, () => [shade, 0, 0, 255]))
  const numbered = chunksOf(encodeApng(frames, 50)).filter(({ type }) => type === 'fcTL' || type === 'fdAT')
  expect(numbered.map(({ body }) => body.readUInt32BE(0))).toEqual([0, 1, 2, 3, 4])
})
