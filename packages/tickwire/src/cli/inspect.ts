/**
 * `tickwire inspect`: shows the contents of a recording, without the game that made it.
 */

import { parseArgs } from 'node:util'
import { CHUNK, CHUNK_NAMES, chunkBytes } from '../core/replay/chunk.ts'
import { readGameText, type GameText } from '../core/replay/game-text.ts'
import { noteText, readNotes, type RecordedNote } from '../core/replay/notes-track.ts'
import { readPackets } from '../core/replay/packets-track.ts'
import { recordingKind, type RecordingKind } from '../core/game/inspection/recording-kind.ts'
import { Playback } from '../core/replay/playback.ts'
import { codecOf } from '../core/replay/recording-head.ts'
import type { Recording } from '../core/replay/recording.ts'
import { UsageError, type Command, type CommandWorld } from './command.ts'
import { fieldTexts, objectText, peerText, valueText } from './inspect-text.ts'
import { openRecordingOption, readCountOption, sizeText } from './recording-option.ts'

const OPTIONS = {
  tick: { type: 'string' },
  chunks: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  server: { type: 'string' },
  port: { type: 'string' },
} as const
/** Options of the page (inspect-page.ts), which are not allowed here. */
const OF_THE_PAGE = ['server', 'port'] as const

const KIND_TEXTS: { readonly [kind in RecordingKind]: string } = {
  player: 'recording of a player: packets, received rows, predictions',
  server: 'recording of a server: worlds, inputs, events',
  match: 'recording of a lockstep match, for tickwire verify and replay-log',
}

/** Shows a recording. */
export const inspect: Command = {
  summary: 'list what is in a recording, or the world at a tick of it',
  help: `
tickwire inspect FILE [--tick N] [--chunks] [--json]
tickwire inspect FILE --page [--open] [--server FILE] [--port N]

Prints the content of a recording: its game, its length and end, the peers, and what takes the space. The definitions of
the game are in the file, so the game itself is not needed; only fields with a codec of the game (manual) cannot be
shown.

  --tick N   print the world after tick N
  --chunks   print every chunk, one per line
  --json     print JSON
  --page     serve a page: packets with a name for every bit, worlds at any tick side by side, and the cause of each
             misprediction
  --open     like --page, and open it in the browser
  --server   the server's recording of the same match: its state, and the inputs that it used
  --port     port of the page. Default: any free port

Exit code: 0 complete; 1 truncated or damaged, or the tick is not in the recording.`,
  run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const stray = OF_THE_PAGE.find((name) => values[name] !== undefined)
    if (stray !== undefined) throw new UsageError(`--${stray} is only for the page. Fix: add --page.`)
    const tick = values.tick === undefined ? undefined : readCountOption('--tick', values.tick, 0, 0)
    const { recording, path, close } = openRecordingOption(positionals)
    try {
      if (tick !== undefined) return showTick(recording, tick, values.json, world)
      const summary = summaryOf(recording)
      if (values.json)
        world.print(JSON.stringify({ file: path, ...summary, ...(values.chunks && { chunks: recording.chunks }) }))
      else showSummary(path, summary, recording, values.chunks, world)
      return recording.end === 'torn' || recording.damagedCount > 0 ? 1 : 0
    } finally {
      close()
    }
  },
}

/** What `--json` prints. */
interface Summary {
  readonly end: string
  readonly tornBytes: number
  readonly damagedChunks: number
  readonly startedAt: string | undefined
  readonly fingerprint: string
  readonly fields: string
  readonly codec: string
  readonly tickRate: number
  readonly firstTick: number
  readonly lastTick: number
  readonly seconds: number
  readonly missingTicks: number
  readonly sizeBytes: number
  readonly kinds: Readonly<Record<string, { readonly chunks: number; readonly bytes: number }>>
  readonly peers: readonly number[]
  readonly notes: Readonly<Record<string, number>>
  readonly packets: { readonly sent: number; readonly received: number; readonly bytes: number }
  readonly entities: readonly {
    readonly name: string
    readonly text: string
    readonly mostAtOnce: number
    readonly inAll: number
  }[]
  readonly problem: string | undefined
}

function summaryOf(recording: Recording): Summary {
  const { head, chunks } = recording
  const game = readGameText(head.text, head.names)
  const kinds: Record<string, { chunks: number; bytes: number }> = {}
  for (const { type, length } of chunks) {
    const kind = (kinds[CHUNK_NAMES[type] ?? `type ${type}`] ??= { chunks: 0, bytes: 0 })
    kind.chunks++
    kind.bytes += chunkBytes(length)
  }
  const rows = playThrough(recording, game)
  const { peers, notes, packets } = othersIn(recording)
  for (const peer of rows.owners) peers.add(peer)
  return {
    end: recording.end, tornBytes: recording.tornBytes, damagedChunks: recording.damagedCount,
    startedAt: head.startedAt === 0 ? undefined : timeOf(head.startedAt),
    fingerprint: Buffer.from(head.fingerprint).toString('hex'),
    fields: head.fields,
    codec: codecOf(head.codec) ?? `${head.codec}`,
    tickRate: head.tickRate,
    firstTick: rows.first,
    lastTick: rows.last,
    seconds: rows.last < 0 ? 0 : (rows.last - rows.first + 1) / head.tickRate,
    missingTicks: rows.missing,
    sizeBytes: recording.sizeBytes,
    kinds,
    peers: [...peers].filter((peer) => peer !== 0).sort((a, b) => a - b),
    notes,
    packets,
    entities: rows.entities.map((counted, type) => ({
      name: head.names[type] ?? '',
      text: textOf(head.text, type),
      ...counted,
    })),
    problem: typeof game === 'string' ? game : undefined,
  }
}

interface Played {
  readonly first: number
  readonly last: number
  readonly missing: number
  readonly owners: ReadonlySet<number>
  readonly entities: readonly { mostAtOnce: number; inAll: number }[]
}

/** Plays the whole recording and counts. */
function playThrough(recording: Recording, game: GameText | string): Played {
  const rows = recording.chunks.filter(({ type }) => type === CHUNK.rows)
  const entities = recording.head.names.map(() => ({ mostAtOnce: 0, inAll: 0 }))
  const owners = new Set<number>()
  if (typeof game === 'string' || game.entities.length !== entities.length) {
    return { first: rows[0]?.tick ?? -1, last: rows.at(-1)?.tick ?? -1, missing: 0, owners, entities }
  }
  const playback = new Playback(recording, game)
  const { first, last } = playback
  const seen = entities.map(() => new Set<number>())
  let count = 0
  for (let at = first; at !== -1; at = playback.keyAfter(at)) {
    for (let played = playback.seek(at); played === 'ok'; played = playback.step()) {
      at = playback.tick
      count++
      playback.world.stores.forEach((store, type) => {
        const counted = entities[type]
        if (counted !== undefined) counted.mostAtOnce = Math.max(counted.mostAtOnce, store.count)
        for (const { id, owner } of store.living()) {
          seen[type]?.add(id)
          owners.add(owner)
        }
      })
    }
  }
  seen.forEach((ids, type) => Object.assign(entities[type] ?? {}, { inAll: ids.size }))
  return { first, last, missing: last < 0 ? 0 : last - first + 1 - count, owners, entities }
}

/** The peers and the notes in a recording. */
function othersIn(recording: Recording): {
  peers: Set<number>
  notes: Record<string, number>
  packets: { sent: number; received: number; bytes: number }
} {
  const peers = new Set<number>()
  const notes: Record<string, number> = {}
  const packets = { sent: 0, received: 0, bytes: 0 }
  for (const chunk of recording.chunks) {
    if (chunk.type !== CHUNK.notes && chunk.type !== CHUNK.packets) continue
    const body = recording.load(chunk)
    if (body === undefined) continue
    for (const { kind, peer } of chunk.type === CHUNK.notes ? readNotes(body, chunk.tick) ?? [] : []) {
      notes[kind] = (notes[kind] ?? 0) + 1
      peers.add(peer)
    }
    for (const { way, peer, bytes } of chunk.type === CHUNK.packets ? readPackets(body) ?? [] : []) {
      packets[way]++
      packets.bytes += bytes.length
      peers.add(peer)
    }
  }
  return { peers, notes, packets }
}

function showSummary(
  path: string,
  summary: Summary,
  recording: Recording,
  hasChunks: boolean,
  world: CommandWorld,
): void {
  const line = (name: string, value: string): void => world.print(`${name.padEnd(12)}${value}`)
  const { firstTick, lastTick, seconds, tickRate, missingTicks, sizeBytes, end, tornBytes, damagedChunks } = summary
  line(
    'file',
    `${path}, ${sizeText(sizeBytes)}, ${endText(end, tornBytes)}`
      + `${damagedChunks > 0 ? `, ${damagedChunks} damaged chunks` : ''}`,
  )
  line('kind', KIND_TEXTS[recordingKind(recording)])
  if (summary.startedAt !== undefined) line('started', summary.startedAt)
  line(
    'game',
    `fingerprint ${summary.fingerprint}, ${tickRate} ticks a second, `
      + `fields: ${summary.fields}, codec: ${summary.codec}`,
  )
  if (lastTick < 0) line('ticks', 'none')
  else
    line(
      'ticks',
      `${firstTick} to ${lastTick}, ${seconds.toFixed(1)} s`
        + `${missingTicks > 0 ? `, ${missingTicks} of them missing` : ''}`,
    )
  line('peers', summary.peers.length === 0 ? 'none' : summary.peers.map(peerText).join(', '))
  for (const [kind, { chunks, bytes }] of Object.entries(summary.kinds)) {
    const rate = seconds > 0 ? `, ${(bytes / (seconds * tickRate)).toFixed(1)} B a tick` : ''
    line(kind, `${chunks} chunks, ${sizeText(bytes)}${rate}`)
  }
  for (const { name, text, mostAtOnce, inAll } of summary.entities) {
    line('entity', `${name}: ${inAll} objects, ${mostAtOnce} at once`)
    for (const [field, meaning] of fieldTexts(text)) line('', `  ${field.padEnd(12)} ${meaning}`)
  }
  for (const [kind, count] of Object.entries(summary.notes)) line('noted', `${count} x ${kind}`)
  if (summary.problem !== undefined) world.print(`\nRows cannot be shown without the game: ${summary.problem}.`)
  for (const note of notesOf(recording))
    line(
      `  ${note.tick}`,
      [note.kind, note.peer === 0 ? '' : peerText(note.peer), noteText(note)].filter(Boolean).join(' '),
    )
  if (!hasChunks) return
  world.print('')
  for (const { offset, type, flags, tick, length } of recording.chunks) {
    world.print(
      `${String(offset).padStart(10)}  ${(CHUNK_NAMES[type] ?? `type ${type}`).padEnd(8)} `
        + `tick ${String(tick).padEnd(8)} ${length} bytes${flags === 1 ? ', key' : ''}`,
    )
  }
}

/** Joins and leaves, and the game's own marks. Messages are only counted. */
function notesOf(recording: Recording): RecordedNote[] {
  return recording.chunks.filter(({ type }) => type === CHUNK.notes).flatMap((chunk) => {
    const body = recording.load(chunk)
    return (body === undefined ? undefined : readNotes(body, chunk.tick)) ?? []
  }).filter(({ kind }) => kind === 'joined' || kind === 'left' || kind === 'mark')
}

function endText(end: string, tornBytes: number): string {
  if (end === 'closed') return 'closed'
  return end === 'open'
    ? 'not closed: still being written, or its recorder crashed'
    : `torn: its last ${tornBytes} bytes are no whole chunk and were left out`
}

function showTick(recording: Recording, tick: number, isJson: boolean, world: CommandWorld): number {
  const game = readGameText(recording.head.text, recording.head.names)
  if (typeof game === 'string') throw new UsageError(`the world cannot be shown without the game: ${game}.`)
  const playback = new Playback(recording, game)
  const played = playback.seek(tick)
  if (played !== 'ok') {
    const { first, last } = playback
    world.complain(
      `tick ${tick} is ${played === 'missing' ? 'not in this recording' : 'damaged'}: `
        + `it has ${first < 0 ? 'none' : `${first} to ${last}`}.`,
    )
    return 1
  }
  const shown = playback.world.stores.flatMap((store, type) =>
    store.living().map((handle) => ({ entity: recording.head.names[type] ?? '', handle })),
  )
  const objects = shown.map(({ entity, handle }) => ({ entity, ...handle.toJSON() }))
  if (isJson) world.print(JSON.stringify({ tick, objects }, plain))
  else
    for (const { entity, handle } of shown) {
      const { id, owner, ...values } = handle.toJSON() as { readonly [name: string]: unknown }
      const title = objectText(entity, Number(id)) + (owner === 0 ? '' : ` of ${peerText(Number(owner))}`)
      const fields = Object.entries(values).map(([name, value]) => `${name} ${valueText(value)}`)
      world.print(`${title}: ${fields.join(', ')}`)
    }
  return 0
}

/** Converts values that JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

function textOf(text: string, type: number): string {
  const front = `entity ${type} `
  return text.split('\n').find((line) => line.startsWith(front))?.slice(front.length) ?? ''
}

function timeOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? `${seconds} s after 1970` : date.toISOString().replace('.000Z', 'Z')
}
