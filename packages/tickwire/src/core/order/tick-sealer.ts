/**
 * Makes the seals of a match while it is played: a leaf for each tick, and a signed seal for each segment of 256, some
 * ticks later, when the hashes of all players are there.
 */

import { SEAL_TICKS, SEAL_WAIT_TICKS } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import {
  BodyDigests, encodeSeal, HASH_BYTES, leafOf, sealMessage, topOf, type AgreedRoot, type Seal, type SealedImage,
  type SealedMatch,
} from './seal.ts'
import type { Sha256 } from './seed-share.ts'
import { rootText } from './desync-report.ts'
import type { Root } from './sync-messages.ts'
import type { TickLog } from './tick-log.ts'

/** Signs with the key of the relay. */
export interface SealSigner {
  /** The Ed25519 public key. */
  readonly publicKey: Uint8Array
  /** An Ed25519 signature. */
  sign(message: Uint8Array): Uint8Array
}

/** A seal, and everything that a recording stores of it. */
export interface MadeSeal {
  /** The seal. */
  readonly seal: Seal
  /** Its bytes, and then the signature. */
  readonly bytes: Uint8Array
}

/** Roots of ticks that wait for their seal: at most one report of every player in every tick of two segments. */
const ROOTS_MAX = 2 * SEAL_TICKS

/** Seals the ticks of one log. */
export class TickSealer {
  readonly #log: TickLog
  readonly #match: SealedMatch
  readonly #sha256: Sha256
  readonly #signer: SealSigner
  readonly #digests: BodyDigests
  /** The last tick that is sealed. */
  #sealed: Tick = 0
  #before: Uint8Array = new Uint8Array(HASH_BYTES)
  readonly #reports = new Map<Tick, Map<PeerId, Root>>()
  #images: SealedImage[] = []

  constructor(log: TickLog, match: SealedMatch, sha256: Sha256, signer: SealSigner) {
    this.#log = log
    this.#match = match
    this.#sha256 = sha256
    this.#signer = signer
    this.#digests = new BodyDigests(sha256)
  }

  /** The last tick that is sealed. */
  get sealed(): Tick {
    return this.#sealed
  }

  /** A player reports the hash of a tick. Reports about sealed or unknown ticks are ignored. */
  handleRoot(player: PeerId, tick: Tick, root: Root): void {
    if (tick <= this.#sealed || tick > this.#log.newest) return
    const known = this.#reports.get(tick)
    if (known !== undefined) known.set(player, root)
    else if (this.#reports.size < ROOTS_MAX) this.#reports.set(tick, new Map([[player, root]]))
  }

  /** An image was recorded. It is in the next seal. */
  handleImage(image: SealedImage): void {
    this.#images.push(image)
  }

  /** The next seal, if it is due. `isLast`: the match is over, and the rest is sealed. */
  poll(isLast: boolean): MadeSeal | undefined {
    const log = this.#log
    const { newest } = log
    const first = this.#sealed + 1
    const last = Math.min(newest, this.#sealed + SEAL_TICKS)
    if (last < first || (!isLast && newest < first + SEAL_TICKS - 1 + SEAL_WAIT_TICKS)) return undefined
    const roots: AgreedRoot[] = []
    const leaves: Uint8Array[] = []
    for (let tick = first; tick <= last; tick++) {
      const root = this.#agreed(tick)
      if (root !== undefined) roots.push(root)
      const digest = this.#digests.of(log.bytes, log.startOf(tick), log.endOf(tick))
      leaves.push(leafOf(tick, digest, root, this.#sha256))
    }
    const seal: Seal = {
      first, last, top: topOf(leaves, this.#sha256), before: this.#before, images: this.#images, roots,
      publicKey: this.#signer.publicKey,
    }
    const encoded = encodeSeal(seal)
    const signature = this.#signer.sign(sealMessage(this.#match, encoded))
    const bytes = new Uint8Array(encoded.length + signature.length)
    bytes.set(encoded)
    bytes.set(signature, encoded.length)
    this.#before = this.#sha256(bytes)
    this.#sealed = last
    this.#images = []
    for (const tick of this.#reports.keys()) if (tick <= last) this.#reports.delete(tick)
    return { seal, bytes }
  }

  /** The hash that most players reported. Of hashes with equal counts, that of the lowest player number. */
  #agreed(tick: Tick): AgreedRoot | undefined {
    const reports = this.#reports.get(tick)
    if (reports === undefined) return undefined
    const counts = new Map<string, { root: Root; count: number }>()
    for (const [, root] of [...reports].sort(([a], [b]) => a - b)) {
      const known = counts.get(rootText(root))
      if (known === undefined) counts.set(rootText(root), { root, count: 1 })
      else known.count++
    }
    const [most] = [...counts.values()].sort((a, b) => b.count - a.count)
    return most && { tick, root: most.root, agreed: most.count, players: reports.size }
  }
}
