/**
 * Signs the local player's orders every five seconds, as a running hash over the tick stream, so that a recording shows
 * which orders the player gave. A player that finds an order in the stream that it did not give signs no more.
 */

import type { Tick } from '../base/time.ts'
import { PlayerChain } from '../order/seal.ts'
import type { Sha256 } from '../order/seed-share.ts'
import type { SyncMessage } from '../order/sync-messages.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import type { SealSigner } from '../order/tick-sealer.ts'
import type { LockstepRunner } from './lockstep-runner.ts'

const EVERY_SECONDS = 5

/** Signs the orders of the local player. */
export class PlayerSealer {
  /** Whether the stream has an order of this player that it did not give. */
  isDeceived = false
  readonly #runner: LockstepRunner
  readonly #signer: SealSigner
  readonly #send: (message: SyncMessage) => void
  readonly #reader = new TickBodyReader()
  readonly #sha256: Sha256
  #chain: PlayerChain
  /** Orders up to `#done` are in the chain; orders up to `#from` were given before this process had the seat. */
  #done: Tick = 0
  readonly #from: Tick
  #signed = 0

  /** `from`: the newest tick when this process took the seat. */
  constructor(
    runner: LockstepRunner, from: Tick, sha256: Sha256, signer: SealSigner, send: (message: SyncMessage) => void,
  ) {
    this.#runner = runner
    this.#sha256 = sha256
    this.#from = from
    this.#signer = signer
    this.#send = send
    this.#chain = this.#begin()
  }

  /** The ticks after one are not in the match. */
  rewind(tick: Tick): void {
    if (tick >= this.#done) return
    this.#done = 0
    this.#signed = 0
    this.#chain = this.#begin()
  }

  /** A tick was stepped. */
  handleStepped(tick: Tick): void {
    const { game: { tickRate } } = this.#runner
    const isDue = tick % (EVERY_SECONDS * tickRate) === 0 || this.#runner.isEnded
    // The hash runs over all own orders: after a rejoin it waits for the ticks from before.
    if (!isDue || this.isDeceived || !this.#runner.feed.log.isWhole) return
    this.isDeceived = this.#runner.lastStranger > this.#from
    while (this.#done < tick) this.#add(++this.#done)
    if (this.isDeceived || this.#chain.orders === this.#signed) return
    this.#signed = this.#chain.orders
    const signature = this.#signer.sign(this.#chain.message(tick))
    this.#send({ kind: 'seal', tick, orders: this.#signed, publicKey: this.#signer.publicKey, signature })
  }

  #begin(): PlayerChain {
    const { game: { fingerprint }, feed: { seed, player } } = this.#runner
    return new PlayerChain({ fingerprint, seed }, player, this.#sha256)
  }

  #add(tick: Tick): void {
    const { log, player } = this.#runner.feed
    const reader = this.#reader
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    while (reader.next()) {
      if (reader.player !== player) continue
      const data = log.bytes.subarray(reader.dataAt, reader.dataAt + reader.dataLength)
      this.#chain.add(tick, reader.timeUs, reader.type, data)
    }
  }
}
