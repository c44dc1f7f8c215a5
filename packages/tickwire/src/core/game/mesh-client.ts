/**
 * One peer of a mesh: an endpoint with a connection to every other peer, and the game.
 *
 * Of two peers the one with the higher number connects to the other. It owns no socket and no clock, and is driven like
 * every host: receive, tick, send.
 */

import type { Entropy } from '../base/entropy.ts'
import { MESH_PLAYERS_MAX } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import type { Verdict } from '../endpoint/endpoint-config.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import { LockstepRunner, type RunnerOptions } from '../lockstep/lockstep-runner.ts'
import { MeshFeed } from '../lockstep/mesh-feed.ts'
import { MeshLink } from '../lockstep/mesh-link.ts'
import type { MeshTimes } from '../lockstep/mesh-watch.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import { LOCKSTEP_KIND } from '../order/lockstep-kinds.ts'
import { decodeWelcome, encodeWelcome } from '../rooms/welcome.ts'

/** How a peer of a mesh is made. */
export interface MeshClientOptions extends Partial<MeshTimes> {
  /** The local player: the place of its address in `peers`, from 1 on. */
  readonly player: PeerId
  /** The addresses of all players, in the order of their numbers. The local one is not used. */
  readonly peers: readonly string[]
  /** Shared by the players: a peer with another one is refused. At most 32 bytes. Default: none. */
  readonly secret?: Uint8Array
  /** The seed of the match, 32 bits. That of player 1 counts. Default: random. */
  readonly seed?: number
  /** The source of random bytes for keys. */
  readonly entropy: Entropy
  /**
   * The public identity keys of the other players, 32 bytes each, indexed by player. A connection to a player with
   * another key fails. Default: none is known.
   */
  readonly identities?: readonly (Uint8Array | undefined)[]
  /** The cryptography. Default: encrypted. */
  readonly security?: EndpointSecurity
  /** Options of the runner. Default: none. */
  readonly runner?: RunnerOptions
  /** All peers are connected: the match begins. */
  readonly onOpened?: () => void
}

/** An address that is not reached is tried again after this time. */
const DIAL_MS = 500
const SECRET_AT = 3
const MARK = 0x4d

/** One peer of a mesh, driven by a loop of your own: receive, tick, send. */
export class MeshClient<O extends readonly AnyOrder[] = readonly AnyOrder[]> {
  /** The game that it plays. */
  readonly game: LockstepGame<O>
  /** The endpoint with the connections to all other peers. */
  readonly endpoint: Endpoint
  /** The ticks that the peers make. */
  readonly feed: MeshFeed
  /** Steps the game. Undefined until the seed is known. */
  runner: LockstepRunner<O> | undefined = undefined
  /** Why another peer has refused this one. Undefined: none has. */
  refused: CloseReason | undefined = undefined
  readonly #options: MeshClientOptions
  readonly #links = new Map<PeerId, MeshLink>()
  readonly #connections = new Map<PeerId, Connection>()
  readonly #opened = new Set<PeerId>()
  readonly #dialAt = new Map<PeerId, Millis>()
  #dialing: PeerId = 0
  #isOpen = false
  #isClosed = false

  constructor(game: LockstepGame<O>, options: MeshClientOptions) {
    const { player, peers, entropy, security, seed, runner: _, onOpened: __, secret: ___, identities: ____, ...times }
      = options
    this.game = game
    this.#options = options
    this.feed = new MeshFeed({
      ...times, tickRate: game.tickRate, players: peers.length, player, seed: seed ?? drawSeed(entropy),
    })
    this.feed.onWake = () => { for (const link of this.#links.values()) link.wake() }
    this.feed.rttMs = () => Math.max(0, ...this.endpoint.connections.map(({ rtt }) => rtt.smoothedMs))
    this.endpoint = createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy,
      // A peer that reconnects before its old connection has timed out needs a second one.
      maxConnections: 2 * MESH_PLAYERS_MAX,
      ...(security && { security }),
      admit: ({ user }) => this.#admit(user),
      assemble: (connection) => this.#assemble(connection),
    })
    if (player === 1) this.#start()
  }

  /** The local player. */
  get player(): PeerId {
    return this.feed.player
  }

  /** Whether all peers were connected once. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** A datagram has arrived from `from`. `bytes` may be decrypted in place. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.endpoint.handleDatagram(now, from, bytes, length)
  }

  /** Connects to peers, and steps the ticks that are due. Returns how many. */
  tick(now: Millis): number {
    if (this.#isClosed) return 0
    this.#dial(now)
    const count = this.runner?.update(now) ?? 0
    // The others need not wait for a peer that has given up.
    if (this.feed.ended !== undefined && this.feed.ended !== 'left') this.close(now)
    return count
  }

  /** Sends what is due. Returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    const wakeAt = drain(this.endpoint, now, port, (event) => this.#handleEvent(now, event))
    if (this.#isClosed) return wakeAt
    const dialAt = Math.min(Infinity, ...this.#dialAt.values())
    return Math.min(wakeAt, this.runner?.nextAt() ?? Infinity, dialAt)
  }

  /** Leaves the match with the next batch. Keep driving until `feed.isAcknowledged`, then `close`. */
  leave(now: Millis): void {
    this.feed.leave(now)
  }

  /** Ends all connections. Keep draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.#isClosed = true
    this.endpoint.close(now, 'left')
  }

  #start(): void {
    this.runner ??= new LockstepRunner(this.game, this.feed, this.#options.runner)
  }

  #dial(now: Millis): void {
    for (const { player, verdict, goneFrom } of this.feed.peers) {
      const isOut = verdict !== undefined || goneFrom !== Infinity
      if (isOut) this.#drop(now, player)
      if (isOut || player > this.player || this.#connections.has(player)) continue
      if (now < (this.#dialAt.get(player) ?? -Infinity)) continue
      const { peers, secret = new Uint8Array(0), identities = [] } = this.#options
      const server = identities[player]
      this.#dialAt.delete(player)
      this.#dialing = player
      const user = Uint8Array.of(MARK, this.player, peers.length, ...secret)
      this.#connections.set(player, this.endpoint.connect(now, peers[player - 1], user, server && { server }))
    }
  }

  /** A removed player has no connection. */
  #drop(now: Millis, player: PeerId): void {
    this.#connections.get(player)?.close(now, 'left')
    this.#connections.delete(player)
    this.#links.delete(player)
  }

  #admit(user: Uint8Array): Verdict {
    const { peers, secret = new Uint8Array(0) } = this.#options
    const [mark, player = 0, count] = user
    const isEqual =
      user.length === SECRET_AT + secret.length && secret.every((byte, at) => byte === user[SECRET_AT + at])
    const peer = this.feed.peerOf(player)
    if (mark !== MARK || count !== peers.length || !isEqual || player <= this.player || peer === undefined)
      return 'refused'
    if (peer.verdict !== undefined || peer.goneFrom !== Infinity) return 'refused'
    return encodeWelcome({ peer: this.player, seed: this.feed.seed })
  }

  #assemble(connection: Connection): void {
    const player = this.#dialing > 0 ? this.#dialing : connection.user[1]
    this.#dialing = 0
    const peer = this.feed.peerOf(player)
    if (peer === undefined) return
    const link = new MeshLink(this.feed, peer)
    link.wayMs = () => connection.rtt.samples > 0 ? connection.rtt.smoothedMs / 2 : 0
    connection.addSource(LOCKSTEP_KIND.mesh, link)
    connection.addSink(LOCKSTEP_KIND.mesh, link)
    this.#links.set(player, link)
    this.#connections.set(player, connection)
  }

  #handleEvent(now: Millis, event: EndpointEvent): void {
    const { connection } = event
    const player = [...this.#connections].find(([, each]) => each === connection)?.[0]
    if (player === undefined) return
    if (event.type === 'closed') {
      this.#connections.delete(player)
      this.#links.delete(player)
      this.#opened.delete(player)
      this.#dialAt.set(player, now + DIAL_MS)
      const peer = this.feed.peerOf(player)
      if (peer !== undefined && event.reason.by === 'peer') peer.frameAt = -Infinity
      if (event.reason.by === 'protocol') this.refused ??= event.reason
      return
    }
    // The seed of the match is that of player 1, which accepts the connections of all others.
    if (player === 1 && this.runner === undefined) {
      this.feed.seed = decodeWelcome(event.welcome).seed
      this.#start()
    }
    this.#opened.add(player)
    if (this.#isOpen || this.#opened.size < this.feed.peers.length) return
    this.#isOpen = true
    this.#options.onOpened?.()
  }
}

function drawSeed(entropy: Entropy): number {
  const bytes = new Uint8Array(4)
  entropy.fill(bytes)
  // 0 means that the players agree on a seed in the first ticks, which a mesh does not do.
  return Math.max(1, bytes.reduce((value, byte) => value * 256 + byte, 0))
}
