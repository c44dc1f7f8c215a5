/**
 * A lockstep match in simulated time with several relays, of which some crash or are asked to end: clients look for the
 * next one as `LockstepLine` does.
 */

import {
  createRelayHost, LockstepClient, type AnyOrder, type LockstepGame, type RelayMatch, type RelayRoomType,
  type TickEvent,
} from 'tickwire/lockstep'
import {
  DATAGRAM_BYTES_MAX, HANDOVER_MS_MAX, HANDOVER_SILENT_MS,
} from '../../packages/tickwire/src/core/base/limits.ts'
import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import type { SealSigner } from '../../packages/tickwire/src/core/order/tick-sealer.ts'
import type { RoomHost } from '../../packages/tickwire/src/core/rooms/room-host.ts'
import { MemoryLink, type Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { SimClock, type SimActor } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

export interface HandoverOptions {
  readonly game: LockstepGame
  readonly seed: number
  readonly clients: number
  /** Default: 2. */
  readonly relays?: number
  readonly weather?: (client: number) => Weather
  readonly rules?: Partial<RelayRoomType>
  /** The keys of the relays are others. Default: 0. */
  readonly keyShift?: number
  readonly provider?: CryptoProvider
  readonly record?: (relay: number) => RelayRoomType['record']
}

/** How long a client tries the relay that it lost, and then each of the next ones, in ms. */
const OWN_MS = 700
const CONNECT_MS = 1000

export class RelayNode {
  readonly host: RoomHost<RelayMatch>
  readonly key: Uint8Array
  isDown = false
  /** When the newest tick was closed. Indexed by tick. */
  readonly closedAt: number[] = []
  nextAt = 0

  constructor(
    { game, seed, rules = {}, relays = 2, keyShift = 0, provider, record }: HandoverOptions,
    number: number, keys: readonly Uint8Array[], isRestarted = false,
  ) {
    const crypto = provider ?? new StubCrypto()
    const identity = new Uint8Array(32).fill(number + 1 + keyShift)
    this.key = crypto.importSigning(identity).publicKey
    const list = Array.from({ length: relays }, (_, each) => ({ url: `relay:${each}`, key: keys[each] ?? this.key }))
    const own = record?.(number)
    this.host = createRelayHost({
      lockstep: {
        game, capacity: game.players[1], spectators: 4, resumeMs: 60_000, emptyMs: Infinity,
        ...rules, ...(own && { record: own }),
      },
    }, {
      entropy: new Dice(seed ^ (0x5e7 + number)), security: { provider: crypto, identity },
      relays: list,
    })
    if (number === 0 && !isRestarted) this.host.create('lockstep', { seed })
  }

  /** The match, wherever it is played. */
  get match(): RelayMatch | undefined {
    return this.host.rooms[0]
  }
}

/** A client that goes to the next relay when its own is lost. */
export class HandoverClient {
  readonly client: LockstepClient
  readonly links: MemoryLink[]
  /** Which relay the client is at, and where it is connecting to. */
  relay = 0
  target = 0
  /** Indexed by tick: the hash after it, and when it was executed. */
  readonly hashes: string[] = []
  readonly executedAt: number[] = []
  readonly events: TickEvent[] = []
  /** Ticks after which the match went on, and when. */
  readonly continued: { readonly tick: number; readonly at: number }[] = []
  /** When the relay was noticed to be lost. */
  lostAt = Infinity
  /** The client does nothing. */
  isGone = false
  /** Until then it does nothing. */
  frozenUntil = 0
  /** Changes what the client says that it holds. */
  onClaim: () => void = () => {}
  closedBy = ''
  /** The relay has ended, and its match goes on elsewhere. */
  #hasMoved = false
  #queue: (() => void)[] = []
  #tryUntil = Infinity
  #isOpen = false
  #isBusy = false
  #retryAt = Infinity
  #now = 0
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt = 0

  constructor(party: HandoverParty, number: number, weather: Weather, signer: SealSigner, isObserver = false) {
    const { game, seed, provider } = party.options
    this.links = party.relays.map((_, relay) => new MemoryLink(seed + 7919 * number + relay, weather))
    this.client = new LockstepClient(game, {
      entropy: new Dice((seed + 31 * number) ^ 0xc11), security: { provider: provider ?? new StubCrypto() }, signer,
      runner: {
        onTick: (tick, low, high) => {
          this.hashes[tick] = `${high.toString(16)}.${low.toString(16)}`
          this.executedAt[tick] = this.#now
        },
        onEvent: (event) => { this.events.push(event) },
      },
      onOpened: () => {
        this.#isOpen = true
        this.relay = this.target
        this.#queue = []
        this.#tryUntil = Infinity
        this.lostAt = Infinity
      },
      onContinued: (tick) => {
        this.continued.push({ tick, at: this.#now })
        // Later ones that were stepped are not in the match.
        this.hashes.length = Math.min(this.hashes.length, tick + 1)
      },
      onClosed: ({ by, code }) => this.#handleClosed(by, code),
    })
    this.client.connect(0, 'relay:0', isObserver ? { role: 'spectator' } : undefined)
  }

  order<K extends AnyOrder>(now: number, kind: K, values: object): string {
    const result = this.client.runner?.order(now, kind, values as never) ?? 'closed'
    this.#nextAt = now
    return result
  }

  nextAt(): number {
    if (this.isGone) return Infinity
    return Math.max(this.frozenUntil, Math.min(this.#nextAt, ...this.links.map((link) => link.nextAt(1))))
  }

  wake(now: number): void {
    if (this.isGone) return
    this.#now = now
    this.links.forEach((link, relay) => {
      for (let length = link.poll(now, 1, this.#incoming); length >= 0; length = link.poll(now, 1, this.#incoming))
        if (relay === this.target) this.client.handleDatagram(now, `relay:${relay}`, this.#incoming, length)
    })
    this.client.tick(now)
    this.#watch(now)
    const next = this.client.drain(now, {
      send: (to, bytes, length) => {
        const relay = Number(to.split(':')[1])
        if (relay === this.target) this.links[relay]!.send(now, 1, bytes, length)
      },
    })
    this.#nextAt = Math.max(now + 0.05, Math.min(next, now + 50))
  }

  #watch(now: number): void {
    const isLost = this.#isOpen && this.client.nextRelays.length > 0 && this.client.silentMs > HANDOVER_SILENT_MS
    if (isLost) this.client.handlePathClosed(`relay:${this.target}`)
    if (now >= this.#tryUntil) {
      if (this.client.isGathering && now < this.#tryUntil + HANDOVER_MS_MAX) return
      this.#tryUntil = Infinity
      this.client.handlePathClosed(`relay:${this.target}`)
    }
    if (now >= this.#retryAt) {
      this.#retryAt = Infinity
      this.#tryNext()
    }
  }

  #handleClosed(by: string, code: string): void {
    this.closedBy = code
    if (this.#isOpen) this.#hasMoved = code === 'moved' && this.client.nextRelays.length > 0
    if (this.#isOpen && by !== 'network' && !this.#hasMoved) this.isGone = true
    if (this.#isOpen && this.lostAt === Infinity) this.lostAt = this.#now
    const isFirst = this.#isOpen && this.#hasMoved
    this.#isOpen = false
    this.#retryAt = this.#now + (this.#queue.length === 0 && !isFirst ? 250 : 0)
  }

  #tryNext(): void {
    if (this.#isBusy) return
    if (this.#queue.length === 0) this.#plan()
    this.#queue.shift()?.()
  }

  /** The relay that was lost, then the next ones. */
  #plan(): void {
    const { client } = this
    const ticket = client.seat?.ticket
    const own = this.relay
    const claims = client.nextRelays.map(({ url, key }) => () => {
      this.target = Number(url.split(':')[1])
      this.#tryUntil = this.#now + CONNECT_MS
      this.onClaim()
      client.claim(this.#now, url, key)
    })
    const resume = (): void => {
      this.target = own
      this.#tryUntil = this.#now + (claims.length > 0 ? OWN_MS : CONNECT_MS)
      if (ticket !== undefined) client.connect(this.#now, `relay:${own}`, { resume: ticket })
    }
    this.#queue = this.#hasMoved ? claims : [resume, ...claims]
  }
}

/** Relays, and clients at the ends of their cables. */
export class HandoverParty implements SimActor {
  /** Called with every match that is made, for tests. */
  static onMade: (party: HandoverParty) => void = () => {}
  readonly clock = new SimClock()
  readonly options: HandoverOptions
  readonly relays: RelayNode[] = []
  readonly clients: HandoverClient[] = []
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)

  constructor(options: HandoverOptions) {
    this.options = options
    const { relays = 2, clients, provider, keyShift = 0 } = options
    const crypto = provider ?? new StubCrypto()
    const keys = Array.from({ length: relays }, (_, each) =>
      crypto.importSigning(new Uint8Array(32).fill(each + 1 + keyShift)).publicKey)
    for (let relay = 0; relay < relays; relay++) this.relays.push(new RelayNode(options, relay, keys))
    this.clock.add(this)
    for (let client = 0; client < clients; client++) this.add()
    HandoverParty.onMade(this)
  }

  add(isObserver = false): HandoverClient {
    const { weather, provider } = this.options
    const number = this.clients.length
    const signer = (provider ?? new StubCrypto()).importSigning(new Uint8Array(32).fill(100 + number))
    const client = new HandoverClient(this, number, weather?.(number) ?? {}, signer, isObserver)
    this.clients.push(client)
    this.clock.add(client)
    return client
  }

  /** Nothing more comes from a relay. */
  crash(relay: number): void {
    this.relays[relay]!.isDown = true
  }

  /** The process of a relay, started again: it knows no match. */
  restarted(relay: number): RelayNode {
    return new RelayNode(this.options, relay, this.relays.map(({ key }) => key), true)
  }

  /** A relay is asked to end, as SIGTERM does. */
  stop(relay: number): void {
    const { host, match } = this.relays[relay]!
    host.beginDrain(0)
    match?.exit.begin(this.clock.now)
  }

  run(ms: number): void {
    this.clock.drive(ms)
  }

  runUntil(isDone: () => boolean, msMax: number): boolean {
    return this.clock.driveUntil(isDone, msMax)
  }

  nextAt(): number {
    let earliest = Infinity
    this.relays.forEach((node, relay) => {
      if (node.isDown) return
      earliest = Math.min(earliest, node.nextAt)
      for (const { links } of this.clients) earliest = Math.min(earliest, links[relay]!.nextAt(0))
    })
    return earliest
  }

  wake(now: number): void {
    this.relays.forEach((node, relay) => { if (!node.isDown) this.#wake(now, node, relay) })
  }

  #wake(now: number, node: RelayNode, relay: number): void {
    this.clients.forEach(({ links }, index) => {
      const link = links[relay]!
      for (let length = link.poll(now, 0, this.#incoming); length >= 0; length = link.poll(now, 0, this.#incoming))
        node.host.handleDatagram(now, `${index}`, this.#incoming, length)
    })
    node.host.tick(now)
    const newest = node.match?.relay.log.newest ?? 0
    for (let tick = Math.max(1, node.closedAt.length); tick <= newest; tick++) node.closedAt[tick] = now
    node.nextAt = node.host.drain(now, {
      send: (to, bytes, length) => { this.clients[Number(to)]?.links[relay]!.send(now, 0, bytes, length) },
    })
  }
}
