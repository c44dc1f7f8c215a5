/**
 * A client's recording, opened for questions: what was in a packet, what was the world at a tick as predicted and as told, and
 * why a prediction was wrong. With the server's recording of the same match beside it, also what the server had and used.
 *
 *   const inspection = new Inspection(recording, { authority })
 *   inspection.packets()                  one line each
 *   inspection.packet(17).bits            every bit named
 *   inspection.at(1200)                   worlds side by side
 *   inspection.explain(mistake)           the tick it began in, the field, both values, the input that differed
 *
 * It needs no game: definitions are in the file. Packets of a game with trained priors, or with fields in its own code, need its
 * coders (`game`).
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import { entropy, packed } from '../../codec/snapshot-codec.ts'
import { CHUNK } from '../../replay/chunk.ts'
import { readGameText, type GameText } from '../../replay/game-text.ts'
import { InputsReader } from '../../replay/inputs-track.ts'
import { noteText, readNotes } from '../../replay/notes-track.ts'
import { readPackets, type PacketWay, type RecordedPacket } from '../../replay/packets-track.ts'
import { Playback } from '../../replay/playback.ts'
import type { ChunkList } from '../../replay/recording.ts'
import { PacketDissector, type Dissection } from '../dissection/dissect-packet.ts'
import type { Mistake } from '../mistake-text.ts'
import { toldOf } from '../told-track.ts'
import { readToldRows } from './told-rows.ts'
import { compareWorlds, objectsOf, type ShownDifference, type ShownObject } from './shown-worlds.ts'

export interface InspectionOptions {
  /** The server's recording of the same match. */
  readonly authority?: ChunkList
  /** Coders of the game, where its text does not say them. */
  readonly coders?: readonly RowCoder[]
}

/** One packet in a list. */
export interface PacketLine {
  readonly number: number
  readonly timeMs: number
  readonly way: PacketWay
  readonly bytes: number
  readonly sequence: number
  readonly type: string
  readonly frames: string
  readonly tick: Tick | undefined
  readonly entries: number
}

/** A tick, from all sides. */
export interface InspectedTick {
  readonly tick: Tick
  readonly predicted: readonly ShownObject[] | undefined
  readonly told: readonly ShownObject[] | undefined
  readonly authority: readonly ShownObject[] | undefined
  /** Where what was predicted is not what is true: what the server had, or what packets told of this very tick. */
  readonly differences: readonly ShownDifference[]
  /** What the player held here, and what the server used for him. */
  readonly held: unknown
  readonly used: unknown
  /** Nothing had come for this tick: the server repeated what he held before. */
  readonly isMissing: boolean
}

/** Why a prediction was wrong. */
export interface MistakeExplanation {
  readonly mistake: Mistake
  /** The first tick in which predicted and true rows of that object differ. */
  readonly beganAt: Tick
  readonly field: string
  readonly predicted: unknown
  readonly told: unknown
  readonly held: unknown
  readonly used: unknown
  /** The input that the server used is another than the one held here. */
  readonly isInputOther: boolean
  readonly why: string
}

/** How far before a mistake its beginning is looked for. */
const LOOK_BACK_TICKS = 120

export class Inspection {
  readonly game: GameText
  readonly peer: PeerId
  readonly mistakes: readonly Mistake[]
  readonly first: Tick
  readonly last: Tick
  readonly #predicted: Playback
  readonly #told: Playback
  readonly #authority: Playback | undefined
  readonly #inputs: InputsReader
  readonly #used: InputsReader | undefined
  readonly #packets: readonly RecordedPacket[]
  readonly #coders: readonly RowCoder[]
  #dissected: readonly Dissection[] | undefined
  #toldAt: ReadonlySet<string> | undefined

  constructor(list: ChunkList, { authority, coders }: InspectionOptions = {}) {
    const { head } = list
    const game = readGameText(head.text, head.names)
    if (typeof game === 'string') throw new RangeError(`the recording cannot be read without its game: ${game}`)
    this.game = game
    this.#coders = coders ?? codersOf(head.text, game)
    this.#predicted = new Playback(list, game)
    this.#told = new Playback(toldOf(list), game)
    this.#authority = authority && new Playback(authority, game)
    this.#inputs = new InputsReader(list, game.inputSchema)
    this.#used = authority && new InputsReader(authority, game.inputSchema)
    this.#packets = bodiesOf(list, CHUNK.openedPackets, (body) => readPackets(body))
    this.peer = this.#packets.find(({ peer }) => peer !== 0)?.peer ?? 0
    this.mistakes = mistakesIn(list)
    const firsts = [this.#predicted.first, this.#told.first, this.#authority?.first ?? -1].filter((tick) => tick >= 0)
    this.first = Math.min(...firsts, Infinity) === Infinity ? 0 : Math.min(...firsts)
    this.last = Math.max(this.#predicted.last, this.#told.last, 0)
  }

  /** Every packet, in the order it came or went. */
  packets(): PacketLine[] {
    return this.#dissect().map(({ sequence, type, frames, tick, entries }, number) => {
      const { timeMs, way, bytes } = this.#packets[number]
      const [{ timeMs: beganAt }] = this.#packets
      return {
        number, timeMs: timeMs - beganAt, way, bytes: bytes.length, sequence, type, tick, entries: entries.length,
        frames: frames.map(({ kind, bytes: size }) => `${kind} ${size}`).join(', '),
      }
    })
  }

  /** One packet, with its bytes. */
  packet(number: number): (Dissection & { readonly bytes: Uint8Array }) | undefined {
    const dissection = this.#dissect()[number]
    return dissection && { ...dissection, bytes: this.#packets[number].bytes }
  }

  /** The worlds of a tick side by side. */
  at(tick: Tick): InspectedTick {
    const hasPredicted = this.#predicted.seek(tick) === 'ok'
    const hasTold = this.#told.seek(tick) === 'ok'
    const authority = this.#authority?.seek(tick) === 'ok' ? this.#authority : undefined
    const truth = authority ?? (hasTold ? this.#told : undefined)
    const used = this.#used?.at(tick)?.get(this.peer)
    const held = this.#inputs.at(tick)?.get(this.peer)
    return {
      tick,
      predicted: hasPredicted ? objectsOf(this.#predicted.world) : undefined,
      told: hasTold ? objectsOf(this.#told.world) : undefined,
      authority: authority && objectsOf(authority.world),
      differences: hasPredicted && truth !== undefined ? compareWorlds(this.#predicted.world, truth.world).filter(({ id }) => this.#isKnown(tick, id)) : [],
      held: held && this.#inputs.valuesOf(held),
      used: used && this.#used?.valuesOf(used),
      isMissing: used?.isMissing ?? false,
    }
  }

  /** Why a prediction was wrong: where it began, and by which input. */
  explain(mistake: Mistake): MistakeExplanation {
    let beganAt = mistake.tick
    let first: ShownDifference | undefined
    for (let tick = mistake.tick; tick > mistake.tick - LOOK_BACK_TICKS; tick--) {
      if (!this.#isKnown(tick, mistake.id)) continue
      const difference = this.at(tick).differences.find(({ id }) => id === mistake.id)
      if (difference === undefined) break
      beganAt = tick
      first = difference
    }
    const { held, used, isMissing } = this.at(beganAt)
    const isInputOther = used !== undefined && JSON.stringify(held) !== JSON.stringify(used)
    const { field = mistake.field, predicted = mistake.predicted, told = mistake.told } = first ?? {}
    return { mistake, beganAt, field, predicted, told, held, used, isInputOther, why: whyText(this.#used !== undefined, isInputOther, isMissing, mistake) }
  }

  /** Whether the true row of an object at a tick is known: the server's recording has all of them, packets those that they told. */
  #isKnown(tick: Tick, id: ObjectId): boolean {
    if (this.#authority !== undefined) return true
    this.#toldAt ??= new Set(this.#dissect().flatMap(({ tick: told, entries }) => entries.map((entry) => `${told} ${entry.id}`)))
    return this.#toldAt.has(`${tick} ${id}`)
  }

  #dissect(): readonly Dissection[] {
    if (this.#dissected !== undefined) return this.#dissected
    // A ring has forgotten who entered before it began, and what deltas at its start build on: told rows know both.
    const told = readToldRows(this.#told, this.peer)
    const dissector = new PacketDissector({ entities: this.game.entities, tickRate: this.game.tickRate, coders: this.#coders, snapshotTicks: this.game.snapshotTicks, inputSchema: this.game.inputSchema }, told)
    this.#dissected = this.#packets.map(({ bytes }) => dissector.dissect(bytes))
    return this.#dissected
  }
}

function whyText(hasAuthority: boolean, isInputOther: boolean, isMissing: boolean, { lateInputs }: Mistake): string {
  if (isMissing) return 'the input of this tick had not come when the server needed it, and it repeated the one before: it was late or lost'
  if (isInputOther) return 'the server used another input than the one held here'
  if (hasAuthority) return 'the input was the same: the server knows something that this client does not (another player, a rule that only it runs, an object that is not predicted)'
  return `the server's recording would say which input it used; it had told of ${lateInputs} late inputs by then`
}

/** The coders that a game's text names; those with priors are not in the text, and rows by them stay unread. */
function codersOf(text: string, { entities, tickRate }: GameText): readonly RowCoder[] {
  const line = text.split('\n').find((each) => each.startsWith('codec ')) ?? ''
  const codec = /^codec packed\b/.test(line) ? packed : entropy()
  return entities.map(({ schema }) => codec.make(schema, tickRate))
}

function mistakesIn(list: ChunkList): Mistake[] {
  const notes = list.chunks.filter(({ type }) => type === CHUNK.notes).flatMap((chunk) => {
    const body = list.load(chunk)
    return (body && readNotes(body, chunk.tick)) ?? []
  })
  const mistakes = notes.filter(({ kind }) => kind === 'mispredicted').map((note) => JSON.parse(noteText(note) ?? '{}') as Mistake)
  return mistakes.filter(({ tick, id }, at) => mistakes.findIndex((each) => each.tick === tick && each.id === id) === at)
}

function bodiesOf<T>(list: ChunkList, type: number, read: (body: Uint8Array) => T[] | undefined): T[] {
  return list.chunks.filter((chunk) => chunk.type === type).flatMap((chunk) => {
    const body = list.load(chunk)
    return (body && read(body)) ?? []
  })
}
