/**
 * Answers questions about a recording. A client's: what was in a packet, what the world was at a tick as predicted and
 * as received, and why a prediction was wrong; with the server's recording of the same match, also what the server had
 * and which inputs it used. A server's: its worlds, the inputs of all players, and events.
 *
 *   const inspection = new Inspection(recording, { authority })
 *   inspection.packets()                  one line each
 *   inspection.packet(17).bits            every bit named
 *   inspection.at(1200)                   worlds side by side
 *   inspection.explain(mistake)           the first wrong tick, the field, both values, the input that differed
 *
 * It needs no game, because the file contains the definitions. Packets of a game with trained priors, or with fields in
 * its own code, need the game's coders (`coders`).
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import { entropy, packed } from '../../codec/snapshot-codec.ts'
import { CHUNK } from '../../replay/chunk.ts'
import { readGameText, type GameText } from '../../replay/game-text.ts'
import { InputsReader } from '../../replay/inputs-track.ts'
import { noteText, readNotes, type RecordedNote } from '../../replay/notes-track.ts'
import { readPackets, type PacketWay, type RecordedPacket } from '../../replay/packets-track.ts'
import { Playback } from '../../replay/playback.ts'
import type { ChunkList } from '../../replay/recording.ts'
import { PacketDissector, type Dissection } from '../dissection/dissect-packet.ts'
import { type Mistake, mistakeFromJson } from '../mistake-text.ts'
import { receivedOf } from '../received-track.ts'
import { readReceivedRows } from './received-rows.ts'
import { recordingKind, type RecordingKind } from './recording-kind.ts'
import { compareWorlds, objectsOf, type ShownDifference, type ShownObject } from './shown-worlds.ts'

/** What an inspection may use besides the client's recording. */
export interface InspectionOptions {
  /** The server's recording of the same match. Default: none. */
  readonly authority?: ChunkList
  /** The coders of the game, if its text in the recording does not name them. Default: those that the text names. */
  readonly coders?: readonly RowCoder[]
}

/** A summary of one packet. */
export interface PacketLine {
  /** Its position among the packets of the recording. */
  readonly number: number
  /** When it was sent or received, in ms since the first packet. */
  readonly timeMs: number
  /** Its direction. */
  readonly way: PacketWay
  /** Its size in bytes. */
  readonly bytes: number
  /** The sequence number of the packet. */
  readonly sequence: number
  /** The type of the packet. */
  readonly type: string
  /** The kinds of its frames, as text. */
  readonly frames: string
  /** The tick of its snapshot. Undefined without one. */
  readonly tick: Tick | undefined
  /** The number of entries in its snapshot. */
  readonly entries: number
}

/** The state of one tick: predicted, received and authoritative. */
export interface InspectedTick {
  /** The tick. */
  readonly tick: Tick
  /** The objects as the client predicted them. Undefined if the tick was not recorded. */
  readonly predicted: readonly ShownObject[] | undefined
  /** The objects as the client received them. Undefined if the tick was not recorded. */
  readonly received: readonly ShownObject[] | undefined
  /** The objects in the server's recording. Undefined without one. */
  readonly authority: readonly ShownObject[] | undefined
  /**
   * Fields where the prediction differs from the truth: the server's recording, or rows that were received for this
   * tick.
   */
  readonly differences: readonly ShownDifference[]
  /** The player's input at this tick, and the input that the server used for the player. */
  readonly held: unknown
  /** The input that the server used for the player. */
  readonly used: unknown
  /** No input had arrived for this tick, so the server repeated the previous one. */
  readonly isMissing: boolean
  /** In a server's recording: the inputs of all players. */
  readonly inputs: readonly InspectedInput[]
}

/** The input of a player at a tick, as the server used it. */
export interface InspectedInput {
  /** The player. */
  readonly peer: PeerId
  /** Its values. */
  readonly values: unknown
  /** No input had arrived for this tick, so the server repeated the previous one. */
  readonly isMissing: boolean
}

/** An event in a recording: a player joined or left, or the game's own mark. */
export interface InspectedEvent {
  /** The tick of the event. */
  readonly tick: Tick
  /** `joined`, `left` or `mark`. */
  readonly kind: string
  /** The player; 0 for none. */
  readonly peer: PeerId
  /** The text of a mark. */
  readonly text: string
}

/** Why a prediction was wrong. */
export interface MistakeExplanation {
  /** The misprediction. */
  readonly mistake: Mistake
  /** The first tick in which the predicted row and the true row of the object differ. */
  readonly beganAt: Tick
  /** The path of the first field that differs. */
  readonly field: string
  /** The predicted value. */
  readonly predicted: unknown
  /** The received value. */
  readonly received: unknown
  /** The player's input in that tick. */
  readonly held: unknown
  /** The input that the server used. */
  readonly used: unknown
  /** The server used a different input than the client's. */
  readonly isInputOther: boolean
  /** The explanation, as a sentence. */
  readonly why: string
}

/** How many ticks before a mistake are searched for its start. */
const LOOK_BACK_TICKS = 120

/** Reads a recording: worlds, and of a client also packets and why predictions were wrong. */
export class Inspection {
  /** The definitions in the recording. */
  readonly game: GameText
  /** What made the recording. */
  readonly kind: RecordingKind
  /** The player whose client recorded. */
  readonly peer: PeerId
  /** All mispredictions. */
  readonly mistakes: readonly Mistake[]
  /** Joins, leaves and marks. */
  readonly events: readonly InspectedEvent[]
  /** The first tick. */
  readonly first: Tick
  /** The last tick. */
  readonly last: Tick
  readonly #predicted: Playback
  readonly #received: Playback
  readonly #authority: Playback | undefined
  readonly #inputs: InputsReader
  readonly #used: InputsReader | undefined
  readonly #packets: readonly RecordedPacket[]
  readonly #coders: readonly RowCoder[]
  #dissected: readonly Dissection[] | undefined
  #receivedAt: ReadonlySet<string> | undefined

  constructor(list: ChunkList, { authority, coders }: InspectionOptions = {}) {
    const { head } = list
    const game = readGameText(head.text, head.names)
    if (typeof game === 'string') throw new RangeError(`the recording cannot be read without its game: ${game}`)
    this.game = game
    this.kind = recordingKind(list)
    this.#coders = coders ?? codersOf(head.text, game)
    this.#predicted = new Playback(list, game)
    this.#received = new Playback(receivedOf(list), game)
    this.#authority = authority && new Playback(authority, game)
    this.#inputs = new InputsReader(list, game.inputSchema)
    this.#used = authority && new InputsReader(authority, game.inputSchema)
    this.#packets = bodiesOf(list, CHUNK.openedPackets, (body) => readPackets(body))
    this.peer = this.#packets.find(({ peer }) => peer !== 0)?.peer ?? 0
    const notes = notesIn(list)
    this.mistakes = mistakesIn(notes)
    this.events = eventsIn(notes)
    const tracks = [this.#predicted, this.#received, this.#authority]
    const firsts = tracks.map((track) => track?.first ?? -1).filter((tick) => tick >= 0)
    this.first = Math.min(...firsts, Infinity) === Infinity ? 0 : Math.min(...firsts)
    this.last = Math.max(this.#predicted.last, this.#received.last, 0)
  }

  /** All packets, in the order in which they were sent or received. */
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

  /** The worlds at a tick, side by side. */
  at(tick: Tick): InspectedTick {
    const hasPredicted = this.#predicted.seek(tick) === 'ok'
    const hasReceived = this.#received.seek(tick) === 'ok'
    const authority = this.#authority?.seek(tick) === 'ok' ? this.#authority : undefined
    const truth = authority ?? (hasReceived ? this.#received : undefined)
    const used = this.#used?.at(tick)?.get(this.peer)
    const held = this.#inputs.at(tick)?.get(this.peer)
    return {
      tick,
      predicted: hasPredicted ? objectsOf(this.#predicted.world) : undefined,
      received: hasReceived ? objectsOf(this.#received.world) : undefined,
      authority: authority && objectsOf(authority.world),
      differences:
        hasPredicted && truth !== undefined
          ? compareWorlds(this.#predicted.world, truth.world).filter(({ id }) => this.#isKnown(tick, id))
          : [],
      held: held && this.#inputs.valuesOf(held),
      used: used && this.#used?.valuesOf(used),
      isMissing: used?.isMissing ?? false,
      inputs: this.kind === 'server' ? this.#inputsAt(tick) : [],
    }
  }

  #inputsAt(tick: Tick): InspectedInput[] {
    return [...this.#inputs.at(tick) ?? []].map(([peer, held]) => (
      { peer, values: this.#inputs.valuesOf(held), isMissing: held.isMissing }
    ))
  }

  /** Explains a wrong prediction: when it began, and which input caused it. */
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
    const { field = mistake.field, predicted = mistake.predicted, received = mistake.received } = first ?? {}
    return {
      mistake,
      beganAt,
      field,
      predicted,
      received,
      held,
      used,
      isInputOther,
      why: whyText(this.#used !== undefined, isInputOther, isMissing, mistake),
    }
  }

  /**
   * Whether the true row of an object at a tick is known. The server's recording has all rows; packets have those that
   * were sent.
   */
  #isKnown(tick: Tick, id: ObjectId): boolean {
    if (this.#authority !== undefined) return true
    this.#receivedAt ??= new Set(
      this.#dissect().flatMap(({ tick: received, entries }) => entries.map((entry) => `${received} ${entry.id}`)),
    )
    return this.#receivedAt.has(`${tick} ${id}`)
  }

  #dissect(): readonly Dissection[] {
    if (this.#dissected !== undefined) return this.#dissected
    // A ring buffer has dropped the packets in which early objects entered, and the baselines of its first deltas. The
    // received rows have both.
    const received = readReceivedRows(this.#received, this.peer)
    const dissector = new PacketDissector(
      {
        entities: this.game.entities,
        tickRate: this.game.tickRate,
        coders: this.#coders,
        snapshotTicks: this.game.snapshotTicks,
        inputSchema: this.game.inputSchema,
      },
      received,
    )
    this.#dissected = this.#packets.map(({ bytes }) => dissector.dissect(bytes))
    return this.#dissected
  }
}

function whyText(hasAuthority: boolean, isInputOther: boolean, isMissing: boolean, { lateInputs }: Mistake): string {
  if (isMissing)
    return 'the input of this tick was late or lost, so the server repeated the input of the tick before'
  if (isInputOther) return 'the server used a different input than this client'
  if (hasAuthority)
    return 'the input was the same: the server had state that this client has not (a player, a rule, or an object)'
  return `unknown input of the server: its recording has it. It had reported ${lateInputs} late inputs by then`
}

/** The coders that a game's text names. Trained priors are not in the text, and rows coded with them stay unread. */
function codersOf(text: string, { entities, tickRate }: GameText): readonly RowCoder[] {
  const line = text.split('\n').find((each) => each.startsWith('codec ')) ?? ''
  const codec = /^codec packed\b/.test(line) ? packed : entropy()
  return entities.map(({ schema }) => codec.make(schema, tickRate))
}

function notesIn(list: ChunkList): RecordedNote[] {
  return list.chunks
    .filter(({ type }) => type === CHUNK.notes)
    .flatMap((chunk) => {
      const body = list.load(chunk)
      return (body && readNotes(body, chunk.tick)) ?? []
    })
}

function eventsIn(notes: readonly RecordedNote[]): InspectedEvent[] {
  return notes.filter(({ kind }) => kind === 'joined' || kind === 'left' || kind === 'mark').map((note) => (
    { tick: note.tick, kind: note.kind, peer: note.peer, text: note.kind === 'mark' ? noteText(note) ?? '' : '' }
  ))
}

function mistakesIn(notes: readonly RecordedNote[]): Mistake[] {
  const mistakes = notes
    .filter(({ kind }) => kind === 'mispredicted')
    .map((note) => mistakeFromJson(noteText(note) ?? '{}'))
  return mistakes.filter(
    ({ tick, id }, at) => mistakes.findIndex((each) => each.tick === tick && each.id === id) === at,
  )
}

function bodiesOf<T>(list: ChunkList, type: number, read: (body: Uint8Array) => T[] | undefined): T[] {
  return list.chunks.filter((chunk) => chunk.type === type).flatMap((chunk) => {
    const body = list.load(chunk)
    return (body && read(body)) ?? []
  })
}
