/** A host, a guest and two relays on a simulated internet, with real endpoints on both sides. */

import {
  type Candidate, type PathMode, announced, PacketRelay, PeerPort, RelayClient, issueRelayToken,
} from 'tickwire/nat'
import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { type SimActor, SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import {
  type NatKind, SimNat, type SimHost, type SimNatOptions, createNatArrival,
} from '../../packages/tickwire/src/testing/sim-nat.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

const RELAYS = ['203.0.113.10:7777', '203.0.113.20:7777'] as const
const SECONDS = 1_800_000_000
const KIND = 0
const SPECS = [{ promise: 'ordered', queue: SEND_QUEUES.control }] as const

/** A machine with one socket: whatever arrives is handled, then it sends what is due. */
export class Machine implements SimActor {
  readonly host: SimHost
  /** A machine that is asleep neither receives nor sends. */
  isAsleep: boolean = false
  #net: SimNat
  #at: number = 0
  #arrival = createNatArrival()
  #handle: (now: number, from: string, bytes: Uint8Array, length: number) => void
  #drain: (now: number) => number

  constructor(
    net: SimNat,
    host: SimHost,
    handle: (now: number, from: string, bytes: Uint8Array, length: number) => void,
    drainAll: (now: number) => number,
  ) {
    this.host = host
    this.#net = net
    this.#handle = handle
    this.#drain = drainAll
  }

  nextAt(): number {
    return this.host.isDead || this.isAsleep ? Infinity : Math.min(this.#at, this.#net.nextAt(this.host))
  }

  wake(now: number): void {
    while (this.#net.poll(now, this.host, this.#arrival)) {
      this.#handle(now, this.#arrival.from, this.#arrival.bytes, this.#arrival.length)
    }
    this.#at = this.#drain(now)
  }
}

/** Actions that run later: at a time, or as soon as a condition holds. */
class Post implements SimActor {
  #waiting: { readonly at: number; readonly run: () => void }[] = []
  #watched: { readonly isSo: () => boolean; readonly run: () => void }[] = []

  add(at: number, run: () => void): void {
    this.#waiting.push({ at, run })
  }

  watch(isSo: () => boolean, run: () => void): void {
    this.#watched.push({ isSo, run })
  }

  nextAt(): number {
    return this.#watched.some(({ isSo }) => isSo()) ? 0 : Math.min(...this.#waiting.map(({ at }) => at), Infinity)
  }

  wake(now: number): void {
    const due = [...this.#waiting.filter(({ at }) => at <= now), ...this.#watched.filter(({ isSo }) => isSo())]
    this.#waiting = this.#waiting.filter(({ at }) => at > now)
    this.#watched = this.#watched.filter((one) => !due.includes(one as never))
    for (const { run } of due) run()
  }
}

/** A peer: its socket, its paths, its endpoint. */
export class NatPeer {
  readonly port: PeerPort
  readonly endpoint: Endpoint
  /** Of the newest connection. */
  channels: ChannelSet = new ChannelSet(SPECS)
  readonly machine: Machine
  /** Messages of the newest connection. */
  received: number[] = []
  connections: Connection[] = []
  readonly #message = new Uint8Array(1024)
  /** Called for every connection that ends. */
  onClosed: (connection: Connection) => void = () => {}

  constructor(stage: NatStage, host: SimHost, seed: number, isHost: boolean, relays: number) {
    const send = (to: string, bytes: Uint8Array, length: number): void =>
      stage.net.send(stage.clock.now, host, to, bytes, length)
    this.port = new PeerPort(
      RELAYS.slice(0, relays).map((relay, index) =>
        new RelayClient({
          provider: stage.crypto, entropy: new Dice(seed * 10 + index), relay, token: stage.token(),
        }),
      ),
    )
    this.port.onSend = send
    this.endpoint = createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(seed), maxConnections: isHost ? 16 : 0,
      security: { provider: stage.crypto },
      assemble: (connection) => {
        this.connections.push(connection)
        this.channels = new ChannelSet(SPECS)
        this.received = []
        for (const source of this.channels.sources) connection.addSource(KIND, source)
        connection.addSink(KIND, this.channels)
      },
    })
    this.port.onDatagram = (from, bytes, length) =>
      this.endpoint.handleDatagram(stage.clock.now, from, bytes, length)
    this.machine = new Machine(
      stage.net, host,
      (now, from, bytes, length) => this.port.handleDatagram(now, from, bytes, length),
      (now) => this.#drain(now),
    )
    stage.clock.add(this.machine)
  }

  /** This peer's candidates, once its relays have answered. */
  candidates(mode: PathMode): Candidate[] {
    const found: Candidate[] = [{ kind: 'host', address: this.machine.host.address }]
    for (const { isReady, seen, relay, allocation } of this.port.relays) {
      if (seen !== '') found.push({ kind: 'seen', address: seen })
      if (isReady) found.push({ kind: 'relay', address: relay, allocation })
    }
    return announced(found, mode)
  }

  #drain(now: number): number {
    const next = drain(this.endpoint, now, this.port, (event) => {
      if (event.type === 'closed') this.onClosed(event.connection)
    })
    const out = this.#message
    while (this.channels.receive(0, out) >= 0) this.received.push(new DataView(out.buffer).getUint32(0))
    return Math.min(next, this.port.drain(now))
  }
}

/** The host, the guest, the relays and their network. */
export class NatStage {
  readonly clock: SimClock = new SimClock()
  readonly net: SimNat
  readonly crypto: StubCrypto = new StubCrypto()
  readonly relayHosts: SimHost[] = []
  readonly relayMachines: Machine[] = []
  relays: PacketRelay[] = []
  /** Watches what a relay gets and sends. `relay`: its index. */
  onRelay: (way: 'in' | 'out', address: string, bytes: Uint8Array, length: number, relay: number) => void = () => {}
  readonly host: NatPeer
  readonly guest: NatPeer
  #issuer = this.crypto.importSigning(new Uint8Array(32).fill(1))
  #tokens: number = 0
  #sent: number = 0
  #addresses: string[] = []
  readonly #post: Post = new Post()
  readonly mode: PathMode

  constructor(
    hostKind: NatKind | undefined,
    guestKind: NatKind | 'same',
    options: SimNatOptions & { mode?: PathMode; relays?: number } = {},
  ) {
    const seed = options.seed ?? 1
    const relays = options.relays ?? 2
    this.mode = options.mode ?? 'race'
    this.net = new SimNat(options)
    this.clock.add(this.#post)
    RELAYS.slice(0, relays).forEach((address, index) => this.#addRelay(address, seed + index))
    const home = hostKind && this.net.addRouter('198.51.100.1', hostKind)
    const away = guestKind === 'same' ? home : this.net.addRouter('198.51.100.2', guestKind)
    const address = home === undefined ? '198.51.100.3:4000' : '10.0.0.2:4000'
    this.host = new NatPeer(this, this.net.addHost(address, home), seed * 4 + 1, true, relays)
    this.guest = new NatPeer(this, this.net.addHost('10.0.0.3:4001', away), seed * 4 + 2, false, relays)
  }

  /** A token for a relay. `session`: the match that it is for. */
  token(session: number = 0): Uint8Array {
    const id = new Uint8Array(16).fill(++this.#tokens)
    return issueRelayToken(this.crypto, this.#issuer, {
      session: new Uint8Array(16).fill(session), id, issuedAt: SECONDS, expiresAt: SECONDS + 60, audience: 'relay',
    })
  }

  /** Signalling without a network: both get the other's candidates at once. The guest connects. */
  meet(mode: PathMode = this.mode): Connection {
    const clients = [...this.host.port.relays, ...this.guest.port.relays]
    this.clock.driveUntil(() => clients.every(({ isReady }) => isReady), 2000)
    const key = new Uint8Array(16).fill(9)
    const { now } = this.clock
    const shared = { provider: this.crypto, key, mode: this.mode }
    this.host.port.addPeer(now, { ...shared, name: 'guest', candidates: this.guest.candidates(mode), isHost: false })
    this.guest.port.addPeer(now, { ...shared, name: 'host', candidates: this.host.candidates(mode), isHost: true })
    const connection = this.guest.endpoint.connect(now, 'peer/host')
    this.host.machine.wake(now)
    this.guest.machine.wake(now)
    return connection
  }

  /** Lets the relays answer the host. The guest has not asked them yet. */
  prepareHost(): void {
    this.guest.machine.isAsleep = true
    this.clock.driveUntil(() => this.host.port.relays.every(({ isReady }) => isReady), 2000)
    this.guest.machine.isAsleep = false
  }

  /**
   * Signalling as by a rendezvous: the guest sends its offer at once, sends more candidates when a relay has answered,
   * and connects when it has a path. A message takes `ms`.
   */
  meetByCode(ms: number): void {
    const shared = { provider: this.crypto, key: new Uint8Array(16).fill(9), mode: this.mode }
    const { host, guest } = this
    const post = (run: () => void): void => this.#post.add(this.clock.now + ms, run)
    const wake = (): void => {
      host.machine.wake(this.clock.now)
      guest.machine.wake(this.clock.now)
    }
    const first = guest.candidates(this.mode)
    post(() => {
      host.port.addPeer(this.clock.now, { ...shared, name: 'guest', candidates: first, isHost: false })
      const candidates = host.candidates(this.mode)
      post(() => {
        guest.port.addPeer(this.clock.now, { ...shared, name: 'host', candidates, isHost: true })
        wake()
      })
      wake()
    })
    const announce = (): void => {
      const candidates = guest.candidates(this.mode)
      post(() => {
        host.port.addCandidates(this.clock.now, 'guest', candidates)
        wake()
      })
    }
    this.#post.watch(() => guest.port.relays.some(({ seen }) => seen !== ''), announce)
    this.#post.watch(() => guest.port.relays.some(({ isReady }) => isReady), announce)
    this.#post.watch(() => guest.port.relays.every(({ isReady }) => isReady), announce)
    this.#post.watch(() => this.path !== 'none', () => {
      guest.endpoint.connect(this.clock.now, 'peer/host')
      wake()
    })
    wake()
  }

  /** Candidates that were found later. */
  trickle(): void {
    const { now } = this.clock
    this.host.port.peers.get('guest')!.race.start(now, this.guest.candidates('race'))
    this.guest.port.peers.get('host')!.race.start(now, this.host.candidates('race'))
    this.host.machine.wake(now)
    this.guest.machine.wake(now)
  }

  /**
   * The guest's machine goes to another network, as from Wi-Fi to cellular. Candidates that it finds there reach the
   * host by signalling, `ms` later. Whether the machine notices by itself: `isNoticed`.
   */
  moveGuest(kind: NatKind, ms: number, isNoticed: boolean): void {
    const { host, guest } = this
    this.net.move(guest.machine.host, '10.0.9.3:4001', this.net.addRouter('198.51.100.9', kind))
    guest.port.onReach = () => this.#announce(guest, host, 'guest', ms)
    if (isNoticed) guest.port.handleNetworkChange(this.clock.now)
    guest.machine.wake(this.clock.now)
  }

  /** From now on both peers say by signalling when their addresses or allocations change. */
  announceChanges(ms: number): void {
    const { host, guest } = this
    guest.port.onReach = () => this.#announce(guest, host, 'guest', ms)
    host.port.onReach = () => this.#announce(host, guest, 'host', ms)
  }

  #announce(from: NatPeer, to: NatPeer, name: string, ms: number): void {
    const candidates = from.candidates(this.mode)
    this.#post.add(this.clock.now + ms, () => {
      to.port.addCandidates(this.clock.now, name, candidates)
      to.machine.wake(this.clock.now)
    })
  }

  /** Lets `ms` pass. The guest sends a numbered reliable message every 20 ms. */
  play(ms: number): void {
    for (const end = this.clock.now + ms; this.clock.now < end;) {
      if (this.guest.connections[0]?.isOpen === true) {
        const bytes = new Uint8Array(4)
        new DataView(bytes.buffer).setUint32(0, this.#sent)
        if (this.guest.channels.send(0, bytes) === 'queued') this.#sent++
        this.guest.machine.wake(this.clock.now)
      }
      this.clock.drive(20)
      const address = this.host.connections[0]?.address
      if (address !== undefined && address !== this.#addresses.at(-1)) this.#addresses.push(address)
    }
  }

  /** How many messages were sent. */
  get sent(): number {
    return this.#sent
  }

  /** The addresses that the host's connection had. */
  get addresses(): readonly string[] {
    return this.#addresses
  }

  /** The path that the guest uses. */
  get path(): string {
    const link = this.guest.port.peers.get('host')
    return link === undefined ? 'none' : this.guest.port.pathTo(link).kind
  }

  /** The next process of a relay: it knows nothing of what the one before had. */
  restartRelay(index: number, seed: number): void {
    this.relays[index] = this.#newRelay(RELAYS[index]!, seed)
    this.relayHosts[index]!.isDead = false
  }

  #newRelay(relayed: string, seed: number): PacketRelay {
    return new PacketRelay({
      provider: this.crypto, entropy: new Dice(seed + 1000), issuers: [this.#issuer.publicKey], relayed,
      wallSeconds: () => SECONDS, quota: { packetsPerSecond: 4000, kbitsPerSecond: 4000 },
    })
  }

  #addRelay(address: string, seed: number): void {
    const host = this.net.addHost(address)
    const index = this.relays.push(this.#newRelay(address, seed)) - 1
    const out = createTransmit()
    const send = (): void => {
      this.onRelay('out', out.to, out.bytes, out.length, index)
      this.net.send(this.clock.now, host, out.to, out.bytes, out.length)
    }
    this.relayHosts.push(host)
    const machine = new Machine(
      this.net, host,
      (now, from, bytes, length) => {
        this.onRelay('in', from, bytes, length, index)
        if (this.relays[index]!.handleDatagram(now, from, bytes, length, out)) send()
      },
      (now) => {
        while (this.relays[index]!.pollTransmit(now, out)) send()
        return this.relays[index]!.pollTimeout(now)
      },
    )
    this.relayMachines.push(machine)
    this.clock.add(machine)
  }
}
