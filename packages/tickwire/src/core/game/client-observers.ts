/**
 * Observers of a client: meters, recorders, tracers. Each is called for the events that it has a method for.
 *
 * They never influence the client. Without observers, the client does no work for them.
 */

import type { Millis } from '../base/time.ts'
import type { UserCode } from '../base/user-code.ts'
import type { Connection } from '../connection/connection.ts'
import type { PacketHeader } from '../packet/header.ts'
import type { PacketWatch } from '../packet/packet-watch.ts'
import type { MistakeListener } from '../predict/predictor-options.ts'
import type { World } from '../world/world.ts'

/** An observer. Bytes and rows are reused, so an observer must copy what it keeps. */
export interface ClientObserver extends Partial<PacketWatch> {
  /** A row was mispredicted: see `MistakeListener`. */
  handleMistake?(...mistake: Parameters<MistakeListener>): void
  /** A tick was predicted for the first time. */
  handleStepped?(world: World): void
}

/** The hooks of a client that observers use. */
interface Watched {
  onMistake: MistakeListener | undefined
  onStepped: ((world: World) => void) | undefined
}

export class ClientObservers implements PacketWatch {
  #all: readonly ClientObserver[] = []
  readonly #play: Watched
  readonly #code: UserCode
  readonly #connections: () => Iterable<Connection>

  constructor(play: Watched, code: UserCode, connections: () => Iterable<Connection>) {
    this.#code = code
    this.#play = play
    this.#connections = connections
  }

  /** Adds an observer. The returned function removes it. */
  add(observer: ClientObserver): () => void {
    this.#set([...this.#all, observer])
    return () => this.#set(this.#all.filter((each) => each !== observer))
  }

  /** Sets the hook of a new connection. */
  attach(connection: Connection): void {
    connection.watch = this.#all.length === 0 ? undefined : this
  }

  handleReceived(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    this.#each((observer) => observer.handleReceived?.(now, header, bytes, length))
  }

  handleSent(now: Millis, header: PacketHeader, bytes: Uint8Array, bodyAt: number, length: number): void {
    this.#each((observer) => observer.handleSent?.(now, header, bytes, bodyAt, length))
  }

  #each(call: (observer: ClientObserver) => unknown): void {
    for (const observer of this.#all) this.#code.run('look', 0, () => call(observer))
  }

  #set(all: readonly ClientObserver[]): void {
    this.#all = all
    const hasAny = all.length > 0
    this.#play.onMistake = hasAny
      ? (...mistake) => this.#each((observer) => observer.handleMistake?.(...mistake))
      : undefined
    this.#play.onStepped = hasAny ? (world) => this.#each((observer) => observer.handleStepped?.(world)) : undefined
    for (const connection of this.#connections()) this.attach(connection)
  }
}
