/**
 * How the players of a mesh meet by a code. The host of the code is player 1, its guests are 2 and 3 in the order in
 * which they came. Of two players, the one with the higher number offers itself, and the other answers.
 *
 * ```
 * player 1                 player 2                 player 3
 *    ◀──────── offer ─────────┤                        │
 *    ├─────── answer ─────────▶                        │
 *    ◀──────────────── offer ─┼────────────────────────┤
 *    ├─ answer, mesh 3 of 3 ──┼────────────────────────▶
 *    ├──── mesh 2 of 3 ───────▶                        │
 *    │                        ◀── forward by 1: offer ─┤
 *    │                        ├── forward by 1: answer ▶
 * ```
 *
 * A guest reaches another guest by signalling through player 1 only, because a rendezvous connects guests with their
 * host. Once the players are connected, the mesh needs neither of them.
 */

import type { Entropy } from '../base/entropy.ts'
import { OFFER_AGAIN_MS } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { bytesToHex } from '../nat/hex.ts'
import { HostDesk, type HostPaths } from '../nat/host-desk.ts'
import type { Signal, SignalOffer } from '../nat/signaling.ts'
import type { PathName } from './client-link.ts'
import { meshName } from './mesh-name.ts'

/** The paths of one player to the others, whose names are `p1` to `p3`. Addresses on the port are `peer/NAME`. */
export interface MeshPaths extends HostPaths {
  /** The port to all of them. Closing it closes all paths. */
  readonly port: DatagramPort
  /** Called when this machine can be reached at other addresses than before. */
  onCandidates: () => void
  /** Called when the network of this machine changed. */
  onNetworkChange: () => void
  /** Called when a data channel that this player offered has ended. */
  onChannelLost: (name: string) => void
  /** A WebRTC description that offers a data channel; undefined: this machine has none. Never rejects. */
  describe(name: string): Promise<string | undefined>
  /** The answer to it. */
  accept(name: string, sdp: string): void
  /** How data reaches a player now, and why. */
  pathTo(name: string): { readonly path: PathName; readonly reason: string }
}

/** What a player brings to a mesh. */
export interface MeshParts {
  readonly paths: MeshPaths
  /** 32 secret bytes: the seed of the own identity key. */
  readonly identity: Uint8Array
  readonly entropy: Entropy
  readonly provider: CryptoProvider
  later(ms: Millis, run: () => void): () => void
}

/** The players of a mesh that have met: what `MeshClient` needs. */
export interface MeshParty {
  /** The own player. */
  readonly player: PeerId
  /** How many players there are. */
  readonly players: number
  /** What the players show to each other. */
  readonly secret: Uint8Array
  /** 32 secret bytes: the seed of the own identity key. */
  readonly identity: Uint8Array
  /** The public identity keys of the players that this one connects to. Indexed by player. */
  readonly identities: readonly (Uint8Array | undefined)[]
  /** What packets are sealed and signed with. */
  readonly provider: CryptoProvider
  /** The paths to the other players. */
  readonly paths: MeshPaths
  /** Ends signalling, and closes the port. */
  close(): void
}

/** A description is sent so many times, once a second. */
const DESCRIBES_MAX = 8

/** An offer to a player with a lower number. */
interface Dial {
  readonly key: string
  /** Called once, with the identity that the answer has. */
  readonly onMet: (identity: string) => void
  sdp: string | undefined
  isMet: boolean
  /** How often the description is still sent: it is not answered, or the other side has no WebRTC. */
  describesLeft: number
  cancel: () => void
}

/** One player: it answers offers of higher players, and offers itself to lower ones. */
export class MeshMember {
  /** The own public identity key: 64 hexadecimal digits. */
  readonly publicKey: string
  readonly parts: MeshParts
  readonly #desk: HostDesk
  readonly #send: (player: PeerId, signal: Signal) => void
  readonly #dials: Map<PeerId, Dial> = new Map()

  constructor(parts: MeshParts, send: (player: PeerId, signal: Signal) => void) {
    const { paths, identity, provider } = parts
    this.publicKey = bytesToHex(provider.importSigning(identity.slice()).publicKey)
    this.parts = parts
    this.#send = send
    this.#desk = new HostDesk(this.publicKey, paths, (name, signal) => send(Number(name.slice(1)), signal))
    paths.onCandidates = () => this.announce()
    paths.onChannelLost = (name) => this.#describe(Number(name.slice(1)))
  }

  /** Handles a message of another player. */
  handle(from: PeerId, signal: Signal): void {
    const dial = this.#dials.get(from)
    if (signal.kind === 'answer' && dial?.key === signal.key) this.#handleAnswer(from, dial, signal)
    else if (signal.kind === 'candidate' && dial?.isMet === true)
      this.parts.paths.addCandidates(meshName(from), signal.candidates)
    else this.#desk.handle(meshName(from), signal)
  }

  /** Offers itself to a player until that answers. Resolves with the public identity key in the answer. */
  meet(player: PeerId): Promise<string> {
    const key = new Uint8Array(16)
    this.parts.entropy.fill(key)
    return new Promise((resolve) => {
      this.#dials.set(player, {
        key: bytesToHex(key), onMet: resolve, sdp: undefined, isMet: false, describesLeft: 0, cancel: () => {},
      })
      this.#offer(player)
      this.#describe(player)
    })
  }

  /** Signalling was away: what was sent meanwhile is lost. */
  repeat(): void {
    for (const player of this.#dials.keys()) this.#offer(player)
    this.#desk.announce()
  }

  /** A player has left before the mesh began. */
  forget(player: PeerId): void {
    this.#desk.forget(meshName(player))
  }

  /** Tells all players where this one can be reached now. */
  announce(): void {
    const candidates = this.parts.paths.candidates()
    for (const player of this.#dials.keys()) this.#send(player, { kind: 'candidate', candidates })
    this.#desk.announce()
  }

  close(): void {
    for (const { cancel } of this.#dials.values()) cancel()
    this.#dials.clear()
    this.parts.paths.port.close()
  }

  #offer(player: PeerId): void {
    const dial = this.#dials.get(player)
    if (dial === undefined) return
    dial.cancel()
    const { key, sdp } = dial
    this.#send(player, {
      kind: 'offer', identity: this.publicKey, key, candidates: this.parts.paths.candidates(),
      ...(sdp !== undefined && { sdp }),
    })
    dial.cancel = this.parts.later(OFFER_AGAIN_MS, () => {
      if (!dial.isMet || --dial.describesLeft > 0) this.#offer(player)
    })
  }

  /** Offers a data channel too. */
  #describe(player: PeerId): void {
    void this.parts.paths.describe(meshName(player)).then((sdp) => {
      const dial = this.#dials.get(player)
      if (dial === undefined || sdp === undefined) return
      dial.sdp = sdp
      dial.describesLeft = DESCRIBES_MAX
      this.#offer(player)
    })
  }

  #handleAnswer(player: PeerId, dial: Dial, answer: SignalOffer): void {
    const { paths } = this.parts
    if (dial.isMet) paths.addCandidates(meshName(player), answer.candidates)
    else paths.introduce(meshName(player), answer)
    if (answer.sdp !== undefined && dial.describesLeft > 0) {
      dial.describesLeft = 0
      paths.accept(meshName(player), answer.sdp)
    }
    if (dial.isMet) return
    dial.isMet = true
    dial.onMet(answer.identity)
  }
}
