/**
 * Reads recordings by docs/wire/RECORDING.md alone: slow, clear, and independent of the engine. Returns what a file
 * means, or throws the reason why it is invalid. Of the packed codec it knows single numbers and bools, which is enough
 * for the vectors; range-coded rows are read by `recording-block.ts`.
 */

import type { BitSource } from './bits-reference.ts'
import { referenceHash } from './hash-reference.ts'
import { hex, little, need, number, small, sourceOf, string, varint } from './recording-bits.ts'
import { BlockRows } from './recording-block.ts'
import { parseSchemaText } from './schema-text.ts'
import type { PlainShape } from './schema-reference.ts'

/** What a file means. */
export interface RecordingMeaning {
  readonly version: number
  readonly head: object
  /** How the file ends, and whether its indexes lead to every chunk. */
  readonly isClosed: boolean
  readonly chunks: readonly (readonly [type: number, flags: number, tick: number, length: number])[]
  /** By tick: objects by id, each with its owner and lanes; and the generator, where it is recorded. */
  readonly ticks: Readonly<
    Record<string, { readonly objects: Readonly<Record<string, readonly number[]>>; readonly dice?: readonly number[] }>
  >
  readonly inputs: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>
  readonly packets: readonly unknown[]
  readonly notes: readonly unknown[]
}

export interface Chunk {
  readonly type: number
  readonly flags: number
  readonly tick: number
  readonly at: number
  readonly body: Uint8Array
}
type Member = { readonly kind: 'bool' } | { readonly kind: 'number'; readonly max: number; readonly initial: number }

const MAGIC = '895457520d0a1a0a'

/** The meaning of a whole file. */
export function readRecording(file: Uint8Array): RecordingMeaning {
  need(hex(file.subarray(0, 8)) === MAGIC, 'magic')
  const version = little(file, 8, 4)
  need(version === 1, 'version')
  const chunks: Chunk[] = []
  for (let at = 12; at < file.length; ) {
    const chunk = readChunk(file, at)
    chunks.push(chunk)
    at += 16 + chunk.body.length
  }
  const [first, ...rest] = chunks
  need(first?.type === 1, 'a head first')
  const head = readHead(first.body)
  const isClosed = rest.at(-1)?.type === 7
  if (isClosed) checkIndexes(first, rest)
  const content = rest.filter(({ type }) => type !== 6 && type !== 7)
  const world = head.codec === 0 ? new Rows(head) : new BlockRows(head)
  const bodies = (type: number): Chunk[] => content.filter((chunk) => chunk.type === type)
  return {
    version, head: head.said, isClosed,
    chunks: content.map(({ type, flags, tick, body }) => [type, flags, tick, body.length] as const),
    ticks: Object.assign({}, ...bodies(2).map((chunk) => world.read(chunk))),
    inputs: Object.assign({}, ...bodies(3).map((chunk) => readInputs(chunk, head.input))),
    packets: bodies(4).flatMap((chunk) => readPackets(chunk.body)),
    notes: bodies(5).flatMap((chunk) => readNotes(chunk)),
  }
}

function readChunk(file: Uint8Array, at: number): Chunk {
  need(at + 16 <= file.length, 'a chunk has 16 bytes')
  const length = little(file, at + 8, 4)
  need(length <= 2 ** 24 && at + 16 + length <= file.length, 'a chunk that is there')
  const end = at + 12 + length
  need(BigInt(little(file, end, 4)) === (referenceHash(file.subarray(at, end)) & 0xffff_ffffn), 'the check')
  return { type: file[at]!, flags: file[at + 1]!, tick: little(file, at + 2, 6), at, body: file.subarray(at + 12, end) }
}

interface Head {
  readonly said: object
  readonly codec: number
  readonly fields: number
  readonly tickRate: number
  readonly shapes: readonly PlainShape[]
  readonly input: readonly Member[]
  readonly entities: readonly (readonly Member[])[]
}

function readHead(body: Uint8Array): Head {
  const bits = sourceOf(body)
  const codec = number(bits, 8)
  const fields = number(bits, 8)
  const tickRate = varint(bits)
  const fingerprint = hex(bits.takeBytes(8))
  const startedAt = varint(bits)
  const text = string(bits)
  const names = Array.from({ length: varint(bits) }, () => string(bits))
  bits.finish()
  need(codec <= 1 && fields <= 3, 'a codec and fields that are known')
  const expected = referenceHash(new TextEncoder().encode(text), 1)
  need(
    fingerprint === hex(Array.from({ length: 8 }, (_, at) => Number((expected >> BigInt(8 * at)) & 255n))),
    'the fingerprint of the text',
  )
  const lines = text.split('\n')
  const shapes = (word: string): PlainShape[] =>
    lines.filter((line) => line.startsWith(word)).map((line) => parseSchemaText(line.slice(line.indexOf('{'))))
  return {
    said: { codec, fields, tickRate, fingerprint, startedAt, text, names },
    codec,
    fields,
    tickRate,
    shapes: shapes('entity '),
    input: shapes('input ').flatMap((shape) => membersOf(shape, 3)),
    entities: codec === 1 ? [] : shapes('entity ').map((shape) => membersOf(shape, fields)),
  }
}

/** The members in a mask, as far as the vectors need them. */
function membersOf(shape: PlainShape, fields: number): Member[] {
  const held = ['all', 'team', 'owner'].slice(0, fields + 1)
  return Object.values(shape)
    .filter(({ options }) => fields === 3 || held.includes(options.audience))
    .map(({ spec, options }): Member => {
      const initial = (options.initial ?? 0) as number
      if (spec.kind === 'bool') return { kind: 'bool' }
      if (spec.kind === 'int')
        return {
          kind: 'number',
          max: spec.max - spec.min,
          initial: Math.min(Math.max(initial, spec.min), spec.max) - spec.min,
        }
      need(spec.kind === 'fixed', 'a field of the vectors')
      const bits = Math.ceil(Math.log2((spec.max - spec.min) / spec.precision - 1e-9))
      return {
        kind: 'number',
        max: Math.min(2 ** bits - 1, Math.round((spec.max - spec.min) / spec.precision)),
        initial: Math.round((initial - spec.min) / spec.precision),
      }
    })
}

const initialRow = (members: readonly Member[]): number[] =>
  members.map((member) => (member.kind === 'bool' ? 0 : member.initial))

/** The world of a file. */
class Rows {
  readonly #head: Head
  /** By index: id, type, owner, lanes. */
  #objects = new Map<number, { id: number; type: number; owner: number; row: readonly number[] }>()

  constructor(head: Head) {
    this.#head = head
  }

  read({ tick, flags, body }: Chunk): RecordingMeaning['ticks'] {
    const count = little(body, 0, 2)
    const bits = sourceOf(body.subarray(2))
    const ticks: Record<string, { objects: Record<string, readonly number[]>; dice?: readonly number[] }> = {}
    for (let at = 0; at < count; at++) {
      const isKey = number(bits, 1) === 1
      need(at > 0 || flags === 0 || isKey, 'a key where the flag says so')
      const dice = number(bits, 1) === 1 ? [32, 32, 32, 32].map((width) => number(bits, width)) : undefined
      need(dice === undefined || this.#head.fields === 3, 'no generator but where everything is')
      if (isKey) this.#objects = new Map()
      for (let next = 0; number(bits, 1) === 1; next++) {
        next += small(bits)
        this.#entry(bits, next, isKey)
      }
      const objects = Object.fromEntries(
        [...this.#objects.values()].sort((a, b) => a.id - b.id).map(({ id, owner, row }) => [id, [owner, ...row]]),
      )
      ticks[tick + at] = { objects, ...(dice && { dice }) }
    }
    bits.finish()
    return ticks
  }

  #entry(bits: BitSource, index: number, isKey: boolean): void {
    const kind = number(bits, 2)
    const known = this.#objects.get(index)
    if (kind === 1) {
      const id = index * 65_536 + number(bits, 16)
      const type = number(bits, 8)
      const owner = varint(bits)
      const members = this.#head.entities[type]
      need(members !== undefined && id % 65_536 !== 0, 'an entity of the game, and a generation')
      this.#objects.set(index, { id, type, owner, row: delta(bits, members, initialRow(members)) })
      return
    }
    need(!isKey && known !== undefined, 'an object lives there')
    if (kind === 2) {
      this.#objects.delete(index)
      return
    }
    const owner = kind === 3 ? varint(bits) : known.owner
    this.#objects.set(index, { ...known, owner, row: delta(bits, this.#head.entities[known.type]!, known.row) })
  }
}

/** A delta of the packed codec: a mask, then differences less one, since a number whose bit is set has changed. */
function delta(bits: BitSource, members: readonly Member[], base: readonly number[]): number[] {
  const mask = members.map(() => number(bits, 1) === 1)
  return members.map((member, at) => {
    if (!mask[at]) return base[at]!
    if (member.kind === 'bool') return 1 - base[at]!
    const folded = difference(bits, Math.max(1, Math.ceil(Math.log2(member.max)))) + 1
    const value = base[at]! + (folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2)
    return (value + member.max + 1) % (member.max + 1)
  })
}

function difference(bits: BitSource, width: number): number {
  if (width < 4) return number(bits, width)
  const least = Math.floor(width / 3)
  if (number(bits, 1) === 0) return number(bits, least)
  if (number(bits, 1) === 0) return 2 ** least + number(bits, least + 2)
  if (number(bits, 1) === 0) return 5 * 2 ** least + number(bits, least + 4)
  return number(bits, width)
}

function readInputs({ tick, body }: Chunk, members: readonly Member[]): RecordingMeaning['inputs'] {
  const bits = sourceOf(body.subarray(2))
  const held = new Map<number, readonly [isMissing: boolean, ...row: number[]]>()
  const ticks: Record<string, Record<string, readonly unknown[]>> = {}
  for (let at = 0; at < little(body, 0, 2); at++) {
    for (let next = 0; number(bits, 1) === 1; ) {
      const peer = next + varint(bits)
      next = peer + 1
      const kind = number(bits, 2)
      const former = held.get(peer)
      if (kind === 0) held.delete(peer)
      else if (kind === 1) held.set(peer, [!former![0], ...(former!.slice(1) as number[])])
      else held.set(peer, [kind === 3, ...whole(bits, members)])
    }
    ticks[tick + at] = Object.fromEntries(held)
  }
  bits.finish()
  return ticks
}

/** A delta of STATE.md against the initial row: numbers at full width. */
function whole(bits: BitSource, members: readonly Member[]): number[] {
  const mask = members.map(() => number(bits, 1) === 1)
  return members.map((member, at) => {
    const initial = member.kind === 'bool' ? 0 : member.initial
    if (!mask[at]) return initial
    return member.kind === 'bool' ? 1 : number(bits, Math.ceil(Math.log2(member.max + 1)))
  })
}

function readPackets(body: Uint8Array): unknown[] {
  const bits = sourceOf(body)
  const packets: unknown[] = []
  let micros = varint(bits)
  while (bits.taken < bits.bits.length) {
    micros += varint(bits)
    const who = varint(bits)
    packets.push([micros, who % 2 === 0 ? 'sent' : 'received', Math.floor(who / 2), hex(bits.takeBytes(varint(bits)))])
  }
  return packets
}

function readNotes({ tick, body }: Chunk): unknown[] {
  const bits = sourceOf(body)
  const notes: unknown[] = []
  let at = tick
  while (bits.taken < bits.bits.length) {
    at += varint(bits)
    notes.push([at, number(bits, 8), varint(bits), hex(bits.takeBytes(varint(bits)))])
  }
  return notes
}

/** Goes from the end to every chunk. */
function checkIndexes(head: Chunk, rest: readonly Chunk[]): void {
  const end = rest.at(-1)!
  need(end.body.length === 12, 'an end of 12 bytes')
  const listed: Chunk[][] = []
  for (let at = little(end.body, 0, 6); at !== 0; ) {
    const index = rest.find((chunk) => chunk.at === at)
    need(index?.type === 6, 'an index where one is named')
    const bits = sourceOf(index.body)
    const before = varint(bits)
    const former = before === 0 ? head : rest.find((chunk) => chunk.at === before)
    need(former !== undefined, 'an index before')
    const part: Chunk[] = []
    let offset = former.at + 16 + former.body.length
    while (bits.taken < bits.bits.length) {
      const [type, flags, tick, length] = [number(bits, 8), number(bits, 8), varint(bits), varint(bits)]
      const chunk = rest.find((one) => one.at === offset)
      need(
        chunk?.type === type && chunk.flags === flags && chunk.tick === tick && chunk.body.length === length,
        'a chunk as it is listed',
      )
      part.push(chunk)
      offset += 16 + length
    }
    need(offset === index.at, 'an index behind its chunks')
    listed.unshift(part)
    at = before
  }
  need(listed.flat().length === rest.filter(({ type }) => type !== 6 && type !== 7).length, 'every chunk in an index')
}
