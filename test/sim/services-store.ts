/**
 * A shared store of leases with faults, and what its answers must be (I47): the real `MemoryLeases` behind a network.
 *
 * It is away for a while, refuses writes, answers too late, loses an answer after its effect, forgets one key, or loses
 * everything. Beside it is a plain list of what each lease must be, by true time, to which every answer is compared.
 */

import { MemoryLeases } from '../../packages/services/src/store/memory-leases.ts'
import {
  STORE_DEADLINE_MS, type Lease, type LeaseKind, type LeasePage, type Leases, type MessageListener, type PutAnswer,
  type SendAnswer, type Unavailable,
} from '../../packages/services/src/store/leases.ts'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { hold } from './invariants.ts'
import type { ServicesTime, SimProcess } from './services-time.ts'

/** What is wrong with the store. */
export type StoreFault = 'none' | 'away' | 'read-only' | 'slow' | 'lossy'

interface Truth {
  readonly owner: string
  readonly number: number
  until: number
}

/** The time of a step of the clock: an answer at the very end of a lease may be either. */
const EDGE_MS = 1

/** The store, as all processes share it. */
export class SimStore {
  fault: StoreFault = 'none'
  /** Leases that were lost before their time, by name: from then on nothing is expected of them. */
  losses = 0
  /** Called when the leader has read the tickets that wait, before it groups them. */
  onTickets: (process: SimProcess) => void = () => {}
  readonly leases: MemoryLeases
  readonly #time: ServicesTime
  readonly #truths = new Map<string, Truth>()
  #highest = 0
  #failure: unknown

  constructor(time: ServicesTime) {
    this.#time = time
    this.leases = new MemoryLeases()
  }

  /** Everything is lost, as by a crash of a store without a disk. */
  async lose(): Promise<void> {
    this.losses++
    this.#truths.clear()
    await this.leases.close()
  }

  /** One key is lost. */
  async evict(dice: Dice): Promise<void> {
    const names = [...this.#truths.keys()]
    const name = names[dice.word() % Math.max(1, names.length)]
    if (name === undefined) return
    this.losses++
    const [kind, id] = name.split(' ') as [LeaseKind, string]
    this.#truths.delete(name)
    await this.leases.take(kind, id)
  }

  /** Throws what was wrong with an answer. */
  raise(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Compares an answer about a lease with what it must be. */
  judge(what: string, kind: LeaseKind, id: string, isLive: boolean | undefined, problem: string): void {
    const truth = this.#truths.get(`${kind} ${id}`)
    const left = truth === undefined ? -Infinity : truth.until - this.#time.now
    const must = left > EDGE_MS ? true : left < -EDGE_MS ? false : undefined
    if (isLive === undefined || must === undefined || must === isLive) return
    this.#fail(() => hold(false, 'I47', () => `${what} ${kind} ${id}: ${problem}, ${left.toFixed()} ms before its end`))
  }

  /** A lease was given or renewed. */
  note(kind: LeaseKind, id: string, owner: string, number: number, ttlMs: number): void {
    const name = `${kind} ${id}`
    const truth = this.#truths.get(name)
    const isOwn = truth !== undefined && truth.until > this.#time.now - EDGE_MS && truth.owner === owner
    if (!isOwn || truth.number !== number) {
      const isHigher = number > this.#highest
      this.#fail(() => hold(isHigher, 'I47', () => `${name} has number ${number}, after ${this.#highest}`))
    }
    this.#highest = Math.max(this.#highest, number)
    this.#truths.set(name, { owner, number, until: this.#time.now + ttlMs })
  }

  renew(kind: LeaseKind, id: string, ttlMs: number): void {
    const truth = this.#truths.get(`${kind} ${id}`)
    if (truth !== undefined) truth.until = this.#time.now + ttlMs
  }

  drop(kind: LeaseKind, id: string): void {
    this.#truths.delete(`${kind} ${id}`)
  }

  ownerOf(kind: LeaseKind, id: string): string | undefined {
    return this.#truths.get(`${kind} ${id}`)?.owner
  }

  #fail(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#failure ??= error
    }
  }
}

/** One process's way to the store. */
export class SimLeases implements Leases {
  readonly isShared: boolean = true
  isDegraded: boolean = false
  readonly #time: ServicesTime
  readonly #store: SimStore
  readonly #dice: Dice
  readonly #process: SimProcess

  constructor(time: ServicesTime, store: SimStore, dice: Dice, process: SimProcess) {
    this.#time = time
    this.#store = store
    this.#dice = dice
    this.#process = process
  }

  async put(kind: LeaseKind, id: string, owner: string, value: string, ttlMs: number): Promise<PutAnswer> {
    return await this.#call(true, async () => {
      const answer = await this.#store.leases.put(kind, id, owner, value, ttlMs)
      const isOther = this.#store.ownerOf(kind, id) !== owner
      if (answer === 'taken') this.#store.judge('put', kind, id, true, 'it is refused, and free')
      else if (typeof answer === 'number') {
        if (isOther) this.#store.judge('put', kind, id, false, 'it is given, and has another owner')
        this.#store.note(kind, id, owner, answer, ttlMs)
      }
      return answer
    })
  }

  async touch(kind: LeaseKind, id: string, owner: string, ttlMs: number): Promise<'ok' | 'gone' | Unavailable> {
    return await this.#call(true, async () => {
      const answer = await this.#store.leases.touch(kind, id, owner, ttlMs)
      const isOwn = this.#store.ownerOf(kind, id) === owner
      if (isOwn || answer === 'ok') this.#store.judge('touch', kind, id, answer === 'ok', `it is ${answer}`)
      if (answer === 'ok') this.#store.renew(kind, id, ttlMs)
      return answer
    })
  }

  async drop(kind: LeaseKind, id: string, owner: string): Promise<'ok' | 'gone' | Unavailable> {
    return await this.#call(true, async () => {
      const answer = await this.#store.leases.drop(kind, id, owner)
      if (answer === 'ok') this.#store.drop(kind, id)
      return answer
    })
  }

  async get(kind: LeaseKind, id: string): Promise<Lease | undefined | Unavailable> {
    return await this.#call(false, async () => {
      const answer = await this.#store.leases.get(kind, id)
      this.#store.judge('get', kind, id, answer !== undefined, answer === undefined ? 'it is gone' : 'it is there')
      return answer
    })
  }

  async page(kind: LeaseKind, after: string, limit: number): Promise<LeasePage | Unavailable> {
    return await this.#call(false, async () => {
      const page = await this.#store.leases.page(kind, after, limit)
      for (const { id } of page.leases) this.#store.judge('page', kind, id, true, 'it is listed')
      if (kind === 'ticket' && page.leases.length > 0) this.#store.onTickets(this.#process)
      return page
    })
  }

  async take(kind: LeaseKind, id: string): Promise<Lease | undefined | Unavailable> {
    return await this.#call(true, async () => {
      const answer = await this.#store.leases.take(kind, id)
      this.#store.judge('take', kind, id, answer !== undefined, answer === undefined ? 'it is gone' : 'it is there')
      this.#store.drop(kind, id)
      return answer
    })
  }

  async count(kind: LeaseKind, id: string, windowMs: number): Promise<number | Unavailable> {
    return await this.#call(true, async () => await this.#store.leases.count(kind, id, windowMs))
  }

  async send(instance: string, text: string): Promise<SendAnswer> {
    return await this.#call(true, async () => await this.#store.leases.send(instance, text))
  }

  onMessage(instance: string, listener: MessageListener): () => void {
    return this.#store.leases.onMessage(instance, (text) => {
      if (!this.#process.isDead) this.#time.run(this.#process, () => listener(text))
    })
  }

  async close(): Promise<void> {}

  async #call<T>(isWrite: boolean, effect: () => Promise<T>): Promise<T | Unavailable> {
    const { fault } = this.#store
    const time = this.#time
    const isAway = fault === 'away' || (fault === 'read-only' && isWrite)
    if (isAway) {
      await time.sleep(fault === 'away' ? STORE_DEADLINE_MS : 1)
      return 'unavailable'
    }
    const isSlow = fault === 'slow' && this.#dice.chance(0.3)
    await time.sleep(isSlow ? STORE_DEADLINE_MS : this.#dice.fraction())
    const answer = await effect()
    await time.sleep(this.#dice.fraction())
    if (isSlow) return 'unavailable'
    if (fault !== 'lossy' || !this.#dice.chance(0.3)) return answer
    await time.sleep(STORE_DEADLINE_MS)
    return 'unavailable'
  }
}
