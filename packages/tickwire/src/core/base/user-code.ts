/**
 * Calls code of the game's author: `step`, listeners, hooks, rules, input functions.
 *
 * Invariant: no exception of such code, and no promise that it rejects, gets past this file into the pump. It is
 * counted and reported in one place (`onError`), and the other listeners, rooms and players continue.
 *
 *   run     listeners and hooks. They may be async. After a throw the caller continues without a result
 *   must    code that changes the world. It may not be async. After a throw the match is broken: it ends with `fault`
 *
 * A host without `onError` throws the first stored error at the end of the pump call (`rethrow`), when the work of that
 * call is done: a test or a small program sees its mistake at once.
 */

import { ConfigError } from './assert.ts'
import type { PeerId } from './time.ts'

/** An exception of a callback of the game. */
export interface CodeFault {
  /** The name of the callback in the game's code: `step`, `on(Chat)`, `onLeave`. */
  readonly callback: string
  /** The value that was thrown, or that a promise was rejected with. */
  readonly error: unknown
  /** The player that the callback was called for; 0: none. */
  readonly peer: PeerId
  /** How often this callback has thrown in this match. */
  readonly count: number
  /** The match cannot continue, and ends with `fault`. */
  readonly isFatal: boolean
}

/** Called once for each exception of the game's code. */
export type FaultListener = (fault: CodeFault) => void

/** Unwinds a broken match to its host. The fault is already reported. */
class BrokenError extends Error {
  override readonly name = 'BrokenError'
}

export class UserCode {
  /** Number of throws. Indexed by callback. */
  readonly counts: Map<string, number> = new Map<string, number>()
  /** A callback that the match depends on has failed. */
  isBroken = false
  readonly #onError: FaultListener | undefined
  #kept: CodeFault | undefined = undefined

  constructor(onError?: FaultListener) {
    this.#onError = onError
  }

  /**
   * Calls a listener or a hook. Undefined after a throw. A later rejection of a promise that it returns is also
   * reported.
   */
  run<R>(callback: string, peer: PeerId, call: () => R): R | undefined {
    try {
      const result = call()
      this.follow(callback, peer, result)
      return result
    } catch (error) {
      this.report(callback, error, peer)
      return undefined
    }
  }

  /** Calls code that the match depends on. A throw, or a promise, breaks the match and unwinds to its host. */
  must<R>(callback: string, peer: PeerId, call: () => R): R {
    try {
      const result = call()
      refusePromise(callback, result)
      return result
    } catch (error) {
      this.break(callback, error, peer)
      throw new BrokenError(callback)
    }
  }

  /** Marks the match as broken. Reported once. */
  break(callback: string, error: unknown, peer: PeerId = 0): void {
    if (this.isBroken) return
    this.isBroken = true
    this.report(callback, error, peer, true)
  }

  /** If a callback returned a promise, its rejection is reported. */
  follow(callback: string, peer: PeerId, result: unknown): void {
    if (isPromise(result)) result.then(undefined, (error: unknown) => this.report(callback, error, peer))
  }

  report(callback: string, error: unknown, peer: PeerId = 0, isFatal: boolean = false): void {
    const count = (this.counts.get(callback) ?? 0) + 1
    this.counts.set(callback, count)
    this.handle({ callback, error, peer, count, isFatal })
  }

  /** Passes a fault to `onError`. An exception of `onError` itself is ignored. */
  handle(fault: CodeFault): void {
    if (this.#onError === undefined) {
      this.#kept ??= fault
      return
    }
    try {
      this.#onError(fault)
    } catch {
      // reason: an error of the error listener cannot be reported to any other listener
    }
  }

  /** At the end of a pump call: throws the stored error, if there is no `onError`. */
  rethrow(): void {
    const kept = this.#kept
    if (kept === undefined) return
    this.#kept = undefined
    throw kept.error
  }
}

/** Listeners that are running: a listener may cause an event that has listeners too. */
let running = 0

/** Whether a listener is running, perhaps in a `step` that emitted an event: it may use clocks and random numbers. */
export function isListening(): boolean {
  return running > 0
}

/** Listeners of one kind of event. A listener that throws does not keep the others from being called. */
export class Listeners<A extends readonly unknown[]> {
  readonly #code: UserCode
  readonly #callback: string
  #all: readonly { readonly listener: (...args: A) => unknown }[] = []

  constructor(code: UserCode, callback: string) {
    this.#code = code
    this.#callback = callback
  }

  get size(): number {
    return this.#all.length
  }

  /** Returns the function that removes the listener. */
  add(listener: (...args: A) => unknown): () => void {
    const entry = { listener }
    this.#all = [...this.#all, entry]
    return () => { this.#all = this.#all.filter((each) => each !== entry) }
  }

  /** `peer`: the player that the event is about; 0: none. */
  call(peer: PeerId, ...args: A): void {
    for (const { listener } of this.#all) {
      running++
      try {
        this.#code.follow(this.#callback, peer, listener(...args))
      } catch (error) {
        this.#code.report(this.#callback, error, peer)
      } finally {
        running--
      }
    }
  }
}

/**
 * Throws the ConfigError of a callback that returned a promise where its result is needed at once. A rejection of that
 * promise cannot end the process.
 */
export function refusePromise(callback: string, result: unknown): void {
  if (!isPromise(result)) return
  result.then(undefined, () => {})
  throw new ConfigError(
    callback,
    'returned a promise (expected a plain result)',
    'remove `async` and `await`, and use results of slow work in a later call.',
  )
}

/** A promise or a thenable. */
export function isPromise(result: unknown): result is PromiseLike<unknown> {
  return (
    typeof result === 'object'
    && result !== null
    && typeof (result as Partial<PromiseLike<unknown>>).then === 'function'
  )
}

/** Whether to log this fault: for a callback that throws every tick, number 1, 10, 100 and so on. */
export function isWorthLogging({ count, isFatal }: Pick<CodeFault, 'count' | 'isFatal'>): boolean {
  let rest = count
  while (rest >= 10 && rest % 10 === 0) rest /= 10
  return isFatal || rest === 1
}
