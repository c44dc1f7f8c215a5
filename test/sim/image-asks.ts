import type { PeerId } from '../../packages/tickwire/src/core/base/time.ts'
import type { RejoinDesk } from '../../packages/tickwire/src/core/order-relay/rejoin-desk.ts'

/** The images that a relay has asked for: from which donor, and with which witnesses. */
export class ImageAsks {
  readonly #asks: { readonly donor: PeerId; readonly witnesses: PeerId[] }[] = []

  see({ to, message }: ReturnType<RejoinDesk['take']>[number]): void {
    if (message.kind !== 'wanted') return
    if (message.isWhole) this.#asks.push({ donor: to, witnesses: [] })
    else this.#asks.at(-1)!.witnesses.push(to)
  }

  /** Whether a player was asked for an image. */
  hasDonor(player: PeerId): boolean {
    return this.#asks.some(({ donor }) => donor === player)
  }

  /** Whether one of these players was a donor, and they were more than half of all that were asked with it. */
  hasMajority(players: readonly PeerId[]): boolean {
    return this.#asks.some(({ donor, witnesses }) => players.includes(donor)
      && 2 * (1 + witnesses.filter((peer) => players.includes(peer)).length) > 1 + witnesses.length)
  }
}
