/** An R-Type server and clients that are made from the protocol's document, on a network in simulated time. */

import type { RtypePacket } from '../../packages/tickwire/src/core/rtype/packet-table.ts'
import { RtypeServer } from '../../packages/tickwire/src/core/rtype-session/server.ts'
import type {
  RtypePeer, RtypeServerEvent, RtypeServerOptions,
} from '../../packages/tickwire/src/core/rtype-session/server-types.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { writeRtype, type RtypeMeaning } from '../reference/rtype-checker.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'

/** A server and reference clients on a network that loses and repeats datagrams and takes 20 ms. */
export class RtypeStage {
  now = 1000
  readonly server: RtypeServer
  readonly events: RtypeServerEvent[] = []
  readonly clients: Map<string, ReferenceClient> = new Map()
  /** Everything that the server sent, by address. */
  readonly sent: { readonly to: string; readonly bytes: Uint8Array }[] = []
  loss = 0
  readonly #random: Dice = new Dice(30)
  #flights: { readonly at: number; readonly to: string; readonly from: string; readonly bytes: Uint8Array }[] = []

  constructor(options: RtypeServerOptions = {}) {
    this.server = new RtypeServer(options, new Dice(7))
  }

  add(address: string, clientId: number, name: string = `Player ${clientId}`): ReferenceClient {
    const client = new ReferenceClient(name, clientId)
    this.clients.set(address, client)
    return client
  }

  get peer(): RtypePeer {
    return this.server.peers[0]!
  }

  send(packet: RtypePacket, peer: RtypePeer = this.peer): void {
    this.server.send(this.now, peer, packet)
  }

  /** A datagram that claims to come from `from`. */
  forge(from: string, meaning: Partial<RtypeMeaning> & Pick<RtypeMeaning, 'name' | 'fields'>): void {
    const bytes = writeRtype({ flags: 0, sequence: 1, timestamp: 0, ...meaning })
    this.server.handleDatagram(this.now, from, bytes, bytes.length)
  }

  run(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += 4) {
      const due = this.#flights.filter(({ at }) => at <= this.now)
      this.#flights = this.#flights.filter(({ at }) => at > this.now)
      for (const { to, from, bytes } of due) {
        if (to === 'server') this.server.handleDatagram(this.now, from, bytes, bytes.length)
        else this.clients.get(to)?.handle(this.now, bytes)
      }
      for (const [address, client] of this.clients) {
        for (const bytes of client.poll(this.now)) this.#fly('server', address, bytes)
      }
      for (let event = this.server.poll(); event !== undefined; event = this.server.poll()) this.events.push(event)
      this.server.drain(this.now, (to, bytes, length) => {
        this.sent.push({ to, bytes: bytes.slice(0, length) })
        this.#fly(to, 'server', bytes.slice(0, length))
      })
    }
  }

  #fly(to: string, from: string, bytes: Uint8Array): void {
    if (this.#random.fraction() < this.loss) return
    this.#flights.push({ at: this.now + 20, to, from, bytes })
    if (this.loss > 0 && this.#random.fraction() < 0.1) this.#flights.push({ at: this.now + 45, to, from, bytes })
  }
}

/** A client, and another one or a stranger. */
export const A = '203.0.113.5:4000'
export const B = '198.51.100.9:4000'
export const CONNECT = {
  name: 'CLIENT_CONNECT', fields: { protocol_version: 1, player_name: 'Eve', client_id: 66 },
} as const
