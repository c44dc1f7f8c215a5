/**
 * The receiving half of a client, from docs/wire alone: plaintext packets become frames, tables and rows of objects.
 * Imports nothing from src.
 *
 * It reads every kind of field, both codecs, tables that a server sends, and snapshots of any stride. It sends nothing.
 */

import { BitSource, bytesToBits, Refused } from './bits-reference.ts'
import { decodeEntropy } from './entropy-reference.ts'
import type { PriorsFile } from './entropy-tables.ts'
import type { PlainGame } from './game-text-reference.ts'
import { decodePacked } from './packed-reference.ts'
import { unpackText } from './packed-text-reference.ts'
import { SnapshotReader, type Against, type RowForm, type FrameRow } from './snapshot-checker.ts'
import { initialLanes } from './value-lanes.ts'

/** Frames of a game, by kind (docs/wire/STATE.md). */
const KIND = { snapshot: 5, timing: 7, retrained: 9, tables: 10 } as const

type Priors = { readonly [entity: string]: PriorsFile }
type Row = readonly number[]
type Verdict = 'ok' | 'no-ack' | 'broken'

/** Texts that were unpacked, by their bytes: many clients receive the same. */
const unpacked = new Map<string, string | undefined>()

/** A frame of kind 7. */
export interface Timing {
  readonly tick: number
  readonly digest: number | undefined
}

/** The options of a client beside the game's text. */
export interface ClientOptions {
  /** Names of the entities, in the order of the text: tables refer to them. */
  readonly names: readonly string[]
  /** The tables that the fingerprint names. */
  readonly priors?: Priors
}

export class ClientReader {
  readonly snapshots: SnapshotReader<Row>
  /** Called for every row that was received. */
  onRow: (row: FrameRow<Row>, version: number) => void = () => {}
  onTiming: (timing: Timing) => void = () => {}
  /** Frames read, by kind; and the malformed ones. */
  readonly counts: Map<number, number> = new Map()
  broken = 0
  unacknowledged = 0
  readonly #game: PlainGame
  readonly #options: ClientOptions
  readonly #initial: readonly Row[]
  /** Complete tables, oldest first. */
  readonly #held: { readonly version: number; readonly priors: Priors }[] = []
  #pending: { readonly version: number; readonly bytes: (number | undefined)[] } | undefined
  #version = 0

  constructor(game: PlainGame, options: ClientOptions) {
    this.#game = game
    this.#options = options
    this.#initial = game.entities.map(({ shape }) => initialLanes(shape))
    const form: RowForm<Row> = {
      typeCount: game.entities.length,
      shared: game.entities.flatMap(({ isShared }, type) => (isShared ? [type] : [])),
      strideTicks: game.every,
      usesOlder: game.codec !== 'packed',
      read: this.#rows(options.priors ?? {}),
    }
    this.snapshots = new SnapshotReader(form)
    this.snapshots.onRow = (row) => this.onRow(row, this.#version)
  }

  /** The versions of the tables that are held. */
  get versions(): readonly number[] {
    return this.#held.map(({ version }) => version)
  }

  /** The plaintext of a packet of type 1 or 2: the ack block, then frames. 'no-ack': some frame could not be used. */
  acceptPacket(plain: Uint8Array): Verdict {
    const verdicts: Verdict[] = []
    const source = new BitSource(bytesToBits(plain))
    source.take(32)
    const gaps = source.take(4)
    source.take(16 * (gaps.split('1').length - 1))
    while (source.bits.length - source.taken >= 22) {
      const kind = Number(source.takeUnsigned(4))
      source.take(4)
      verdicts.push(this.#frame(kind, Uint8Array.from(source.takeBytes(Number(source.takeUnsigned(14))))))
    }
    source.finish()
    return verdicts.includes('broken') ? 'broken' : verdicts.includes('no-ack') ? 'no-ack' : 'ok'
  }

  #frame(kind: number, body: Uint8Array): Verdict {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
    const verdict = kind === KIND.snapshot ? this.#snapshot(body) : kind === KIND.retrained ? this.#retrained(body)
      : kind === KIND.tables ? this.#tables(body) : kind === KIND.timing ? this.#timing(body) : 'ok'
    if (verdict === 'broken') this.broken++
    if (verdict === 'no-ack') this.unacknowledged++
    return verdict
  }

  #snapshot(body: Uint8Array): Verdict {
    this.#version = 0
    return this.snapshots.accept(body)
  }

  #retrained(body: Uint8Array): Verdict {
    const bytes = [...body]
    const version = varint(bytes)
    if (version === 0) return 'broken'
    const found = this.#held.slice(-2).find((each) => each.version === version)
    if (found === undefined) return 'no-ack'
    this.#version = version
    return this.snapshots.accept(Uint8Array.from(bytes), this.#rows(found.priors))
  }

  #tables(body: Uint8Array): Verdict {
    const bytes = [...body]
    const [version, size, piece] = [varint(bytes), varint(bytes), varint(bytes)]
    if (version <= (this.#held.at(-1)?.version ?? 0)) return 'ok'
    if (version > (this.#pending?.version ?? 0))
      this.#pending = { version, bytes: Array.from({ length: size }, () => undefined) }
    const pending = this.#pending
    if (
      pending?.version !== version
      || pending.bytes.length !== size
      || bytes.length !== Math.min(512, size - 512 * piece)
    )
      return 'broken'
    bytes.forEach((byte, at) => {
      pending.bytes[512 * piece + at] = byte
    })
    if (pending.bytes.includes(undefined)) return 'ok'
    const key = pending.bytes.join()
    if (!unpacked.has(key)) unpacked.set(key, unpackText(pending.bytes as number[]))
    const text = unpacked.get(key)
    if (text === undefined) return 'broken'
    this.#held.push({ version, priors: JSON.parse(text) as Priors })
    return 'ok'
  }

  #timing(body: Uint8Array): Verdict {
    const source = new BitSource(bytesToBits(body))
    const take = (bits: number): number => Number(source.takeUnsigned(bits))
    const tickBytes: number[] = []
    do tickBytes.push(take(8)); while (tickBytes.at(-1)! >= 128)
    take(8)
    if (take(1) === 1) take(24)
    take(8)
    const digest = take(1) === 1 ? take(32) : undefined
    this.onTiming({ tick: varint(tickBytes), digest })
    return 'ok'
  }

  /** Reads rows by the game's codec, and by some tables. */
  #rows(priors: Priors): RowForm<Row>['read'] {
    const { entities, codec, tickRate } = this.#game
    return (source, type, set, against) => {
      const { shape } = entities[type]!
      const name = this.#options.names[type]!
      const rest = source.bits.slice(source.taken)
      const initial = this.#initial[type]!
      const { base = initial, age, older, olderTicks }: Against<Row> = against
      if (set > 2) throw new Refused('no such field set')
      const { row, taken } =
        codec === 'packed'
          ? decodePacked(rest, shape, base, initial, set)
          : decodeEntropy(rest, {
              shape,
              name,
              ticksPerSecond: tickRate,
              set: set as 0 | 1 | 2,
              age,
              base,
              older: older ?? null,
              olderTicks,
              initial,
              ...(Object.hasOwn(priors, name) && { priors: priors[name]! }),
            })
      source.take(taken)
      return row
    }
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
