/** A mesh in simulated time: two or three peers, a cable between each pair of them, and a record of what they did. */

import type { AnyOrder, LockstepGame, RunnerOptions, TickEvent } from 'tickwire/lockstep'
import { DATAGRAM_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { MeshClient, type MeshClientOptions } from '../../packages/tickwire/src/core/game/mesh-client.ts'
import { MemoryLink, type LinkSide, type Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { SimClock, type SimActor } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { checkTimes } from './clock-jumps.ts'

export interface MeshPartyOptions {
  readonly game: LockstepGame
  readonly seed: number
  readonly players: number
  readonly weather?: Weather
  readonly gameOf?: (player: number) => LockstepGame
  readonly options?: (player: number) => Partial<MeshClientOptions>
}

/** One peer, with a cable to every other. Its clock has an offset and a drift. */
export class MeshMember implements SimActor {
  readonly client: MeshClient
  /** Indexed by player: the cable to it, and which end is the local one. */
  readonly links: { readonly link: MemoryLink; readonly side: LinkSide }[] = []
  /** Indexed by tick. */
  readonly hashes: string[] = []
  readonly executedAt: number[] = []
  readonly events: [string, number, number, number][] = []
  readonly differing: [number, number][] = []
  offsetMs = 0
  drift = 1
  /** Until then the machine stands still. */
  frozenUntil = 0
  /** Until then frames are sent, but nothing is stepped. */
  stuckUntil = 0
  largestDatagram = 0
  sentBytes = 0
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt = 0
  #now = 0

  constructor(game: LockstepGame, options: MeshClientOptions, runner: RunnerOptions = {}) {
    this.client = new MeshClient(game, {
      ...options,
      runner: {
        ...runner,
        onTick: (tick, low, high) => {
          this.hashes[tick] = `${high.toString(16)}.${low.toString(16)}`
          this.executedAt[tick] = this.#now
        },
        onEvent: ({ name, player, value }: TickEvent, tick) => { this.events.push([name, player, value, tick]) },
      },
    })
    this.client.feed.onDiffers = (player, tick) => { this.differing.push([player, tick]) }
  }

  get tick(): number {
    return this.client.runner?.tick ?? 0
  }

  localTime(now: number): number {
    return this.offsetMs + now * this.drift
  }

  order<K extends AnyOrder>(now: number, kind: K, values: object): string {
    const result = this.client.runner?.order(this.localTime(now), kind, values as never) ?? 'closed'
    this.#nextAt = now
    return result
  }

  /** The clock of this machine jumps ahead. */
  jump(now: number, ms: number): void {
    this.offsetMs += ms
    this.#nextAt = now
  }

  /** The client got a command: it is driven at once. */
  poke(now: number): void {
    this.#nextAt = now
  }

  nextAt(): number {
    const arrival = this.links.reduce((least, { link, side }) => Math.min(least, link.nextAt(side)), Infinity)
    return Math.max(Math.min(this.#nextAt, arrival), this.frozenUntil)
  }

  wake(now: number): void {
    this.#now = now
    this.links.forEach(({ link, side }, player) => {
      const poll = (): number => link.poll(now, side, this.#incoming)
      for (let length = poll(); length >= 0; length = poll())
        this.client.handleDatagram(this.localTime(now), String(player), this.#incoming, length)
    })
    const local = this.localTime(now)
    if (now >= this.stuckUntil) this.client.tick(local)
    const next = this.client.drain(local, {
      send: (to, bytes, length) => {
        const cable = this.links[Number(to)]
        this.largestDatagram = Math.max(this.largestDatagram, length)
        this.sentBytes += length + 28
        cable?.link.send(now, cable.side, bytes, length)
      },
    })
    this.#nextAt = Math.max((next - this.offsetMs) / this.drift, now + 0.05, now < this.stuckUntil ? now + 5 : 0)
  }
}

/** All peers of a mesh. */
export class MeshParty {
  readonly clock = new SimClock()
  /** In the order of their numbers; player 1 is the first. */
  readonly members: MeshMember[] = []

  constructor({ game, gameOf, seed, players, weather = {}, options }: MeshPartyOptions) {
    const peers = Array.from({ length: players }, (_, at) => String(at + 1))
    for (let player = 1; player <= players; player++) {
      this.members.push(new MeshMember(gameOf?.(player) ?? game, {
        player, peers, seed, entropy: new Dice(seed ^ (0xc11 * player)), security: { provider: new StubCrypto() },
        ...options?.(player),
      }))
    }
    for (let a = 1; a <= players; a++) {
      for (let b = a + 1; b <= players; b++) {
        const link = new MemoryLink(seed + 97 * a + 31 * b, weather)
        this.member(a).links[b] = { link, side: 0 }
        this.member(b).links[a] = { link, side: 1 }
      }
    }
    for (const member of this.members) this.clock.add(member)
  }

  member(player: number): MeshMember {
    return this.members[player - 1]!
  }

  cable(a: number, b: number): MemoryLink {
    return this.member(a).links[b]!.link
  }

  run(ms: number): void {
    this.clock.drive(ms)
    checkTimes(this.members)
  }
}
