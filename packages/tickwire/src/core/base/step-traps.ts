/**
 * Traps of development mode: while `step` runs, functions that it may not use are replaced by ones that report the use
 * and then do the same. They find what libraries do, too. Before `step` returns or throws, the originals are back.
 */

import {
  BOOLEAN_COMPARATOR, IMPURE_FUNCTIONS, IMPURE_GLOBALS, SORTS, type ImpureFunction,
} from './impure-functions.ts'
import type { Tick } from './time.ts'
import { isListening } from './user-code.ts'

/** A use of something that `step` may not use. */
export interface TrapWarning {
  /** What was used: `Math.sin`. */
  readonly name: string
  /** Where, if the engine says it: the innermost place outside the engine. */
  readonly place: string
  /** The whole warning, with the fix. */
  readonly message: string
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

interface Trap {
  readonly target: object
  readonly name: string
  readonly isOwn: boolean
  readonly original: unknown
  readonly replacement: unknown
}

/** A report for each place is enough; a program that makes code at run time has many places. */
const REPORTS_MAX = 1000

/** Traps around `step`. One instance reports each use once. */
export class StepTraps {
  readonly #report: (warning: TrapWarning) => void
  readonly #known = new Set<string>()
  #traps: readonly Trap[] | undefined
  #depth = 0
  #tick: Tick = 0
  #isReporting = false

  /** `report` may throw: then `step` throws. */
  constructor(report: (warning: TrapWarning) => void) {
    this.#report = report
  }

  /** Calls `step` with traps. */
  run(tick: Tick, step: () => void): void {
    this.#tick = tick
    if (this.#depth++ === 0) this.#set(true)
    try {
      step()
    } finally {
      if (--this.#depth === 0) this.#set(false)
    }
  }

  #set(isTrapped: boolean): void {
    // Looked up at the first step: a function that a page replaced earlier is restored as the page left it.
    const traps = (this.#traps ??= this.#make())
    for (let at = 0; at < traps.length; at++) {
      const { target, name, isOwn, original, replacement } = traps[at]
      if (isTrapped) Reflect.set(target, name, replacement)
      else if (isOwn) Reflect.set(target, name, original)
      else Reflect.deleteProperty(target, name)
    }
  }

  #make(): Trap[] {
    const traps: Trap[] = []
    const add = (owner: string, name: string, replace: (original: object) => unknown): void => {
      const target = find(owner)
      const original: unknown = target === undefined ? undefined : Reflect.get(target, name)
      if (target === undefined || (typeof original !== 'function' && typeof original !== 'object') || original === null)
        return
      traps.push({ target, name, isOwn: Object.hasOwn(target, name), original, replacement: replace(original) })
    }
    for (const each of IMPURE_FUNCTIONS) add(each.owner, each.name, (original) => this.#watch(each, original))
    for (const each of IMPURE_GLOBALS) add(each.owner, each.name, (original) => this.#watchAll(each, original))
    for (const name of SORTS) add('Array.prototype', name, (original) => this.#watchSort(name, original))
    return traps
  }

  #watch(each: ImpureFunction, original: object): AnyFunction {
    const used = (): void => this.#handle(each, nameOf(each))
    return function (this: unknown, ...args) {
      used()
      return Reflect.apply(original as AnyFunction, this, args)
    }
  }

  /** Every use of the object is reported: a call, `new`, or a member. */
  #watchAll(each: ImpureFunction, original: object): object {
    const used = (member: PropertyKey | undefined): void =>
      this.#handle(each, member === undefined ? nameOf(each) : `${nameOf(each)}.${String(member)}`)
    return new Proxy(original, {
      get(target, member, receiver) {
        // `instanceof` is harmless.
        if (member !== 'prototype' && member !== Symbol.hasInstance) used(member)
        return Reflect.get(target, member, receiver === undefined ? target : receiver)
      },
      apply(target, receiver, args) {
        used(undefined)
        return Reflect.apply(target as AnyFunction, receiver, args)
      },
      construct(target, args) {
        used(undefined)
        return Reflect.construct(target as never, args) as object
      },
    })
  }

  #watchSort(name: string, original: object): AnyFunction {
    const used = (): void => this.#handle({ owner: 'Array.prototype', name, ...BOOLEAN_COMPARATOR }, `Array.${name}`)
    return function (this: unknown, ...args) {
      const [compare] = args
      if (typeof compare !== 'function') return Reflect.apply(original as AnyFunction, this, args)
      const checked = (a: unknown, b: unknown): unknown => {
        const result: unknown = Reflect.apply(compare, undefined, [a, b])
        if (typeof result === 'boolean') used()
        return result
      }
      return Reflect.apply(original as AnyFunction, this, [checked])
    }
  }

  #handle({ problem, fix }: ImpureFunction, name: string): void {
    // A report may use the clock. A listener of an event that `step` emitted may use it too, for example for a sound.
    if (this.#isReporting || isListening()) return
    const place = callerPlace()
    const key = `${name} ${place}`
    if (this.#known.has(key) || this.#known.size >= REPORTS_MAX) return
    this.#known.add(key)
    this.#isReporting = true
    try {
      const where = place === '' ? '' : ` at ${place}`
      const message = `${name}: called in step (tick ${this.#tick})${where}: ${problem}. Fix: ${fix}.`
      this.#report({ name, place, message })
    } finally {
      this.#isReporting = false
    }
  }
}

function nameOf({ owner, name }: ImpureFunction): string {
  return owner === '' ? name : `${owner.replace('.prototype', '')}.${name}`
}

/** The object at a path of the global scope, if there is one. */
function find(path: string): object | undefined {
  let found: unknown = globalThis
  for (const name of path === '' ? [] : path.split('.'))
    found = typeof found === 'object' || typeof found === 'function' ? Reflect.get(found as object, name) : undefined
  return (typeof found === 'object' && found !== null) || typeof found === 'function' ? found : undefined
}

/** Frames of this file on the stack of a report, at least. */
const OWN_FRAMES = 4

/** The line of code that used the trapped function: the first of the stack that is not in this file. */
function callerPlace(): string {
  const frames = (new Error('trap').stack ?? '').split('\n').filter((text) => /:\d+/.test(text))
  const own = /step-traps\.[jt]s|[\\/]tickwire[\\/]dist[\\/]/
  const line = frames.slice(OWN_FRAMES).find((text) => !own.test(text)) ?? ''
  return /\(?([^()\s@]+:\d+(?::\d+)?)\)?\s*$/.exec(line)?.[1]?.replace(/^file:\/\//, '') ?? ''
}
