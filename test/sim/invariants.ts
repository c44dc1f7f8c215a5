/**
 * The invariants of every simulated world, by number, and the error that is thrown when one is violated.
 *
 * Two are held by tests, because no single world can: I10, a changed world is noticed and named, by planted changes;
 * and I22, the same seed gives the same trace, by playing a seed twice. docs/spec/simulation.md has the same words, and
 * says when each is checked.
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
  I8: 'at most two epochs are open, the old one is discarded in time, and worn keys are replaced',
  I9: 'a match goes on at one relay, and its ticks have no gap',
  I11: 'a client that joins an old match executes its ticks without a gap from there on',
  I12: 'the log of a relay, stepped again, ends with the hash that every client had',
  I13: 'the memory that one peer and all peers can occupy is bounded, and nothing is left when they are gone',
  I14: 'an unproven address gets no more bytes than came from it, and no connection moves away from its peer',
  I15: 'there are never more connections than seats',
  I16: 'a connection follows its state table and ends once, with one reason that is the same on both sides; '
    + 'between honest sides no packet is malformed; an accepted client never gets a reset, whatever its address',
  I17: 'when the weather clears every client is connected within 5 s',
  I18: 'when the weather clears every reliable message has arrived within 10 s',
  I19: 'no time that is measured is negative, and no deadline is earlier than the time it was asked for',
  I20: 'a result is stored once, also when it was sent again, and a ticket leads to one room',
  I21: 'a server that drains gives no new seats',
  I23: 'every client of a lockstep match that executed a tick executed the same bytes',
  I24: 'all clients that executed a tick have the same hash after it',
  I25: 'an order is executed at most once, those of one player in their sequence, and none waits without end',
  I26: 'ticks are closed as planned, whatever clients do',
  I27: 'a client whose line is good again steps the newest ticks within 7 s',
  I28: 'joins, leaves, pauses, speeds and deadlines are in the same tick everywhere',
  I29: 'an R-Type client that keeps its seat receives each reliable packet once, and none of another client',
  I30: 'when the weather clears an R-Type client knows exactly the entities that it can see, with their values',
  I31: 'R-Type seats are never exceeded, each join ends in one leave, '
    + 'and in clear weather every client gets and keeps a seat',
  I32: 'an address without an R-Type seat is sent no more bytes than came from it',
  I33: 'inputs of an R-Type client never go back, and the last one arrives',
  I35: 'no client of a lockstep match is healed, unless the test has changed its world; then all are equal again',
  I36: 'no player of a mesh is removed while another peer receives its frames; no good line counts as lost',
  I37: 'in clear weather the peers of a mesh step their ticks, or know that the match is over for them',
  I38: 'a tick that two players hold and can show when the relay of a match is lost is in the match at the next relay, '
    + 'and none that the lost relay has not closed',
  I39: 'with good lines a match whose relay is lost goes on at the next one within 6 s; '
    + 'if the relay was asked to end, and no client is gone or stands still, within 2.5 s',
  I40: 'a client that joins an old match steps the newest ticks, or is dropped, within 60 s, and gets the ticks before',
  I41: 'while clients join an old match, the ticks of the others come as before',
  I42: 'the recording of a match is genuine to its verifier, and with any changed byte it is not',
  I43: 'no image that most players do not have is given to a client that joins an old match, or recorded',
  I44: 'an image that is encoded in slices has the bytes of the image in one piece',
  I45: 'when the weather clears, two peers have a path to each other, and it carries their messages',
  I46: 'a relay gives a member of a match only what another member of it sent, on a channel it has bound',
  I47: 'a lease has one owner until its time is over, and is free then; numbers of owners only grow',
  I48: 'the token of a seat is valid for its server',
  I49: 'a game server gives no seats to a leader after a newer one has asked',
  I50: 'when services are well again, every player gets a match, and every list has what there is and nothing else',
  I51: 'a host that is back keeps its join code, and a code leads to its host',
  I52: 'a room runs in one game server at most, also while it moves to another',
  G2: 'reliable messages of the game arrive once and in order',
  G3: 'a request gets its own answer, and some result before its deadline',
  G4: 'in each tick a player acts on the input that it sent for that tick or, if that is missing, on the one before',
  C1: 'every row that a client holds for a tick is the row of the authority at that tick, in its field set',
  C2: 'no client receives what it may not know: no object, and no field of one',
  C3: 'prediction starts from rows that were received, and what it takes for confirmed is true',
  C4: 'two seconds after the weather has cleared every client knows what it must, and holds nothing else',
  C5: 'in calm weather every tick that a client predicted is confirmed half a second after it was played',
  C6: 'a snapshot counts as delivered only when its receiver could use it',
  C7: 'the rows that a client holds never go back in time, and no object that is still in view is reported as gone',
  C8: 'where every datagram arrives once and in order, a client can read every snapshot, however hosts stall',
  crash: 'nothing throws',
} as const

export type InvariantId = keyof typeof INVARIANTS

/** A violation of an invariant. */
export interface Violation {
  readonly invariant: InvariantId
  /** Simulated time: true time, not the node's. */
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

/** Throws a violation unless the invariant holds. */
export function hold(isSo: boolean, invariant: InvariantId, problem: () => string): void {
  if (!isSo) throw new ViolationError(invariant, problem())
}

/** As `hold`, for a problem that costs nothing to describe. */
export function require(invariant: InvariantId, isHeld: boolean, problem: string): void {
  if (!isHeld) throw new ViolationError(invariant, problem)
}

/** Violations that are found between two ticks, where no caller could catch them: kept until `raise`. */
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

  /** Throws the first violation that was found. */
  raise(): void {
    if (this.#first !== undefined) throw this.#first
  }
}

/** Anything that was thrown, as a violation. */
export function violationOf(error: unknown, atMs: number, node: string): Violation {
  if (error instanceof ViolationError) return { invariant: error.invariant, atMs, node, problem: error.message }
  const message = error instanceof Error ? error.message : String(error)
  // Keys count their own nonces, and the stub of cryptography records every nonce: both throw.
  const isNonce = message.includes('a nonce was used twice') || message.includes('its nonce would repeat')
  const invariant = isNonce ? 'I5' : 'crash'
  return { invariant, atMs, node, problem: error instanceof Error && error.stack !== undefined ? error.stack : message }
}

/** One line. */
export function describeViolation({ invariant, atMs, node, problem }: Violation): string {
  return `${invariant} (${INVARIANTS[invariant]}): at ${atMs.toFixed(3)} ms, ${node}: ${problem}`
}
