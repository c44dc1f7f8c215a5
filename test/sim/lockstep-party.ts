/**
 * A lockstep match in simulated time: a relay, clients at the ends of their cables, and a record of everything that the
 * invariants need.
 */

import {
  createRelayHost, LockstepClient, type AnyOrder, type DesyncFinding, type DesyncReport, type LockstepClientOptions,
  type LockstepGame,
  type RelayMatch, type RelayNotice,
  type RelayRoomType, type RunnerOptions, type TickEvent,
} from 'tickwire/lockstep'
import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { DATAGRAM_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import type { CloseReason } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { JoinRequest } from '../../packages/tickwire/src/core/rooms/join-body.ts'
import type { RoomHost } from '../../packages/tickwire/src/core/rooms/room-host.ts'
import { MemoryLink, type Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { SimClock, type SimActor } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { checkTimes } from './clock-jumps.ts'

/** A relay that stood still closes its ticks as planned again after so long. */
const SETTLED_MS = 300

export interface PartyOptions {
  readonly game: LockstepGame
  readonly seed: number
  readonly clients: number
  readonly weather?: (client: number) => Weather
  readonly relay?: RelayRoomType['relay']
  readonly observerDelayTicks?: number
  /** The players agree on the seed. */
  readonly isAgreed?: boolean
  readonly lagging?: 'report' | 'drop'
  readonly runner?: RunnerOptions
  /** The game of one client, if it is not the game of all. */
  readonly gameOf?: (client: number) => LockstepGame
  readonly resumeMs?: number
  readonly referee?: RelayRoomType['referee']
  readonly record?: RelayRoomType['record']
  /** Default: a stub, which is fast, and whose digests are not SHA-256. */
  readonly provider?: CryptoProvider
  /** The key of a client's seals. */
  readonly signer?: (client: number) => LockstepClientOptions['signer']
}

/** One client at the end of its cable. Its clock has an offset and a drift. */
export class PartyClient implements SimActor {
  readonly client: LockstepClient
  link: MemoryLink
  /** Indexed by tick: the hash after it, and when it was executed. */
  readonly hashes: string[] = []
  readonly executedAt: number[] = []
  /** Indexed by tick: how long ticks were held when it was executed, so that they are even. */
  readonly heldMs: number[] = []
  readonly events: [string, number, number][] = []
  readonly findings: DesyncFinding[] = []
  readonly reports: DesyncReport[] = []
  offsetMs = 0
  drift = 1
  /** Until then the client does nothing: its machine stands still. */
  frozenUntil = 0
  /** Until then datagrams are processed but ticks are not stepped. */
  stuckUntil = 0
  /** What is sent before this time arrives then, in its order: a TCP line that waits for a lost segment. */
  heldUntil = 0
  /** How long one tick takes on this machine, in ms. */
  stepMs = 0
  /** How often a router has given the client another address. */
  rebinds = 0
  isClosed = false
  /** Why the last connection ended. */
  closedBy: CloseReason['code'] | undefined = undefined
  /** Changes what the client sends. */
  onSend: (bytes: Uint8Array, length: number) => void = () => {}
  /** Bytes and datagrams sent, with the headers of IP and UDP. */
  sentBytes = 0
  sentDatagrams = 0
  largestDatagram = 0
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt = 0
  #now = 0
  #busyUntil = 0

  constructor(
    game: LockstepGame, seed: number, weather: Weather, runner: RunnerOptions, security: { provider: CryptoProvider },
    signer?: LockstepClientOptions['signer'],
  ) {
    this.link = new MemoryLink(seed, weather)
    this.client = new LockstepClient(game, {
      entropy: new Dice(seed ^ 0xc11), security, ...(signer && { signer }),
      runner: {
        ...runner,
        onTick: (tick, low, high) => {
          this.hashes[tick] = `${high.toString(16)}.${low.toString(16)}`
          this.executedAt[tick] = this.#now
          this.heldMs[tick] = this.client.feed.diagnostics().holdMs
        },
        onEvent: ({ name, player }: TickEvent, tick) => { this.events.push([name, player, tick]) },
      },
      onClosed: ({ code }) => {
        this.isClosed = true
        this.closedBy = code
      },
      machine: 'simulated',
      onFinding: (finding) => { this.findings.push(finding) },
      onReport: (json) => { this.reports.push(JSON.parse(json) as DesyncReport) },
    })
  }

  /** The time on this client's own clock. */
  localTime(now: number): number {
    return this.offsetMs + now * this.drift
  }

  /** The clock of this machine jumps ahead. */
  jump(now: number, ms: number): void {
    this.offsetMs += ms
    this.#nextAt = now
  }

  connect(now: number, join?: JoinRequest): void {
    this.isClosed = false
    // A new seat begins with the first tick.
    if (join === undefined) this.events.length = 0
    this.client.connect(this.localTime(now), 'relay', join)
    this.#nextAt = now
  }

  /** Gives an order now. */
  order<K extends AnyOrder>(now: number, kind: K, values: object): string {
    const result = this.client.runner?.order(this.localTime(now), kind, values as never) ?? 'closed'
    this.#nextAt = now
    return result
  }

  /** Sends a datagram on the cable, from the relay (0) or the client (1). */
  transmit(now: number, side: 0 | 1, bytes: Uint8Array, length: number): void {
    const { weather } = this.link
    if (now < this.heldUntil) this.link.weather = { latencyMs: this.heldUntil - now }
    this.link.send(now, side, bytes, length)
    this.link.weather = weather
  }

  nextAt(): number {
    return Math.max(Math.min(this.#nextAt, this.link.nextAt(1)), this.frozenUntil)
  }

  wake(now: number): void {
    this.#now = now
    const poll = (): number => this.link.poll(now, 1, this.#incoming)
    for (let length = poll(); length >= 0; length = poll()) {
      this.client.handleDatagram(this.localTime(now), 'relay', this.#incoming, length)
      this.#pump(now)
    }
    this.#pump(now)
  }

  #pump(now: number): void {
    const local = this.localTime(now)
    if (now >= Math.max(this.stuckUntil, this.#busyUntil))
      this.#busyUntil = now + this.stepMs * this.client.tick(local)
    const next = this.client.drain(local, {
      send: (_to, bytes, length) => {
        this.onSend(bytes, length)
        this.sentBytes += length + 28
        this.sentDatagrams++
        this.largestDatagram = Math.max(this.largestDatagram, length)
        this.transmit(now, 1, bytes, length)
      },
    })
    const isBusy = now < Math.max(this.stuckUntil, this.#busyUntil)
    this.#nextAt = Math.max((next - this.offsetMs) / this.drift, isBusy ? now + 5 : now)
    if (this.#nextAt <= now) this.#nextAt = now + 0.05
  }
}

/** The relay at the other end of all cables. */
export class LockstepParty implements SimActor {
  /** Called with every match that is made, for tests. */
  static onMade: (party: LockstepParty) => void = () => {}
  readonly clock = new SimClock()
  readonly host: RoomHost<RelayMatch>
  readonly clients: PartyClient[]
  readonly notices: RelayNotice[] = []
  /** Reports of desyncs, and when each was made. */
  readonly reports: DesyncReport[] = []
  readonly reportedAt: number[] = []
  sentBytes = 0
  sentDatagrams = 0
  largestDatagram = 0
  /** When each tick was closed. Indexed by tick. */
  readonly closedAt: number[] = []
  /** When the relay began to stand still, and when it had run as before for a while. */
  readonly #freezes: { readonly from: number; readonly to: number }[] = []
  #frozenUntil = 0
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  readonly #options: PartyOptions
  readonly #security: { readonly provider: CryptoProvider }
  #nextAt = 0

  constructor(options: PartyOptions) {
    const { game, seed, clients, relay, observerDelayTicks, isAgreed, lagging, resumeMs = 5000 } = options
    this.#options = options
    this.#security = { provider: options.provider ?? new StubCrypto() }
    this.host = createRelayHost({
      lockstep: {
        game, capacity: game.players[1], spectators: 4, resumeMs, emptyMs: Infinity,
        ...(relay && { relay }), ...(isAgreed && { seed: 'agreed' as const }), ...(lagging && { lagging }),
        ...(observerDelayTicks !== undefined && { observerDelayTicks }),
        onNotice: (notice) => { this.notices.push(notice) },
        onDesync: (report) => {
          this.reports.push(report)
          this.reportedAt.push(this.clock.now)
        },
        ...(options.referee && { referee: options.referee }), ...(options.record && { record: options.record }),
      },
    }, { entropy: new Dice(seed ^ 0x5e7), security: this.#security })
    this.host.create('lockstep', { seed })
    this.clients = []
    this.clock.add(this)
    for (let client = 0; client < clients; client++) this.add()
    LockstepParty.onMade(this)
  }

  get match(): RelayMatch {
    return this.host.rooms[0]!
  }

  /** Adds a client and connects it. */
  add(join?: JoinRequest): PartyClient {
    const { game, gameOf, seed, weather, runner = {} } = this.#options
    const number = this.clients.length
    const own = gameOf?.(number) ?? game
    const signer = this.#options.signer?.(number)
    const client = new PartyClient(own, seed + 7919 * number, weather?.(number) ?? {}, runner, this.#security, signer)
    this.clients.push(client)
    this.clock.add(client)
    client.connect(this.clock.now, join)
    return client
  }

  run(ms: number): void {
    this.clock.drive(ms)
    checkTimes(this.clients)
  }

  runUntil(isDone: () => boolean, msMax: number): boolean {
    return this.clock.driveUntil(isDone, msMax)
  }

  /** The process of the relay stands still for a while. */
  freeze(ms: number): void {
    const { now } = this.clock
    this.#frozenUntil = now + ms
    this.#freezes.push({ from: now, to: now + ms + SETTLED_MS })
  }

  /** Whether ticks may close at an uneven time because the relay stood still. */
  wasFrozen(at: number): boolean {
    return this.#freezes.some(({ from, to }) => at >= from && at <= to)
  }

  nextAt(): number {
    const next = this.clients.reduce((earliest, { link }) => Math.min(earliest, link.nextAt(0)), this.#nextAt)
    return Math.max(next, this.#frozenUntil)
  }

  wake(now: number): void {
    this.clients.forEach(({ link, rebinds }, index) => {
      for (let length = link.poll(now, 0, this.#incoming); length >= 0; length = link.poll(now, 0, this.#incoming))
        this.host.handleDatagram(now, `${index}:${rebinds}`, this.#incoming, length)
    })
    this.host.tick(now)
    const newest = this.match?.relay.log.newest ?? 0
    for (let tick = Math.max(1, this.closedAt.length); tick <= newest; tick++) this.closedAt[tick] = now
    this.#nextAt = this.host.drain(now, {
      send: (to, bytes, length) => {
        this.sentBytes += length + 28
        this.sentDatagrams++
        this.largestDatagram = Math.max(this.largestDatagram, length)
        const [index, rebinds] = to.split(':').map(Number)
        const client = this.clients[index ?? -1]
        // The router no longer knows the old address.
        if (client?.rebinds === rebinds) client?.transmit(now, 0, bytes, length)
      },
    })
  }
}
