/**
 * The crowd in @colyseus/schema: a map of players, and patches of the fields that were written since the last patch.
 *
 * Plain: one patch for all clients. With views: a StateView for each client, each encoded separately. Each patch builds
 * on the one before, so they need a transport that neither loses nor reorders.
 */

import { Decoder, Encoder, schema, StateView, t } from '@colyseus/schema'
import { FIELD_COUNT, FIELDS, type Frame } from '../scenario.ts'
import { natural, writeObjects, type CrowdPeer, type Numbers, type Sees } from './crowd-peer.ts'

type Walker = Record<string, number>
type Room = { players: Map<string, Walker> }
/** The part that is used here. The library's own types need a schema class that the compiler knows. */
interface ViewEncoder {
  encode(it?: { offset: number }): Uint8Array
  encodeAll(it?: { offset: number }): Uint8Array
  encodeView(view: StateView, sharedOffset: number, it: { offset: number }): Uint8Array
  encodeAllView(view: StateView, sharedOffset: number, it: { offset: number }): Uint8Array
  discardChanges(): void
}

const BUFFER_BYTES = 1 << 19
const VIEWS_BUFFER_BYTES = 1 << 23

export class ColyseusCrowd implements CrowdPeer {
  readonly name: string
  readonly #numbers: Numbers
  readonly #walkers: Walker[]
  readonly #mirror: Room
  readonly #encoder: ViewEncoder
  readonly #decoder: { decode(bytes: Uint8Array): unknown }
  readonly #views: readonly StateView[]
  readonly #clients: number
  #sent = new Uint8Array(0)

  /** Without `sees`, all clients get the same patches. */
  constructor(players: number, clients: number, numbers: Numbers, sees?: Sees) {
    this.name = `colyseus ${numbers}${sees === undefined ? '' : ', StateView'}`
    this.#numbers = numbers
    this.#clients = clients
    Encoder.BUFFER_SIZE = sees === undefined ? BUFFER_BYTES : VIEWS_BUFFER_BYTES
    const fields =
      numbers === 'f32'
        ? {
            x: t.float32(),
            y: t.float32(),
            z: t.float32(),
            vx: t.float32(),
            vy: t.float32(),
            vz: t.float32(),
            yaw: t.float32(),
            pitch: t.float32(),
            health: t.uint8(),
            flags: t.uint8(),
          }
        : {
            x: t.int32(),
            y: t.int32(),
            z: t.int16(),
            vx: t.int16(),
            vy: t.int16(),
            vz: t.int16(),
            yaw: t.uint16(),
            pitch: t.uint16(),
            health: t.uint8(),
            flags: t.uint8(),
          }
    const Player = schema(fields as never, 'Player') as unknown as new () => Walker
    const State = schema(
      { players: sees === undefined ? t.map(Player as never) : t.map(Player as never).view() },
      'State',
    ) as unknown as new () => Room
    const state = new State()
    this.#encoder = new Encoder(state as never) as unknown as ViewEncoder
    this.#walkers = Array.from({ length: players }, (_, player) => {
      const walker = Object.assign(new Player(), Object.fromEntries(FIELDS.map((name) => [name, 0])))
      state.players.set(String(player), walker)
      return walker
    })
    this.#mirror = new State()
    this.#decoder = new Decoder(this.#mirror as never)
    this.#views = sees === undefined ? [] : Array.from({ length: clients }, (_, client) => this.#viewOf(client, sees))
    this.#join()
  }

  write(frame: Frame): void {
    writeObjects(this.#walkers, frame, this.#numbers)
  }

  send(): number {
    if (this.#views.length === 0) {
      this.#sent = this.#encoder.encode().slice()
      this.#encoder.discardChanges()
      return this.#sent.length * this.#clients
    }
    const it = { offset: 0 }
    this.#encoder.encode(it)
    const shared = it.offset
    let total = 0
    for (let client = 0; client < this.#views.length; client++) {
      const bytes = this.#encoder.encodeView(this.#views[client]!, shared, it).slice()
      if (client === 0) this.#sent = bytes
      total += bytes.length
    }
    this.#encoder.discardChanges()
    return total
  }

  receive(): void {
    this.#decoder.decode(this.#sent)
  }

  held(player: number, field: number): number {
    return this.#mirror.players.get(String(player))?.[FIELDS[field]!] ?? NaN
  }

  expected(frame: Frame, player: number, field: number): number {
    const value = frame[player * FIELD_COUNT + field]!
    return this.#numbers === 'f32' ? Math.fround(natural(value, field)) : value
  }

  #viewOf(client: number, sees: Sees): StateView {
    const view = new StateView()
    this.#walkers.forEach((walker, player) => { if (sees(client, player)) view.add(walker as never) })
    return view
  }

  /** Every client receives everything once. */
  #join(): void {
    const it = { offset: 0 }
    if (this.#views.length === 0) {
      this.#decoder.decode(this.#encoder.encodeAll().slice())
    } else {
      this.#encoder.encodeAll(it)
      const shared = it.offset
      const first = this.#views.map((view) => this.#encoder.encodeAllView(view, shared, it).slice())
      this.#decoder.decode(first[0]!)
      const patch = { offset: 0 }
      this.#encoder.encode(patch)
      for (const view of this.#views) this.#encoder.encodeView(view, patch.offset, { ...patch })
    }
    this.#encoder.discardChanges()
  }
}
