/**
 * A mesh that forms by a code: `hostMesh` makes the code, and is player 1; `joinMesh` joins by it. `mesh-gathering.ts`
 * has what the players say to each other.
 */

import { ConfigError } from '../base/assert.ts'
import { MESH_PLAYERS_MAX } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { HOST_NAME } from '../nat/guest-meeting.ts'
import { bytesToHex, hexToBytes } from '../nat/hex.ts'
import type { Signal, SignalMesh } from '../nat/signaling.ts'
import { ConnectError } from './connect-error.ts'
import { GuestSignals } from './guest-signals.ts'
import { HostedSession } from './hosted-session.ts'
import { MeshMember, type MeshParts, type MeshParty, type MeshPaths } from './mesh-gathering.ts'
import type { OfferedRelay, Rendezvous } from './rendezvous.ts'

/** What a machine brings to a mesh that forms by a code. */
export interface MeshMachine extends Omit<MeshParts, 'paths' | 'identity' | 'provider'> {
  readonly rendezvous: Rendezvous
  /** The fingerprint of the game: 16 hexadecimal digits. */
  readonly fingerprint: string
  /** Whether addresses on this machine may be used: the rendezvous is on this machine too. */
  readonly isLocal: boolean
  /** Opens the port of this machine. */
  openPaths(relays: readonly OfferedRelay[]): Promise<MeshPaths>
}

/** Something that leads to the players of a mesh, once: `mesh` takes it. */
export interface MeshSource {
  /** Resolves when all players are there; rejects after `ms`. `mesh` calls it, with a provider that can sign. */
  party(ms: Millis, provider: CryptoProvider): Promise<MeshParty>
}

const NO_BYTES = new Uint8Array(0)
const NO_IDENTITY = '0'.repeat(64)
const UNREACHABLE: CloseReason = { by: 'network', code: 'unreachable' }
const FULL: CloseReason = { by: 'protocol', code: 'full' }

/** A mesh of 2 or 3 players that other players join by a code. The player that hosts it enters with `mesh(hosted)`. */
export class HostedMesh implements MeshSource {
  /** Called when the code has changed, because the rendezvous lost it and does not know this host. */
  onCode: (code: string) => void = () => {}
  readonly #session: HostedSession
  readonly #parts: Omit<MeshParts, 'provider'>
  /** Undefined until this player enters: guests offer themselves again until then. */
  #member: MeshMember | undefined
  readonly #players: number
  readonly #secret: Uint8Array = new Uint8Array(16)
  /** The numbers of guests, by their names at the rendezvous. */
  readonly #seats: Map<string, PeerId> = new Map()
  #isFull: boolean = false
  #onFull: () => void = () => {}

  /** For `hostMesh` only. */
  constructor(session: HostedSession, parts: Omit<MeshParts, 'provider'>, players: number) {
    this.#session = session
    this.#players = players
    this.#parts = parts
    parts.entropy.fill(this.#secret)
    parts.paths.onNetworkChange = () => session.renew()
    session.onSignal = (guest, signal) => this.#handle(guest, signal)
    session.onGuestGone = (guest) => this.#handleGone(guest)
    session.onCode = () => this.onCode(this.code)
    session.onBack = () => this.#member?.repeat()
  }

  /** What the other players type: `IRON-7K3M`. */
  get code(): string {
    return this.#session.own.code
  }

  /** What they open: the page of the game, with the code in it. */
  get link(): string {
    return this.#session.own.link
  }

  /** How many players are there, with this one. */
  get players(): number {
    return 1 + this.#seats.size
  }

  /** Ends the code. A mesh that plays goes on without it. */
  close(): void {
    this.#session.close()
    if (!this.#isFull) this.#parts.paths.port.close()
  }

  async party(ms: Millis, provider: CryptoProvider): Promise<MeshParty> {
    const { later, paths, identity } = this.#parts
    const member = new MeshMember({ ...this.#parts, provider }, (player, signal) => this.#sendTo(player, signal))
    this.#member = member
    const isThere = this.#isFull || await new Promise<boolean>((resolve) => {
      const cancel = later(ms, () => resolve(false))
      this.#onFull = () => {
        cancel()
        resolve(true)
      }
    })
    if (!isThere) {
      this.close()
      throw new ConnectError(this.link, UNREACHABLE)
    }
    return {
      player: 1, players: this.#players, secret: this.#secret, identity, identities: [], provider, paths,
      close: () => {
        this.#session.close()
        member.close()
      },
    }
  }

  #handle(guest: string, signal: Signal): void {
    const member = this.#member
    if (member === undefined) return
    const player = this.#seats.get(guest) ?? (signal.kind === 'offer' ? this.#seat(guest) : undefined)
    if (player === undefined) return this.#session.send(guest, { kind: 'reject', reason: 'full' })
    if (signal.kind === 'forward') {
      if (this.#isFull && signal.player !== player)
        this.#sendTo(signal.player, { kind: 'forward', player, signal: signal.signal })
      return
    }
    member.handle(player, signal)
    if (signal.kind !== 'offer') return
    if (this.#isFull) this.#sayPlace(guest, player)
    else if (this.players === this.#players) this.#fill()
  }

  /** The lowest number that is free; undefined when there is none. */
  #seat(guest: string): PeerId | undefined {
    if (this.#isFull) return undefined
    const taken = new Set(this.#seats.values())
    let player = 2
    while (taken.has(player)) player++
    this.#seats.set(guest, player)
    return player
  }

  #fill(): void {
    this.#isFull = true
    for (const [guest, player] of this.#seats) this.#sayPlace(guest, player)
    this.#onFull()
  }

  #sayPlace(guest: string, player: PeerId): void {
    const secret = bytesToHex(this.#secret)
    this.#session.send(guest, { kind: 'mesh', player, players: this.#players, secret })
  }

  /** Before the mesh is full, its place is free again. Later the players do without signalling. */
  #handleGone(guest: string): void {
    const player = this.#seats.get(guest)
    if (player === undefined || this.#isFull) return
    this.#seats.delete(guest)
    this.#member?.forget(player)
  }

  #sendTo(player: PeerId, signal: Signal): void {
    for (const [guest, each] of this.#seats) if (each === player) this.#session.send(guest, signal)
  }
}

/** Throws when a game cannot be played as a mesh of so many players. */
export function checkMesh(game: object, players: number): void {
  const [least = 0, most = 0] = 'players' in game && Array.isArray(game.players) ? game.players as number[] : []
  const low = Math.max(2, least)
  const high = Math.min(MESH_PLAYERS_MAX, most)
  if (Number.isInteger(players) && players >= low && players <= high) return
  throw new ConfigError(
    'host.mesh', `invalid number of players (expected ${low} to ${high}, got ${players})`,
    'leave `mesh` out: then this machine runs the order relay, or the match.',
  )
}

/** Makes the code of a mesh. Rejects when the rendezvous does not answer. */
export async function hostMesh(machine: MeshMachine, players: number, isStrong: boolean): Promise<HostedMesh> {
  const { rendezvous, fingerprint, isLocal, later, entropy } = machine
  const identity = new Uint8Array(32)
  entropy.fill(identity)
  // The identity of each player is in its answer: this page need not load what signs before it plays.
  const session = await HostedSession.create({
    rendezvous, isStrong, isLoopbackAllowed: isLocal, later,
    facts: { fingerprint, identity: NO_IDENTITY, capacity: players - 1 },
  })
  const paths = await machine.openPaths(session.own.relays)
  const hosted = new HostedMesh(session, { ...machine, identity, paths }, players)
  await session.listen()
  return hosted
}

/** Joins a mesh by its code. Resolves when all players are there; rejects with a ConnectError, also after `ms`. */
export async function joinMesh(
  machine: MeshMachine, code: string, ms: Millis, provider: CryptoProvider,
): Promise<MeshParty> {
  const { rendezvous, fingerprint, isLocal, later, entropy } = machine
  const identity = new Uint8Array(32)
  entropy.fill(identity)
  const joined = await rendezvous.join(code, fingerprint)
  const [socket, paths] = await Promise.all([rendezvous.openSignals(), machine.openPaths(joined.relays)])
  const signals = new GuestSignals({ rendezvous, isLoopbackAllowed: isLocal, later }, joined, socket)
  const member = new MeshMember({ ...machine, provider, identity, paths }, (player, signal) =>
    signals.send(HOST_NAME, player === 1 ? signal : { kind: 'forward', player, signal }))
  paths.onNetworkChange = () => signals.renew()
  signals.onBack = () => member.repeat()
  const close = (): void => {
    signals.close()
    member.close()
  }
  try {
    const first = member.meet(1)
    const place = await placeOf(signals, member, later, ms)
    const met = [first, ...Array.from({ length: place.player - 2 }, (_, at) => member.meet(at + 2))]
    // Indexed by player; there is no player 0.
    const identities: Uint8Array[] = [NO_BYTES]
    for (const each of await within(Promise.all(met), later, ms)) identities.push(hexToBytes(each) ?? NO_BYTES)
    return {
      player: place.player, players: place.players, secret: hexToBytes(place.secret) ?? NO_BYTES, identity, identities,
      provider, paths, close,
    }
  } catch (error) {
    close()
    throw new ConnectError(`${rendezvous.base} with the code ${code}`, error === FULL ? FULL : UNREACHABLE)
  }
}

/** Handles signalling from now on. Resolves with the place of this player, when all players are there. */
function placeOf(
  signals: GuestSignals, member: MeshMember, later: MeshMachine['later'], ms: Millis,
): Promise<SignalMesh> {
  const placed = new Promise<SignalMesh>((resolve, reject) => {
    signals.onLost = () => reject(UNREACHABLE)
    const take = (signal: Signal): void => {
      if (signal.kind === 'mesh') resolve(signal)
      else if (signal.kind === 'reject') reject(FULL)
      else if (signal.kind === 'forward') member.handle(signal.player, signal.signal)
      else member.handle(1, signal)
    }
    signals.onArrival = () => {
      for (let next = signals.poll(); next !== undefined; next = signals.poll()) take(next[1])
    }
  })
  signals.onArrival()
  return within(placed, later, ms)
}

/** The same, but it rejects after `ms`. */
function within<T>(promise: Promise<T>, later: MeshMachine['later'], ms: Millis): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = later(ms, () => reject(UNREACHABLE))
    promise.then(resolve, reject).finally(cancel)
  })
}
