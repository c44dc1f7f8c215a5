/**
 * The messages and calls that the two sides of one connection of a match sent and received, for I1 to I3.
 */

import { DELIVERIES, type Delivery, textOf } from './match-game.ts'
import { hold } from './invariants.ts'

/** One delivery in one direction. */
class Line {
  sent = 0
  received = 0
  #newest = 0
  readonly #seen = new Set<number>()

  hear(delivery: Delivery, number: number, text: string): void {
    const about = delivery === 'reliable' ? 'I1' : delivery === 'latest' ? 'I2' : 'I3'
    hold(
      number >= 1 && number <= this.sent,
      about,
      () => `${delivery} message ${number} of ${this.sent} was never sent`,
    )
    hold(text === textOf(number), about, () => `${delivery} message ${number} is not what was sent: ${text}`)
    const isInPlace =
      delivery === 'reliable'
        ? number === this.#newest + 1
        : delivery === 'latest'
          ? number > this.#newest
          : !this.#seen.has(number)
    hold(isInPlace, about, () => `${delivery} message ${number} came after ${this.#newest}`)
    if (delivery === 'unordered' || delivery === 'unreliable') this.#seen.add(number)
    this.#newest = number
    this.received++
  }
}

type Lines = Readonly<Record<Delivery, Line>>

/** One connection of a player. */
export class Diary {
  /** Which connection; the same number on both sides. */
  readonly connection: string
  /** By the player; by the authority. */
  readonly up: Lines = newLines()
  readonly down: Lines = newLines()
  /** Packets whose snapshots the player could use, and that are not yet acknowledged. */
  readonly used: Set<number> = new Set<number>()
  /** Calls of the player. */
  asked = 0
  answered = 0
  /** Of those, the ones that wait for an answer. */
  waiting = 0

  constructor(connection: string) {
    this.connection = connection
  }

  /** The authority counts the snapshot in a packet as delivered. */
  handleDelivered(sequence: number): void {
    hold(
      this.used.delete(sequence),
      'C6',
      () => `the snapshot in packet ${sequence} counts as delivered, and its receiver could not use it`,
    )
  }

  /** The authority has received call `number`. */
  hearAsk(number: number): void {
    hold(
      number === this.answered + 1 && number <= this.asked,
      'I1',
      () => `call ${number} of ${this.asked} came after ${this.answered}`,
    )
    this.answered = number
  }

  /** The reliable messages that have not arrived; undefined when all have. */
  get missing(): string | undefined {
    for (const [way, lines] of [['sent', this.up], ['was sent', this.down]] as const) {
      for (const delivery of ['reliable', 'unordered'] as const) {
        const { sent, received } = lines[delivery]
        if (sent !== received) return `${way} ${sent} ${delivery} messages, and ${received} were received`
      }
    }
    if (this.waiting !== 0) return `waits for ${this.waiting} answers`
    return this.asked === this.answered ? undefined : `made ${this.asked} calls, and ${this.answered} came`
  }
}

function newLines(): Lines {
  return Object.fromEntries(DELIVERIES.map((delivery) => [delivery, new Line()])) as Lines
}
