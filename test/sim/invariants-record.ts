/**
 * Every datagram that was ever sent in a world, by its hash: a table of numbers, since there are many and each is
 * looked up.
 *
 * Invariant: a place found by `find` is valid until the next `add`.
 */

const FREE = 255
const ROOM_AT_FIRST = 4096

/** Datagrams by their hash. */
export class DatagramRecord {
  #low = new Int32Array(ROOM_AT_FIRST)
  #high = new Int32Array(ROOM_AT_FIRST)
  #senders = new Uint8Array(ROOM_AT_FIRST).fill(FREE)
  #accepted = new Uint8Array(ROOM_AT_FIRST)
  #count = 0

  /** Node `sender`, below 255, has sent it. */
  add(low: number, high: number, sender: number): void {
    if (2 * this.#count >= this.#low.length) this.#grow()
    const place = this.#placeOf(low | 0, high | 0)
    if (this.#senders[place] === FREE) this.#count++
    this.#low[place] = low
    this.#high[place] = high
    this.#senders[place] = sender
  }

  /** Its place; -1 when no node sent it. */
  find(low: number, high: number): number {
    const place = this.#placeOf(low | 0, high | 0)
    return this.#senders[place] === FREE ? -1 : place
  }

  senderAt(place: number): number {
    return this.#senders[place]!
  }

  /** Whether it took effect. */
  isAcceptedAt(place: number): boolean {
    return this.#accepted[place] === 1
  }

  acceptAt(place: number): void {
    this.#accepted[place] = 1
  }

  /** Where it is, or would be. */
  #placeOf(low: number, high: number): number {
    const mask = this.#low.length - 1
    let place = low & mask
    while (this.#senders[place] !== FREE && (this.#low[place] !== low || this.#high[place] !== high))
      place = (place + 1) & mask
    return place
  }

  #grow(): void {
    const [lows, highs, senders, accepted] = [this.#low, this.#high, this.#senders, this.#accepted]
    const room = 2 * lows.length
    this.#low = new Int32Array(room)
    this.#high = new Int32Array(room)
    this.#senders = new Uint8Array(room).fill(FREE)
    this.#accepted = new Uint8Array(room)
    this.#count = 0
    senders.forEach((sender, at) => {
      if (sender === FREE) return
      this.add(lows[at]!, highs[at]!, sender)
      this.#accepted[this.find(lows[at]!, highs[at]!)] = accepted[at]!
    })
  }
}
