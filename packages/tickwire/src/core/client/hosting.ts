/** The place of a match whose relay runs on the machine of a player. */

import { ConfigError } from '../base/assert.ts'
import type { MessagePortLike } from '../endpoint/message-ports.ts'
import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import type { HostedRelay, HostingOptions } from './hosted-relay.ts'
import { LockstepLine } from './lockstep-line.ts'
import {
  LockstepRoom, refuseRanked, type LockstepMachine, type LockstepOptions, type LockstepPlace,
} from './lockstep-room.ts'

/** A match whose relay runs on the machine of this player, who has no advantage. It ends when this player leaves. */
export class Hosting implements LockstepPlace {
  readonly #options: HostingOptions
  #relay: HostedRelay | undefined

  constructor(options: HostingOptions) {
    this.#options = options
  }

  /** Where other machines join, with `relay(url)`. Empty in a page, and until `connect` has returned. */
  get urls(): readonly string[] {
    return this.#relay?.urls ?? []
  }

  /** A port for a player in another page of this machine, which joins with `relay(port)`. */
  invite(): MessagePortLike {
    if (this.#relay === undefined)
      throw new ConfigError('hosting.invite', 'the match is not open', 'call it after `await connect(game, hosting)`.')
    return this.#relay.invite()
  }

  async enter<O extends readonly AnyOrder[]>(
    game: LockstepGame<O>, options: LockstepOptions, machine: LockstepMachine,
  ): Promise<LockstepRoom<O>> {
    refuseRanked(options, 'hosting')
    const { fingerprint, tickRate, players, text } = game
    const hosted = await machine.host({ fingerprint, tickRate, players, text }, this.#options)
    this.#relay = hosted
    try {
      const line = await LockstepLine.open(game, { open: () => hosted.invite() }, options, machine)
      return new LockstepRoom(line, machine.platform, () => this.#close(hosted))
    } catch (error) {
      this.#close(hosted)
      throw error
    }
  }

  #close(hosted: HostedRelay): void {
    if (this.#relay === hosted) this.#relay = undefined
    void hosted.close()
  }
}

/** A match whose relay runs on the machine of this player: in Node in this process, in a page in a Worker. */
export function hosting(options: HostingOptions = {}): Hosting {
  return new Hosting(options)
}
