import { expect, test } from 'vitest'
import vectors from '../vectors/tables.json' with { type: 'json' }
import { unpackText } from './packed-text-reference.ts'
import { makeTablesFrames, TablesReader, type TablesFrame } from './tables-scenes.ts'

const frames = vectors as readonly TablesFrame[]
const unhex = (text: string): number[] => [...Buffer.from(text, 'hex')]

/** A reader made from SNAPSHOTS.md alone, as far as versions go. */
class Checker {
  readonly held: number[] = []
  #pending: { version: number; bytes: (number | undefined)[] } | undefined

  accept(kind: number, bytes: number[]): string {
    const version = varint(bytes)
    if (kind === 9) return version === 0 ? 'broken' : this.held.slice(-2).includes(version) ? 'ok' : 'no-ack'
    const [size, piece] = [varint(bytes), varint(bytes)]
    const length = Math.min(512, size - 512 * piece)
    if (version === 0 || size > 1_048_576 || length < 1 || bytes.length !== length) return 'broken'
    if (version <= (this.held.at(-1) ?? 0)) return 'ok'
    if (version > (this.#pending?.version ?? 0))
      this.#pending = { version, bytes: Array.from({ length: size }, () => undefined) }
    const pending = this.#pending!
    if (pending.version !== version || pending.bytes.length !== size) return 'broken'
    bytes.forEach((byte, at) => { pending.bytes[512 * piece + at] = byte })
    if (pending.bytes.includes(undefined)) return 'ok'
    const text = unpackText(pending.bytes as number[])
    if (text === undefined || !areTables(text)) return 'broken'
    this.held.push(version)
    return 'ok'
  }
}

/** The tables of the vectors have no entities, so that no entity must be checked. */
function areTables(text: string): boolean {
  try {
    const tables: unknown = JSON.parse(text)
    return typeof tables === 'object' && tables !== null && Object.keys(tables).length === 0
  } catch {
    return false
  }
}

function varint(bytes: number[]): number {
  let value = 0
  for (let unit = 1; ; unit *= 128) {
    const byte = bytes.shift() ?? 0
    value += (byte & 127) * unit
    if (byte < 128) return value
  }
}

test("[REPL24] vectors of tables: the reader of the standard, the engine's reader and writer agree", () => {
  const checker = new Checker()
  const reader = new TablesReader()
  for (const { shows, kind, hex, verdict, version } of frames) {
    expect([checker.accept(kind, unhex(hex)), checker.held.at(-1) ?? 0], shows).toEqual([verdict, version])
    expect([reader.accept(kind, Uint8Array.from(unhex(hex))), reader.tables.version], shows).toEqual([verdict, version])
  }
  expect(makeTablesFrames()).toEqual(frames)
  expect(new Set(frames.map(({ kind, verdict }) => `${kind} ${verdict}`))).toEqual(
    new Set(['9 ok', '9 no-ack', '9 broken', '10 ok', '10 broken']),
  )
})
