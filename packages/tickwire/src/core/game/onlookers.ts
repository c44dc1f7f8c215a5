/**
 * Who looks on at a client: meters, recorders, tracers. Any number of them, each told of what it has a method for.
 *
 * They have no say. With nobody here, a client does not know that there could be somebody.
 */

import type { Millis, ObjectId, Tick } from '../base/time.ts'
import type { Connection } from '../connection/connection.ts'
import type { PacketHeader } from '../packet/header.ts'
import type { PacketWatch } from '../packet/packet-watch.ts'
import type { World } from '../world/world.ts'

/** Told of what it has a method for. Bytes and rows are used again: who keeps them copies them. */
export interface Onlooker extends Partial<PacketWatch> {
  /** A row was predicted wrong: see `MistakeListener`. */
  handleMistake?(
    tick: Tick, type: number, id: ObjectId, predictedRows: Int32Array, predictedAt: number, toldRows: Int32Array, toldAt: number,
  ): void
  /** A tick was predicted for the first time. */
  handleStepped?(world: World): void
}

/** What of a client tells onlookers. */
interface Watched {
  onMistake: NonNullable<Onlooker['handleMistake']> | undefined
  onStepped: ((world: World) => void) | undefined
}

export class Onlookers implements PacketWatch {
  #all: readonly Onlooker[] = []
  readonly #play: Watched
  readonly #connections: () => Iterable<Connection>

  constructor(play: Watched, connections: () => Iterable<Connection>) {
    this.#play = play
    this.#connections = connections
  }

  /** Begins to look; the function that is returned ends it. */
  add(onlooker: Onlooker): () => void {
    this.#set([...this.#all, onlooker])
    return () => this.#set(this.#all.filter((each) => each !== onlooker))
  }

  /** A connection is made. */
  attach(connection: Connection): void {
    connection.watch = this.#all.length === 0 ? undefined : this
  }

  handleReceived(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    for (const onlooker of this.#all) onlooker.handleReceived?.(now, header, bytes, length)
  }

  handleSent(now: Millis, header: PacketHeader, bytes: Uint8Array, bodyAt: number, length: number): void {
    for (const onlooker of this.#all) onlooker.handleSent?.(now, header, bytes, bodyAt, length)
  }

  #set(all: readonly Onlooker[]): void {
    this.#all = all
    const hasAny = all.length > 0
    this.#play.onMistake = hasAny ? (...mistake) => { for (const each of this.#all) each.handleMistake?.(...mistake) } : undefined
    this.#play.onStepped = hasAny ? (world) => { for (const each of this.#all) each.handleStepped?.(world) } : undefined
    for (const connection of this.#connections()) this.attach(connection)
  }
}
