/**
 * A simulated internet with routers that translate addresses (NAT, RFC 4787), from one seed.
 *
 * ```ts
 * const net = new SimNat({ seed: 7 })
 * const home = net.addRouter('198.51.100.1', { mapping: 'port', filtering: 'port' })
 * const alice = net.addHost('10.0.0.2:4000', home)
 * net.send(now, alice, '203.0.113.10:7777', bytes, bytes.length)
 * while (net.poll(now, alice, arrival)) …
 * ```
 *
 * A router gives an inner address an outer port when it sends. `mapping` says when it gives another: never, for each
 * outer address, or for each outer address and port (a "symmetric" router). `filtering` says which datagrams come in by
 * that port: all, those from addresses that were sent to, or those from addresses and ports that were sent to.
 *
 * Invariant: the same seed and calls give the same arrivals.
 */

import { assert } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import { Dice } from './sim-entropy.ts'

/** What a router distinguishes outer peers by. */
export type NatSight = 'none' | 'address' | 'port'

/** How a router behaves. */
export interface NatKind {
  /** When an inner address gets another outer port. Default `none`: never. */
  readonly mapping?: NatSight
  /** Which outer peers may send to that port. Default `port`. */
  readonly filtering?: NatSight
  /** Whether inner hosts reach each other by their outer addresses. Default false. */
  readonly hasHairpin?: boolean
  /** Ms after which an unused port is forgotten. Default 120,000. */
  readonly lifeMs?: number
  /** Whether the outer port is the inner one, if it is free. Default false. */
  readonly keepsPorts?: boolean
}

/** Options of a simulated internet. */
export interface SimNatOptions {
  /** Default 1. */
  readonly seed?: number
  /** One way, in ms, or a function of the two hosts. Default 25. */
  readonly latencyMs?: number | ((from: SimHost, to: SimHost) => number)
  /** Up to this much is added to each datagram, in ms. Default 0. */
  readonly jitterMs?: number
  /** Share of datagrams that are lost. Default 0. */
  readonly loss?: number
}

interface Mapping {
  readonly inner: SimHost
  readonly port: number
  readonly sight: string
  /** Outer addresses that were sent to, `ip:port`, and when the port was last used. */
  readonly contacted: Set<string>
  usedAt: Millis
}

/** A host. Made by `addHost`, changed by `move`. */
export interface SimHost {
  /** Its own address, `ip:port`: behind a router a private one. */
  address: string
  router: SimRouter | undefined
  /** A host that is dead neither sends nor receives. */
  isDead: boolean
}

/** A datagram that arrived. */
export interface NatArrival {
  from: string
  readonly bytes: Uint8Array
  length: number
}

interface Flight {
  readonly at: Millis
  readonly order: number
  readonly host: SimHost
  readonly from: string
  readonly bytes: Uint8Array
}

/** Makes an empty arrival, to be filled by `poll`. */
export function createNatArrival(): NatArrival {
  return { from: '', bytes: new Uint8Array(DATAGRAM_BYTES_MAX), length: 0 }
}

/** A router with one outer address. */
export class SimRouter {
  readonly address: string
  readonly kind: Required<NatKind>
  #mappings: Map<number, Mapping> = new Map()
  #dice: Dice

  constructor(address: string, kind: NatKind, dice: Dice) {
    this.address = address
    this.kind = { mapping: 'none', filtering: 'port', hasHairpin: false, lifeMs: 120_000, keepsPorts: false, ...kind }
    this.#dice = dice
  }

  /** The outer address that `host` sends from to `to`. */
  outgoing(now: Millis, host: SimHost, to: string): string {
    const sight = seenAs(to, this.kind.mapping)
    let mapping = [...this.#mappings.values()].find(
      (one) => one.inner === host && one.sight === sight && now - one.usedAt < this.kind.lifeMs,
    )
    if (mapping === undefined) {
      mapping = { inner: host, port: this.#freePort(host), sight, contacted: new Set(), usedAt: now }
      this.#mappings.set(mapping.port, mapping)
    }
    mapping.usedAt = now
    mapping.contacted.add(to)
    return `${this.address}:${mapping.port}`
  }

  /** The inner host that a datagram from `from` to an outer port reaches; undefined when it is filtered. */
  incoming(now: Millis, from: string, port: number): SimHost | undefined {
    const mapping = this.#mappings.get(port)
    if (mapping === undefined || now - mapping.usedAt >= this.kind.lifeMs) return undefined
    const sight = seenAs(from, this.kind.filtering)
    const isWelcome = [...mapping.contacted].some((to) => seenAs(to, this.kind.filtering) === sight)
    return isWelcome ? mapping.inner : undefined
  }

  /** Forgets every port, as after a restart, or those of one host that has left. */
  forget(host?: SimHost): void {
    for (const [port, { inner }] of this.#mappings)
      if (host === undefined || inner === host) this.#mappings.delete(port)
  }

  #freePort(host: SimHost): number {
    const own = Number(host.address.slice(host.address.lastIndexOf(':') + 1))
    if (this.kind.keepsPorts && !this.#mappings.has(own)) return own
    for (;;) {
      const port = 1024 + (this.#dice.word() % 64_512)
      if (!this.#mappings.has(port)) return port
    }
  }
}

/** The internet. */
export class SimNat {
  readonly #options: Required<SimNatOptions>
  #dice: Dice
  #routers: Map<string, SimRouter> = new Map()
  #public: Map<string, SimHost> = new Map()
  #hosts: SimHost[] = []
  #flights: Flight[] = []
  #order: number = 0

  constructor(options: SimNatOptions = {}) {
    this.#options = { seed: 1, latencyMs: 25, jitterMs: 0, loss: 0, ...options }
    this.#dice = new Dice(this.#options.seed)
  }

  /** Adds a router with a public IPv4 address. */
  addRouter(address: string, kind: NatKind = {}): SimRouter {
    const router = new SimRouter(address, kind, this.#dice)
    this.#routers.set(address, router)
    return router
  }

  /** Adds a host: with a public address, or behind a router with a private one. */
  addHost(address: string, router?: SimRouter): SimHost {
    const host: SimHost = { address, router, isDead: false }
    this.#hosts.push(host)
    if (router === undefined) this.#public.set(address, host)
    return host
  }

  /** Takes a host to another network. What is on its way to the old one is lost. */
  move(host: SimHost, address: string, router: SimRouter): void {
    host.router?.forget(host)
    this.#public.delete(host.address)
    this.#flights = this.#flights.filter((flight) => flight.host !== host)
    host.address = address
    host.router = router
  }

  /** Sends a datagram. */
  send(now: Millis, from: SimHost, to: string, bytes: Uint8Array, length: number): void {
    assert(length <= DATAGRAM_BYTES_MAX, 'a datagram fits the longest there are')
    const { latencyMs, jitterMs, loss } = this.#options
    const isLost = this.#dice.chance(loss)
    const addedMs = jitterMs * this.#dice.fraction()
    const near = this.#hosts.find((host) => host.router === from.router && host.address === to)
    const host = near ?? this.#cross(now, from, to)
    if (isLost || from.isDead || host === undefined) return
    const at = now + addedMs + (typeof latencyMs === 'number' ? latencyMs : latencyMs(from, host))
    const source = near === undefined && from.router !== undefined ? from.router.outgoing(now, from, to) : from.address
    const flight = { at: near === undefined ? at : now + 1, order: this.#order++, host, from: source }
    this.#flights.push({ ...flight, bytes: bytes.slice(0, length) })
  }

  /** Gives the next datagram that has reached `host` by now. False when there is none. */
  poll(now: Millis, host: SimHost, out: NatArrival): boolean {
    let next: Flight | undefined
    for (const flight of this.#flights) {
      if (flight.host !== host || flight.at > now) continue
      const isSooner = next === undefined || flight.at < next.at || (flight.at === next.at && flight.order < next.order)
      if (isSooner) next = flight
    }
    if (next === undefined) return false
    const taken = next
    this.#flights = this.#flights.filter((flight) => flight !== taken)
    if (host.isDead) return this.poll(now, host, out)
    out.from = taken.from
    out.bytes.set(taken.bytes)
    out.length = taken.bytes.length
    return true
  }

  /** When the next datagram reaches `host`; Infinity when none is in flight. */
  nextAt(host: SimHost): Millis {
    let earliest = Infinity
    for (const flight of this.#flights) if (flight.host === host) earliest = Math.min(earliest, flight.at)
    return earliest
  }

  /** The host that a datagram reaches over the internet; undefined when no host has that address. */
  #cross(now: Millis, from: SimHost, to: string): SimHost | undefined {
    const source = from.router === undefined ? from.address : from.router.outgoing(now, from, to)
    const known = this.#public.get(to)
    if (known !== undefined) return known
    const colon = to.lastIndexOf(':')
    const router = this.#routers.get(to.slice(0, colon))
    if (router === undefined || (router === from.router && !router.kind.hasHairpin)) return undefined
    return router.incoming(now, source, Number(to.slice(colon + 1)))
  }
}

/** As much of an outer address as a router distinguishes. */
function seenAs(address: string, sight: NatSight): string {
  if (sight === 'none') return ''
  return sight === 'port' ? address : address.slice(0, address.lastIndexOf(':'))
}
