/**
 * `tickwire bandwidth`: what a recorded match costs, by entity and field, and how to reduce it.
 */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { FieldSet } from '../core/codec/row-coder.ts'
import { entropy, packed, type Priors } from '../core/codec/snapshot-codec.ts'
import { measureBandwidth, type BandwidthTable, type EntityCost } from '../core/replay/bandwidth-table.ts'
import { readGameText } from '../core/replay/game-text.ts'
import { bandwidthPicture } from './bandwidth-picture.ts'
import { UsageError, type Command, type CommandWorld } from './command.ts'
import { cannotBe, writeFileOption } from './file-option.ts'
import { openRecordingOption, readCountOption } from './recording-option.ts'

const OPTIONS = {
  age: { type: 'string' },
  for: { type: 'string', default: 'all' },
  priors: { type: 'string' },
  'no-advice': { type: 'boolean', default: false },
  svg: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** Default round trip time. */
const ROUND_TRIP_MS = 100
/** Advice that saves less than this share is not shown. */
const SHARE_MIN = 0.01
const ADVICE_MAX = 8
const AUDIENCES: readonly string[] = ['all', 'team', 'owner']

/** Measures a recording. */
export const bandwidth: Command = {
  summary: 'what a recorded match costs by entity and field, and what would be cheaper',
  help: `
tickwire bandwidth FILE [--age TICKS] [--for all|team|owner] [--priors FILE] [--no-advice] [--svg FILE] [--json]

Plays a recording through the game's codec, and through the other codec for comparison, for one client that sees every
object: a change from one snapshot to the next is encoded against the row that the client has acknowledged by then.
Loss, interest and budgets are not included; a running server counts those (host.bandwidth()).

  --age TICKS   age of the acknowledged row: one round trip. Default: ${ROUND_TRIP_MS} ms, rounded up to a tick with a
                snapshot
  --for SET     which fields: all (everyone's), team, or owner. Default: all
  --priors FILE also measure with priors that tickwire train learnt from another match
  --no-advice   do not try cheaper declarations (each try encodes the whole match again)
  --svg FILE    also write a picture
  --json        print JSON

Exit code: 0; 1 when the recording has no tick to measure.`,
  run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const set = AUDIENCES.indexOf(values.for)
    if (set < 0) throw new UsageError(`--for: unknown set "${values.for}". Fix: use ${AUDIENCES.join(', ')}.`)
    const { recording, path, close } = openRecordingOption(positionals)
    try {
      const { head } = recording
      const ageTicks = readCountOption(
        '--age',
        values.age,
        Math.max(1, Math.round((ROUND_TRIP_MS * head.tickRate) / 1000)),
        1,
      )
      const game = readGameText(head.text, head.names)
      if (typeof game === 'string')
        throw new UsageError(
          `${path}: cannot be measured without its game (${game}). Fix: call measureBandwidth with the game.`,
        )
      // A recording does not contain the tables that its game was trained with: it is measured with the built-in ones.
      const isPacked = /^codec packed(?: every \d+)?$/m.test(head.text)
      const [now, other] = isPacked ? [packed, entropy()] : [entropy(), packed]
      const trained =
        values.priors === undefined
          ? []
          : [
              entropy(
                readPriors(
                  values.priors,
                  game.entities.map(({ schema }) => schema.name),
                ),
              ),
            ]
      const codecs = [isPacked ? 'packed' : 'entropy', isPacked ? 'entropy' : 'packed', ...trained.map(() => 'trained')]
      const table = measureBandwidth(recording, game, {
        ageTicks,
        set: set as FieldSet,
        hasAdvice: !values['no-advice'],
        makeCoder: now.make,
        others: [other, ...trained].map(({ make }) => make),
      })
      if (values.json) world.print(JSON.stringify({ file: path, for: values.for, codecs, ...table }))
      else showTable(table, codecs, world)
      if (values.svg !== undefined)
        writeFileOption('--svg', values.svg, bandwidthPicture(table, path.replace(/^.*[\\/]/, '')))
      if (table.ticks === 0)
        world.complain(`${path}: no tick of rows is in it, so there is nothing to measure. Was it copied whole?`)
      return table.ticks === 0 ? 1 : 0
    } finally {
      close()
    }
  },
}

/** Reads the output of `tickwire train`. The code that makes coders from it checks whether it fits these fields. */
function readPriors(path: string, names: readonly string[]): Priors {
  const priors = parsePriors(path)
  const stray = Object.keys(priors).find((name) => !names.includes(name))
  if (stray !== undefined)
    throw new UsageError(
      `--priors ${path}: priors for "${stray}", and this recording has ${names.join(', ')}. `
        + 'Fix: give the file that tickwire train wrote for the same game.',
    )
  return priors
}

function parsePriors(path: string): Priors {
  let priors: unknown
  try {
    priors = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(
      `--priors ${path} ${error instanceof SyntaxError ? 'cannot be read (not JSON).' : cannotBe('read', error)} `
        + 'Fix: give the file that tickwire train wrote.',
    )
  }
  if (typeof priors !== 'object' || priors === null || Array.isArray(priors))
    throw new UsageError(`--priors ${path}: it has no priors. Fix: give the file that tickwire train wrote.`)
  return priors as Priors
}

function showTable(table: BandwidthTable, [now = '', ...others]: readonly string[], world: CommandWorld): void {
  const { ticks, tickRate, snapshotTicks, snapshots, ageTicks, bits } = table
  if (ticks === 0) return
  const seconds = ticks / tickRate
  const [every, each] = snapshotTicks === 1 ? ['', 'tick'] : [`, a snapshot every ${snapshotTicks} ticks`, 'snapshot']
  world.print(
    `${ticks} ticks, ${seconds.toFixed(1)} s${every}, against rows ${ageTicks} ticks old: `
      + `${kbps(bits, seconds)} kbit/s, ${(bits / 8 / Math.max(1, snapshots)).toFixed(1)} bytes a ${each} by ${now}, `
      + 'for one client that sees everything\n',
  )
  world.print(
    'field'.padEnd(28)
      + 'kind'.padEnd(12)
      + 'changes'.padStart(9)
      + 'bits each'.padStart(11)
      + 'kbit/s'.padStart(9)
      + 'share'.padStart(8)
      + others.map((name) => name.padStart(9)).join(''),
  )
  for (const entity of table.entities) if (entity.entries > 0) showEntity(entity, bits, seconds, world)
  showAdvice(table, seconds, world)
}

function showEntity(entity: EntityCost, all: number, seconds: number, world: CommandWorld): void {
  const other = (bits: readonly number[]): string => bits.map((each) => kbps(each, seconds).padStart(9)).join('')
  const row = (name: string, kind: string, count: number, bits: number, otherBits: readonly number[]): void =>
    world.print(
      name.padEnd(28)
        + kind.padEnd(12)
        + String(count).padStart(9)
        + (count === 0 ? 0 : bits / count).toFixed(1).padStart(11)
        + kbps(bits, seconds).padStart(9)
        + `${((100 * bits) / all).toFixed(1)} %`.padStart(8)
        + other(otherBits),
    )
  row(entity.name, 'entity', entity.entries, entity.bits, entity.otherBits)
  for (const { path, kind, changes, bits, otherBits } of [...entity.fields].sort((a, b) => b.bits - a.bits)) {
    row(`  ${path.slice(entity.name.length + 1)}`, kind, changes, bits, otherBits)
  }
  row('  (mask, and shared)', '', entity.entries, entity.sharedBits, entity.otherSharedBits)
}

function showAdvice({ advice, bits }: BandwidthTable, seconds: number, world: CommandWorld): void {
  const worth = advice.filter(({ savedBits }) => savedBits >= SHARE_MIN * bits).slice(0, ADVICE_MAX)
  if (worth.length === 0) return
  world.print('\nCheaper declarations, if the game allows them (each alone, measured on this match):')
  for (const { path, say, savedBits } of worth) {
    world.print(
      `  ${path}: ${say} saves ${kbps(savedBits, seconds)} kbit/s (${((100 * savedBits) / bits).toFixed(0)} %)`,
    )
  }
}

function kbps(bits: number, seconds: number): string {
  return (bits / seconds / 1000).toFixed(2)
}
