/**
 * What must hold in every simulated world, by number; and what is thrown when it does not.
 *
 * Numbers are those of the plan the simulation is built to, so there are gaps: what is missing belongs to lockstep, replays
 * and stores. I22, the same seed gives the same trace, is held by tests that run a seed twice. docs/spec/simulation.md has the
 * same words, and says when each is looked at.
 */

/** Every invariant that a world checks while it runs. */
export const INVARIANTS = {
  I1: 'ordered messages arrive as they were sent: each once, none left out, none changed',
  I2: 'a sequenced channel never goes back',
  I3: 'unordered and unreliable messages arrive at most once, and unchanged',
  I4: 'a large message arrives whole and unchanged, or not at all',
  I5: 'no nonce is used twice under one key',
  I6: 'nothing is accepted that the peer did not seal for this receiver',
  I7: 'a packet takes effect once; a changed one changes nothing',
  I8: 'at most two epochs are open, the old one goes in time, and keys that are worn are replaced',
  I13: 'what a peer and all peers may have us hold is bounded, and nothing is left when they are gone',
  I14: 'an address that is not proven gets no more bytes than came from it, and no connection moves where its peer is not',
  I15: 'there are never more connections than seats',
  I16: 'a connection lives along its table and ends once, with one reason that both sides understand alike; between honest sides nothing makes no sense; who was let in is never told that he is nobody, wherever he speaks from',
  I17: 'when the weather clears everybody is connected within 5 s',
  I18: 'when the weather clears every reliable message has arrived within 10 s',
  G2: 'what the game says reliably arrives once and in order',
  G3: 'a request is answered with its own answer, and somehow before its time is up',
  G4: 'in a tick everybody acts on the input that he said for it, or, where that is not here, on the one before',
  C1: 'every row that a client holds for a tick is the row of the authority at that tick, in his field set',
  C2: 'nobody is told what he may not know: no object, and no field of one',
  C3: 'prediction stands on what was told, and what it takes for confirmed is true',
  C4: 'two seconds after the weather has cleared everybody knows what he must, and holds nothing that he may not',
  C5: 'half a second after it was played what a client predicted is confirmed, once it is calm',
  C6: 'a snapshot counts as delivered only when its receiver could use it',
  C7: 'what a client holds never goes back, and nobody leaves his view who has not left',
  crash: 'nothing throws',
} as const

export type InvariantId = keyof typeof INVARIANTS

/** One that did not hold. */
export interface Violation {
  readonly invariant: InvariantId
  /** Simulated time, true and not the node's. */
  readonly atMs: number
  readonly node: string
  readonly problem: string
}

/** Thrown where an invariant does not hold; the world fills in when and where. */
export class ViolationError extends Error {
  readonly invariant: InvariantId

  constructor(invariant: InvariantId, problem: string) {
    super(problem)
    this.invariant = invariant
  }
}

/** Throws unless it holds. */
export function hold(isSo: boolean, invariant: InvariantId, problem: () => string): void {
  if (!isSo) throw new ViolationError(invariant, problem())
}

/** What is found out between two ticks, where nobody could catch it: kept until somebody looks. */
export class Doubts {
  #first: unknown

  /** Runs a check whose failure counts at the next `raise`. */
  judge(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#first ??= error
    }
  }

  /** Throws what was found out first. */
  raise(): void {
    if (this.#first !== undefined) throw this.#first
  }
}

/** Whatever was thrown, as a violation. */
export function violationOf(error: unknown, atMs: number, node: string): Violation {
  if (error instanceof ViolationError) return { invariant: error.invariant, atMs, node, problem: error.message }
  const message = error instanceof Error ? error.message : String(error)
  // Keys count for themselves, and the stub of cryptography keeps a record of every nonce: both throw.
  const isNonce = message.includes('a nonce was used twice') || message.includes('its nonce would repeat')
  const invariant = isNonce ? 'I5' : 'crash'
  return { invariant, atMs, node, problem: error instanceof Error && error.stack !== undefined ? error.stack : message }
}

/** One line. */
export function describeViolation({ invariant, atMs, node, problem }: Violation): string {
  return `${invariant} (${INVARIANTS[invariant]}): at ${atMs.toFixed(3)} ms, ${node}: ${problem}`
}
