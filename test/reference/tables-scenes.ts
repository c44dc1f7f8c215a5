/**
 * Sequences of tables that change, as the engine writes and reads them: they become test/vectors/tables.json. A game of
 * one entity, `Dot { n: u8 }`, with the entropy codec; texts are JSON with white space, so that vectors stay short.
 */

import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { encodeText } from '../../packages/tickwire/src/core/codec/packed-text.ts'
import { entropy } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import { codersOf } from '../../packages/tickwire/src/core/game/define-game.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { retrainedSink, TablesSink } from '../../packages/tickwire/src/core/game/tables-sink.ts'
import { TablesSource } from '../../packages/tickwire/src/core/game/tables-source.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'

export interface TablesFrame {
  readonly shows: string
  /** 9: a snapshot with other tables; 10: a piece of tables. */
  readonly kind: number
  readonly hex: string
  readonly verdict: string
  /** The newest version that is held afterwards. */
  readonly version: number
}

const Dot = entity({ n: u8 }, { name: 'Dot' })

/** The engine's reader. */
export class TablesReader {
  readonly tables = new TablesSink((text) => codersOf(entropy(JSON.parse(text)), [Dot], 30))
  readonly #world = new World([Dot], { isReadOnly: true })
  readonly #retrained = retrainedSink(
    this.tables,
    new SnapshotSink(this.#world, new Timeline(this.#world, 32), { coders: codersOf(entropy(), [Dot], 30) }),
  )

  accept(kind: number, bytes: Uint8Array): string {
    return (kind === 9 ? this.#retrained : this.tables).accept(0, 0, new BitReader(bytes))
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The frames that the engine cuts a text into. */
function piecesOf(version: number, text: string): string[] {
  const source = new TablesSource(() => {})
  source.offer({ version, bytes: encodeText(text) })
  const pieces: string[] = []
  for (
    const out = new BitWriter(new Uint8Array(600));
    source.fill(0, pieces.length + 1, out);
    out.reset(new Uint8Array(600))
  ) {
    pieces.push(hex(out.bytes.subarray(0, out.finish())))
  }
  return pieces
}

export function makeTablesFrames(): TablesFrame[] {
  const reader = new TablesReader()
  const frames: TablesFrame[] = []
  const add = (shows: string, kind: number, text: string): void => {
    const verdict = reader.accept(kind, Uint8Array.from(Buffer.from(text, 'hex')))
    frames.push({ shows, kind, hex: text, verdict, version: reader.tables.version })
  }
  const [one] = piecesOf(1, '{}')
  const dice = new Prng(3)
  const [first, second] = piecesOf(3, `{${Array.from({ length: 2000 }, () => ' \n\r\t'[dice.nextInt(0, 3)]).join('')}}`)
  const [third] = piecesOf(130, `{${' '.repeat(1000)}}`)
  add('a snapshot by tables that were never handed over', 9, '0105')
  add('version 1, in one piece', 10, one!)
  add('an empty snapshot of tick 5 by version 1', 9, '0105')
  add('version 3: its second piece comes first', 10, second!)
  add('until it is whole, snapshots are by the one before', 9, '0106')
  add('a snapshot by what is not whole yet', 9, '0306')
  add('the first piece: now it is whole', 10, first!)
  add('the same again', 10, first!)
  add('a snapshot by version 3', 9, '0307')
  add('one by the version before, which was late', 9, '0106')
  add('version 130 takes two bytes', 10, third!)
  add('a snapshot by version 130', 9, '820108')
  add('one by version 1: only the last two are held', 9, '0109')
  add('a piece of a version long held', 10, one!)
  add('no snapshot is by version 0', 9, '0009')
  add('no tables are version 0', 10, '000300027b7d')
  add('longer than any tables may be', 10, `830181804000${'20'.repeat(512)}`)
  add('a piece that is not as long as it must be', 10, '830103007b7d')
  const whole = (version: number, packed: Uint8Array): string =>
    `${hex(Uint8Array.of(version, 1, packed.length))}00${hex(packed)}`
  const lists = encodeText('[[121,153,114,175],[121,153,114,0,0,0,0,0,0,0,0]]')
  add('no JSON', 10, whole(0x83, encodeText('{{')))
  add('JSON as it is, not packed', 10, whole(0x84, Uint8Array.of(0x7b, 0x7d)))
  add('lists, but no tables', 10, whole(0x85, lists))
  add('a text that is no UTF-8', 10, '8601020001ff')
  add('a text longer than any may be', 10, '8701040081804000')
  add('a zero more than it takes', 10, '88010400027b7d00')
  add('bytes after its end', 10, '89010400027b7d01')
  add('none of these was held: version 138', 10, '8a010300027b7d')
  return frames
}
