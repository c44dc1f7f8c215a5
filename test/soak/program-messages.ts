/** The messages between a soak of programs and its crowds. */

/** From a crowd, every second. */
export interface CrowdSample {
  /** Players in a match, or games on a list. */
  readonly active: number
  readonly joins: number
  readonly leaves: number
  /** Unrequested ends and failed requests, by their reason. */
  readonly ends: Readonly<Record<string, number>>
  /** What must never happen, in words. */
  readonly faults: readonly string[]
  /** Durations of the last second, in ms, by what took them. */
  readonly took: Readonly<Record<string, readonly number[]>>
}

export type CrowdMessage =
  | { readonly sample: CrowdSample }
  /** All that was active when a program was killed is active again, after so many ms. */
  | { readonly backMs: number }

/**
 * To a crowd. `killed`: a process is about to be killed. `returned`: it runs again. A crowd counts `backMs` from
 * `killed` if others go on with its work, and from `returned` if not.
 */
export type CrowdOrder = 'killed' | 'returned'

/** Counts for a crowd, and sends them. */
export class CrowdReport {
  active = 0
  joins = 0
  leaves = 0
  readonly #ends: Record<string, number> = {}
  readonly #faults: string[] = []
  #took: Record<string, number[]> = {}

  constructor() {
    setInterval(() => {
      const { active, joins, leaves } = this
      send({ sample: { active, joins, leaves, ends: this.#ends, faults: this.#faults, took: this.#took } })
      this.#took = {}
    }, 1000)
  }

  ended(reason: string): void {
    this.#ends[reason] = (this.#ends[reason] ?? 0) + 1
  }

  fault(words: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(words)
  }

  took(what: string, ms: number): void {
    const list = this.#took[what] ??= []
    list.push(ms)
  }

  back(backMs: number): void {
    send({ backMs })
  }
}

const FAULTS_MAX = 20

function send(message: CrowdMessage): void {
  process.send?.(message)
}
