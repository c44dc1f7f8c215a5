/**
 * Verifies the seals of a recorded match: that no tick, image or seal of it was changed, added or left out since the
 * relay signed it, and that players signed their own orders.
 *
 * A hash of a world has 64 bits, which is not enough against a forger; an image has SHA-256. The result says which
 * there are. Whether the worlds follow from the ticks is shown by stepping the game (`stepMatch`).
 */

import type { PeerId, Tick } from '../base/time.ts'
import {
  BodyDigests, HASH_BYTES, leafOf, PlayerChain, proofOf, sealMessage, topFrom, topOf, type AgreedRoot, type SealedMatch,
} from '../order/seal.ts'
import type { Sha256 } from '../order/seed-share.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import { verifyHandover, type VerifiedHandover } from './handover-chunk.ts'
import type { MatchFile, StoredSeal } from './match-file.ts'

/** Verifies an Ed25519 signature. Never throws. */
export type VerifySignature = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean

/** How a match is verified. */
export interface VerifyOptions {
  /** SHA-256 of a byte string. */
  readonly sha256: Sha256
  /** Verifies an Ed25519 signature. */
  readonly verify: VerifySignature
  /** The keys of relays that may have sealed it. Undefined: the key of the first seal, which anyone can have made. */
  readonly publicKeys?: readonly Uint8Array[]
}

/** The result of a verification. */
export interface MatchVerdict {
  /** What is wrong. Empty: everything that is sealed is genuine. */
  readonly problems: readonly string[]
  /** Ticks in the file, up to which all are sealed, and ticks that the recorder lost. */
  readonly ticks: Tick
  readonly sealedTicks: Tick
  readonly lostTicks: number
  readonly seals: number
  /** Sealed hashes of worlds, and sealed images with SHA-256. */
  readonly roots: number
  readonly images: number
  /** Indexed by player: the tick up to which the player signed its orders. */
  readonly players: ReadonlyMap<PeerId, Tick>
  /** The key of the seals. Undefined: there are none, or the key is none of `publicKeys`. */
  readonly publicKey: Uint8Array | undefined
  /** From which relay the match was taken over. Undefined: it began at the relay that sealed it. */
  readonly handover: VerifiedHandover | undefined
}

/** Verifies all seals of a file. */
export function verifyMatch(file: MatchFile, options: VerifyOptions): MatchVerdict {
  const check = new Check(file, options)
  for (const stored of file.seals) check.seal(stored)
  const players = check.players()
  const handover = check.handover()
  const lostTicks = file.gaps.reduce((sum, { digests }) => sum + digests.length, 0)
  return {
    problems: [...file.problems, ...check.problems], ticks: file.last, sealedTicks: check.sealed, lostTicks,
    seals: file.seals.length, roots: check.roots, images: check.images, players,
    publicKey: check.publicKey, handover,
  }
}

/** The proof of one tick. */
export interface TickProof {
  /** Whether the tick is genuine. */
  readonly isGenuine: boolean
  /** Why not, or what was proved. */
  readonly text: string
  /** Hashes in the proof. */
  readonly hashes: number
  /** The hash that players agreed on, if there is one. */
  readonly root?: AgreedRoot
}

/** Verifies one tick by its proof and the seal of its segment, without the rest of the file. */
export function verifyTick(file: MatchFile, tick: Tick, options: VerifyOptions): TickProof {
  const stored = file.seals.find(({ seal }) => tick >= seal.first && tick <= seal.last)
  if (stored === undefined) return { isGenuine: false, text: `tick ${tick} is not sealed`, hashes: 0 }
  const check = new Check(file, options)
  if (!check.signature(stored)) return { isGenuine: false, text: check.problems.join('; '), hashes: 0 }
  const { seal } = stored
  const leaves = check.leaves(stored)
  const body = file.tickBytes(tick)
  if (leaves === undefined || body === undefined)
    return { isGenuine: false, text: `tick ${tick} is in a gap of the recording`, hashes: 0 }
  const at = tick - seal.first
  const proof = proofOf(leaves, at, options.sha256)
  const top = topFrom(leaves[at], at, proof, options.sha256)
  const root = seal.roots.find((each) => each.tick === tick)
  const isGenuine = isEqual(top, seal.top)
  return {
    isGenuine, text: isGenuine ? `tick ${tick} is sealed in ${seal.first} to ${seal.last}` : `tick ${tick} was changed`,
    hashes: proof.filter((each) => each !== undefined).length, ...(root && { root }),
  }
}

class Check {
  readonly problems: string[] = []
  sealed: Tick = 0
  roots = 0
  images = 0
  publicKey: Uint8Array | undefined
  readonly #file: MatchFile
  readonly #options: VerifyOptions
  readonly #digests: BodyDigests
  readonly #match: SealedMatch
  #before: Uint8Array = new Uint8Array(HASH_BYTES)

  constructor(file: MatchFile, options: VerifyOptions) {
    this.#file = file
    this.#options = options
    this.#digests = new BodyDigests(options.sha256)
    this.#match = { fingerprint: file.recording.head.fingerprint, seed: file.seed }
  }

  /** One seal, after the seals before it. */
  seal(stored: StoredSeal): void {
    const { seal, body } = stored
    const { sha256 } = this.#options
    const where = `ticks ${seal.first} to ${seal.last}`
    if (seal.first !== this.sealed + 1) this.problems.push(`${where}: the seal before it is missing`)
    if (!isEqual(seal.before, this.#before)) this.problems.push(`${where}: the chain of seals is broken`)
    this.#before = sha256(body)
    this.sealed = seal.last
    if (!this.signature(stored)) return
    const leaves = this.leaves(stored)
    if (leaves === undefined) this.problems.push(`${where}: ticks are missing`)
    else if (!isEqual(topOf(leaves, sha256), seal.top)) this.problems.push(`${where}: a tick was changed`)
    for (const { tick, chunkDigest } of seal.images) {
      const chunk = this.#file.imageChunk(tick)
      if (chunk === undefined || !isEqual(sha256(chunk), chunkDigest))
        this.problems.push(`tick ${tick}: the image was changed, or is missing`)
      this.images++
    }
    this.roots += seal.roots.length
  }

  signature({ seal, encoded, signature }: StoredSeal): boolean {
    const where = `ticks ${seal.first} to ${seal.last}`
    const { publicKeys = [seal.publicKey] } = this.#options
    this.publicKey ??= publicKeys.find((key) => isEqual(key, seal.publicKey))
    if (this.publicKey === undefined || !isEqual(seal.publicKey, this.publicKey)) {
      this.problems.push(`${where}: sealed with another key`)
      return false
    }
    const isRight = this.#options.verify(this.publicKey, sealMessage(this.#match, encoded), signature)
    if (!isRight) this.problems.push(`${where}: the signature is wrong`)
    return isRight
  }

  /** The leaves of a segment, from ticks and gaps. Undefined: some are in neither. */
  leaves({ seal }: StoredSeal): Uint8Array[] | undefined {
    const leaves: Uint8Array[] = []
    let at = 0
    for (let tick = seal.first; tick <= seal.last; tick++) {
      const digest = this.#digestOf(tick)
      if (digest === undefined) return undefined
      const root = seal.roots[at]?.tick === tick ? seal.roots[at++] : undefined
      leaves.push(leafOf(tick, digest, root, this.#options.sha256))
    }
    return leaves
  }

  #digestOf(tick: Tick): Uint8Array | undefined {
    for (const { first, log } of this.#file.stretches) {
      const at = tick - first + 1
      if (at >= 1 && at <= log.newest) return this.#digests.of(log.bytes, log.startOf(at), log.endOf(at))
    }
    const gap = this.#file.gaps.find(({ first, digests }) => tick >= first && tick < first + digests.length)
    return gap?.digests[tick - gap.first]
  }

  /** From which relay the match was taken over. */
  handover(): VerifiedHandover | undefined {
    const { sha256, verify } = this.#options
    return verifyHandover(
      this.#file, { match: this.#match, sha256, verify, publicKey: this.publicKey }, this.problems,
    )
  }

  /** Until which tick each player signed its orders. */
  players(): Map<PeerId, Tick> {
    const newest = new Map<PeerId, Tick>()
    const file = this.#file
    const [stretch] = file.stretches
    // Behind a gap the orders before it are not known, so later seals cannot be checked.
    const end = stretch === undefined || stretch.first !== 1 ? 0 : stretch.log.newest
    const seals = file.playerSeals.filter(({ tick }) => tick <= end).toSorted((a, b) => a.tick - b.tick)
    const chains = new Map<PeerId, PlayerChain>()
    const reader = new TickBodyReader()
    let stepped = 0
    for (const { player, tick, orders, publicKey, signature } of seals) {
      for (; stretch !== undefined && stepped < tick; stepped++) {
        const { log } = stretch
        reader.open(log.bytes, log.startOf(stepped + 1), log.endOf(stepped + 1))
        while (reader.next()) if (reader.player !== 0) this.#chain(chains, reader.player).add(
          stepped + 1, reader.timeUs, reader.type, log.bytes.subarray(reader.dataAt, reader.dataAt + reader.dataLength),
        )
      }
      const chain = this.#chain(chains, player)
      if (chain.orders === orders && this.#options.verify(publicKey, chain.message(tick), signature))
        newest.set(player, tick)
      else this.problems.push(`player ${player}: did not sign the orders up to tick ${tick}`)
    }
    return newest
  }

  #chain(chains: Map<PeerId, PlayerChain>, player: PeerId): PlayerChain {
    let chain = chains.get(player)
    if (chain === undefined) chains.set(player, (chain = new PlayerChain(this.#match, player, this.#options.sha256)))
    return chain
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
