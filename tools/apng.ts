/**
 * Animated PNG from raw pixels, with nothing but zlib.
 *
 *   signature, IHDR, acTL, (fcTL, IDAT), (fcTL, fdAT) ..., IEND
 *
 * Every frame after the first holds only the rectangle that changed, and in it only the pixels that did: the rest is
 * transparent and is drawn over what was there. That is what keeps a calm picture small.
 *
 * It does not choose colours, and cannot make a pixel transparent that was not in the first frame.
 */

import { crc32, deflateSync } from 'node:zlib'

/** Pixels as a canvas gives them: red, green, blue, alpha, from the top left. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly rgba: Uint8Array
}

interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const RGBA_8 = Buffer.from([8, 6, 0, 0, 0])
const BLEND_OVER = 1

/** Encodes frames of one size, each shown for `frameMs`, over and over. */
export function encodeApng(frames: readonly Pixels[], frameMs: number): Buffer {
  const [first] = frames
  if (first === undefined) throw new RangeError('an animation has at least one frame')
  const { width, height } = first
  const parts = [
    SIGNATURE,
    chunk('IHDR', words(width, height), RGBA_8),
    chunk('acTL', words(frames.length, 0)),
    control(0, { x: 0, y: 0, width, height }, frameMs),
    chunk('IDAT', packRows(first.rgba, width, height)),
  ]
  let sequence = 1
  for (const [at, frame] of frames.entries()) {
    const before = frames[at - 1]
    if (before === undefined) continue
    const changed = changedRectangle(before, frame)
    parts.push(control(sequence++, changed, frameMs))
    const rows = packRows(changes(before, frame, changed), changed.width, changed.height)
    parts.push(chunk('fdAT', words(sequence++), rows))
  }
  return Buffer.concat([...parts, chunk('IEND')])
}

/**
 * The smallest rectangle that contains all changed pixels. One pixel if nothing changed, because a frame must have one.
 */
function changedRectangle(before: Pixels, after: Pixels): Rectangle {
  const { width, height } = after
  let [left, top, right, bottom] = [width, height, -1, -1]
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (isSame(before, after, (y * width + x) * 4)) continue
      left = Math.min(left, x)
      right = Math.max(right, x)
      top = Math.min(top, y)
      bottom = y
    }
  }
  return right < 0
    ? { x: 0, y: 0, width: 1, height: 1 }
    : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
}

function changes(before: Pixels, after: Pixels, { x, y, width, height }: Rectangle): Uint8Array {
  const out = new Uint8Array(width * height * 4)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const from = ((y + row) * after.width + x + column) * 4
      if (!isSame(before, after, from)) out.set(after.rgba.subarray(from, from + 4), (row * width + column) * 4)
    }
  }
  return out
}

function isSame(a: Pixels, b: Pixels, at: number): boolean {
  return (
    a.rgba[at] === b.rgba[at]
    && a.rgba[at + 1] === b.rgba[at + 1]
    && a.rgba[at + 2] === b.rgba[at + 2]
    && a.rgba[at + 3] === b.rgba[at + 3]
  )
}

/** Each row has a byte in front that names its filter: 0, none. Flat colours compress best unfiltered. */
function packRows(rgba: Uint8Array, width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (width * 4 + 1))
  for (let y = 0; y < height; y++) rows.set(rgba.subarray(y * width * 4, (y + 1) * width * 4), y * (width * 4 + 1) + 1)
  return deflateSync(rows, { level: 9 })
}

function control(sequence: number, { x, y, width, height }: Rectangle, frameMs: number): Buffer {
  const tail = Buffer.alloc(6)
  tail.writeUInt16BE(frameMs, 0)
  tail.writeUInt16BE(1000, 2)
  tail[5] = sequence === 0 ? 0 : BLEND_OVER
  return chunk('fcTL', words(sequence, width, height, x, y), tail)
}

function words(...values: readonly number[]): Buffer {
  const out = Buffer.alloc(values.length * 4)
  for (const [at, value] of values.entries()) out.writeUInt32BE(value, at * 4)
  return out
}

function chunk(type: string, ...body: readonly Buffer[]): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), ...body])
  return Buffer.concat([words(named.length - 4), named, words(crc32(named))])
}
