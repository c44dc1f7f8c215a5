/**
 * A network in one process, from one seed: named nodes, each with an address, and a link in each direction between
 * every two of them, with its own weather (network faults).
 *
 * ```ts
 * const net = new SimNet({ seed: 7, weather: { latency: { ms: 50 }, loss: { rate: 0.05 } } })
 * const [server, alice] = [net.addNode('server', { isFixed: true }), net.addNode('alice')]
 * net.send(now, alice, server.address, bytes, bytes.length)
 * while (net.poll(now, server, arrival)) endpoint.handleDatagram(now, arrival.from, arrival.bytes, arrival.length)
 * ```
 *
 * It is sans-I/O like the engine: `send` and `poll` take `now`, `nextAt` says when the next datagram arrives. `SimPort`
 * makes a transport of a node, `SimNetActor` runs a node in simulated time with its own clock.
 *
 * Invariants: the same seed, weather and calls give the same arrivals, to the bit, everywhere; removing a fault does
 * not change the effect of the others; no datagram vanishes unexplained (`tally`).
 */

import { ConfigError, assert } from '../core/base/assert.ts'
import { KeyedPrng } from '../core/base/keyed-prng.ts'
import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import { originKey } from '../core/endpoint/origin-key.ts'
import { CONCERNS, LinkModel } from './link-model.ts'
import { LinkTally } from './link-model-tally.ts'
import type { Arrival } from './sim-net-flights.ts'
import { NodeState, type SimNode } from './sim-net-node.ts'
import { type NetWeather, checkWeather } from './weather.ts'

/** Most nodes of one network. The number after the last stands for "the node itself" in random keys. */
const NODES_MAX = 1023
/** Number of addresses in 198.18.0.0/15, which is reserved for network tests. */
const HOSTS = 2 ** 17
const PORT_FIRST = 40_000
const PORT_COUNT = 20_000

/** Options of a network. */
export interface SimNetOptions {
  /** A whole number below 2^53. Default 1. */
  readonly seed?: number
  /** The weather on every link and node that has none of its own. Default: no faults. */
  readonly weather?: NetWeather
  /** When it begins. Default 0. */
  readonly startMs?: Millis
}

/** Options of a node. */
export interface SimNodeOptions {
  /** `ip:port`. Default: a unique one. */
  readonly address?: string
  /** Whether it keeps its address whatever the weather, as servers do. Default: false. */
  readonly isFixed?: boolean
}

/** Where a node moves to: a new port, a new host, or a given address. */
export type Move = 'port' | 'address' | { readonly address: string }

/** The network. */
export class SimNet {
  /** Datagrams sent to an address that no node has. */
  unrouted: number = 0
  /** How often a node got another address, by weather or by a call. */
  moves: number = 0
  #chance: KeyedPrng
  #nodes: NodeState[] = []
  #owners: Map<string, NodeState> = new Map()
  #now: Millis
  /** When the weather next moves a node. */
  #movesAt: Millis = Infinity
  #weather: NetWeather
  /** Since when the weather applies: episodes of links that are first used later begin then. */
  #weatherSince: Millis

  constructor(options: SimNetOptions = {}) {
    const { seed = 1, weather = {}, startMs = 0 } = options
    checkWeather(weather)
    this.#chance = new KeyedPrng(seed)
    this.#weather = weather
    this.#weatherSince = startMs
    this.#now = startMs
  }

  /** All nodes, in the order of addition. */
  get nodes(): readonly SimNode[] {
    return this.#nodes
  }

  /** Adds a node. Throws ConfigError when its name or address is taken. */
  addNode(name: string, options: SimNodeOptions = {}): SimNode {
    const index = this.#nodes.length
    const { address = addressOf(index, 0), isFixed = false } = options
    if (index === NODES_MAX) throw new ConfigError(
      'addNode',
      `too many nodes (expected at most ${NODES_MAX})`,
      'make another network.',
    )
    if (this.#nodes.some((node) => node.name === name))
      throw new ConfigError('addNode.name', `${name} is taken`, 'give another name.')
    this.#checkAddress(address)
    const node = new NodeState(name, index, address, isFixed, this.#chance, keyOf(index, NODES_MAX))
    this.#nodes.push(node)
    this.#owners.set(address, node)
    node.setWeather(this.#weatherSince, this.#weather)
    this.#findNextMove()
    return node
  }

  /** The directed link from one node to another: its weather and its counters. */
  link(from: SimNode, to: SimNode): LinkModel {
    const { links } = this.#state(from)
    const known = links[to.index]
    if (known !== undefined) return known
    const link = new LinkModel(this.#chance, keyOf(from.index, to.index))
    links[to.index] = link
    link.setWeather(this.#weatherSince, this.#weather)
    return link
  }

  /** Sets the weather everywhere from now on. Faults whose object is unchanged continue. */
  setWeather(now: Millis, weather: NetWeather): void {
    checkWeather(weather)
    this.#reach(now)
    this.#weather = weather
    this.#weatherSince = now
    for (const node of this.#nodes) {
      node.setWeather(now, weather)
      for (const link of node.links) link?.setWeather(now, weather)
    }
    this.#findNextMove()
  }

  /** Sets the weather of one directed link, until `setWeather`. */
  setLinkWeather(now: Millis, from: SimNode, to: SimNode, weather: NetWeather): void {
    checkWeather(weather)
    this.#reach(now)
    this.link(from, to).setWeather(now, weather)
  }

  /** Sets the faults of one node (its outages, rebinds, clock), until `setWeather`. */
  setNodeWeather(now: Millis, node: SimNode, weather: NetWeather): void {
    checkWeather(weather)
    this.#reach(now)
    this.#state(node).setWeather(now, weather)
    this.#findNextMove()
  }

  /** Sends a datagram from `from` to the node at `to`. False when `to` is not an address. */
  send(now: Millis, from: SimNode, to: string, bytes: Uint8Array, length: number): boolean {
    assert(length <= DATAGRAM_BYTES_MAX, 'a datagram fits the longest there are')
    this.#reach(now)
    const target = this.#owners.get(to)
    if (target === undefined) {
      this.unrouted++
      return originKey(to) !== undefined
    }
    const isMute = this.#state(from).isMute(now)
    this.link(from, target).send(now, bytes, length, from.address, to, isMute, target.flights)
    return true
  }

  /** Lends the next datagram that has reached `node` by now to `out`, until the next call. False when there is none. */
  poll(now: Millis, node: SimNode, out: Arrival): boolean {
    this.#reach(now)
    const state = this.#state(node)
    const { flights } = state
    while (flights.nextAt() <= now) {
      const tally = flights.land(out)
      if (state.isDeaf(out.at)) tally.lostInOutage++
      else if (out.to !== node.address) tally.stale++
      else {
        tally.delivered++
        return true
      }
    }
    flights.release()
    return false
  }

  /** When the next datagram reaches `node`; Infinity when none is in flight. */
  nextAt(node: SimNode): Millis {
    return this.#state(node).flights.nextAt()
  }

  /** Gives a node another address. Datagrams sent to the old one are lost, including those in flight. */
  rebind(now: Millis, node: SimNode, to: Move): void {
    this.#reach(now)
    this.#move(this.#state(node), to)
  }

  /** The counters of all links together. */
  get tally(): LinkTally {
    const total = new LinkTally()
    for (const node of this.#nodes) for (const link of node.links) if (link !== undefined) total.add(link.tally)
    return total
  }

  /** How many datagrams are in flight. */
  get flying(): number {
    return this.#nodes.reduce((count, { flights }) => count + flights.count, 0)
  }

  #state(node: SimNode): NodeState {
    const state = this.#nodes[node.index]
    assert(state === node, 'the node is of this network')
    return state
  }

  /** Advances time, and moves the nodes that are due. */
  #reach(now: Millis): void {
    assert(now >= this.#now, 'time goes forward')
    if (now === this.#now) return
    this.#now = now
    if (now < this.#movesAt) return
    for (const node of this.#nodes) while (node.movesAt <= now) this.#move(node, node.takeMove())
    this.#findNextMove()
  }

  #findNextMove(): void {
    this.#movesAt = this.#nodes.reduce((earliest, { movesAt }) => Math.min(earliest, movesAt), Infinity)
  }

  #move(node: NodeState, to: Move): void {
    const address = typeof to === 'object' ? to.address : this.#freshAddress(node, to)
    if (address !== node.address) this.#checkAddress(address)
    this.moves++
    this.#owners.delete(node.address)
    node.address = address
    this.#owners.set(address, node)
  }

  #freshAddress(node: NodeState, what: 'port' | 'address'): string {
    do node.moveCount += what === 'port' ? 1 : PORT_COUNT
    while (this.#owners.has(addressOf(node.index, node.moveCount)))
    return addressOf(node.index, node.moveCount)
  }

  #checkAddress(address: string): void {
    const owner = this.#owners.get(address)
    if (originKey(address) === undefined)
      throw new ConfigError(
        'address',
        `not an address (expected ip:port, got ${JSON.stringify(address)})`,
        'give ip:port.',
      )
    if (owner !== undefined)
      throw new ConfigError(
        'address',
        `${address} belongs to ${owner.name}`,
        'give another address, or move that node first.',
      )
  }
}

/** Every node has its own set of hosts, so that a node never moves to another node's address. */
function addressOf(index: number, moveCount: number): string {
  const host = (index + Math.floor(moveCount / PORT_COUNT) * (NODES_MAX + 1)) % HOSTS
  return `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}:${PORT_FIRST + (moveCount % PORT_COUNT)}`
}

function keyOf(from: number, to: number): number {
  return (from * (NODES_MAX + 1) + to) * CONCERNS
}
