/**
 * One player of a swarm's match on a node of the simulated network. Who loses his connection comes again, as another peer.
 */

import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import { ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { NetResident } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { hold } from './invariants.ts'
import { Chat, swarmGame } from './swarm-game.ts'

/** How long who was turned away waits. */
const AWAY_MS = 200

/** A player. */
export class MatchPlayer implements NetResident {
  readonly node: SimNode
  host: ClientHost<typeof swarmGame.input>
  held: { up: boolean; right: boolean; shield: boolean; aim: number } = { up: false, right: false, shield: false, aim: 0 }
  /** As the peer he is now. */
  said = 0
  told = 0
  readonly #server: string
  readonly #security: EndpointSecurity
  readonly #seed: number
  #lives = 0
  #comesAt = 0

  constructor(node: SimNode, server: string, security: EndpointSecurity, seed: number) {
    this.node = node
    this.#server = server
    this.#security = security
    this.#seed = seed
    this.host = this.#live()
  }

  handleDatagram(now: number, from: string, bytes: Uint8Array, length: number): void {
    this.host.handleDatagram(now, from, bytes, length)
  }

  pump(now: number, port: Pick<DatagramPort, 'send'>): number {
    if (now >= this.#comesAt) {
      this.#comesAt = Infinity
      this.host = this.#live()
      this.host.connect(now, this.#server)
    }
    this.host.tick(now)
    const dueAt = this.host.drain(now, port)
    if (this.#comesAt === Infinity && this.host.endpoint.connections.length === 0) this.#comesAt = now + AWAY_MS
    return Math.min(dueAt, this.#comesAt)
  }

  /** Says something to the authority, if he is in. */
  say(text: string): void {
    if (this.host.peer !== 0 && this.host.send(Chat, { number: this.said + 1, text }) === 'queued') this.said++
  }

  #live(): ClientHost<typeof swarmGame.input> {
    this.said = 0
    this.told = 0
    const host = new ClientHost(swarmGame, { security: this.#security, entropy: new Dice(this.#seed + 104_729 * this.#lives++) })
    host.sampleInput = () => this.held
    host.on(Chat, ({ number }) => {
      hold(this.told === 0 || number === this.told + 1, 'G2', () => `the authority's message ${number} came after ${this.told}`)
      this.told = number
    })
    return host
  }
}
