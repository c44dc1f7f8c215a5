/**
 * The keys of one connection: one key that seals, and the keys that packets in flight may still need.
 *
 * ```
 *           seals  opens            seals  opens              seals  opens                seals  opens
 *   rest    e      e       install  e      e, e+1   confirm   e+1    e, e+1   5 s later   e+1    e+1     rest
 * ```
 *
 * The side that knows that its peer already has the new keys seals with them at once. The other side waits until it
 * opens the first packet under them, because the peer must be able to open what it sends before that. The old keys are
 * discarded 5 s after the peer's first packet under the new ones.
 *
 * Invariants: at most two epochs are open; a packet takes effect once in its epoch; a forged packet only increments a
 * counter: check the window, open, and only then mark. Discarded keys are wiped.
 *
 * This class does not exchange public keys (`rekey.ts`) and does not know the content of packets.
 */

import { assert } from '../base/assert.ts'
import { FORGERIES_MAX, KEY_OVERLAP_MS, REKEY_BYTES, REKEY_FORGERIES, REKEY_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { wipe } from './constant-time.ts'
import { directionMaterial, nextSecret, type Role } from './key-schedule.ts'
import { OpeningKey, SealingKey } from './packet-key.ts'
import type { CryptoProvider } from './provider.ts'
import { ReplayWindow } from './replay-window.ts'
import type { CryptoSuite } from './suite.ts'

/** When keys are replaced. */
export interface RekeyPolicy {
  readonly afterMs: Millis
  /** Plaintext bytes in one direction. */
  readonly afterBytes: number
  /** Packets in one direction; never more than the suite's own limit. */
  readonly afterPackets: number
}

/** The inputs of a key ring. */
export interface KeyRingConfig {
  readonly provider: CryptoProvider
  readonly suite: CryptoSuite
  /** The local side. */
  readonly role: Role
  /** The secret of epoch 0. The ring takes ownership and will wipe it. */
  readonly secret: Uint8Array
  /** The hash of the whole handshake. */
  readonly transcript: Uint8Array
  /** Overrides of the default limits. */
  readonly rekey?: Partial<RekeyPolicy>
}

/** The result of opening a packet; anything but 'ok' has no effect. 'epoch': there is no key for it. */
export type OpenVerdict = 'ok' | 'epoch' | 'duplicate' | 'old' | 'forged'

/** Why new keys are due. */
export type RekeyReason = 'time' | 'bytes' | 'packets' | 'forgeries'

/** Opens packets of one epoch. */
class Opener {
  readonly key: OpeningKey
  readonly window: ReplayWindow = new ReplayWindow()

  constructor(key: OpeningKey) {
    this.key = key
  }
}

/** The keys of one connection. */
export class KeyRing {
  /** Packets that did not open, since the start of the connection. */
  forgeries: number = 0
  readonly role: Role
  #config: KeyRingConfig
  #policy: RekeyPolicy
  #secret: Uint8Array
  #sealing: SealingKey
  /** `seal` refused a sequence whose nonce would have repeated. */
  #hasRefused = false
  /** Derived, but the peer is not known to have it yet. */
  #nextSealing: SealingKey | undefined = undefined
  /** Indexed by the lowest bit of the epoch: two epochs that are open at the same time never share it. */
  #openers: [Opener | undefined, Opener | undefined]
  #newestEpoch: number = 0
  #isConfirmed: boolean = true
  #retireAt: Millis = Infinity
  #epochBeganAt: Millis
  #forgeriesBefore: number = 0

  constructor(now: Millis, config: KeyRingConfig) {
    this.role = config.role
    this.#config = config
    this.#policy = {
      afterMs: config.rekey?.afterMs ?? REKEY_MS,
      afterBytes: config.rekey?.afterBytes ?? REKEY_BYTES,
      afterPackets: Math.min(config.rekey?.afterPackets ?? Infinity, config.suite.rekeyPackets),
    }
    this.#secret = config.secret
    this.#epochBeganAt = now
    this.#sealing = this.#makeSealing(0)
    this.#openers = [this.#makeOpener(0), undefined]
  }

  /** The newest epoch that has keys. */
  get newestEpoch(): number {
    return this.#newestEpoch
  }

  /** The epoch byte for the header of the next sealed packet. */
  get sealingEpoch(): number {
    return this.#sealing.epoch & 0xff
  }

  /** How many epochs can be opened: one or two. */
  get openEpochs(): number {
    return (this.#openers[0] === undefined ? 0 : 1) + (this.#openers[1] === undefined ? 0 : 1)
  }

  /** When `retire` is next due; Infinity when it is not. */
  get retireAt(): Millis {
    return this.#retireAt
  }

  /** The connection must end: its keys cannot seal much longer, or there were too many forgeries. */
  get isWornOut(): boolean {
    return this.#hasRefused || this.#sealing.isSpent || this.forgeries >= FORGERIES_MAX
  }

  /**
   * Seals packet `sequence` in place; returns the length of the packet. The header must already contain `sealingEpoch`.
   * If the nonce of the sequence would repeat, nothing is sealed, 0 is returned, and the ring is worn out. @hot
   */
  seal(sequence: number, bytes: Uint8Array, headerLength: number, plaintextLength: number): number {
    if (!this.#sealing.canSeal(sequence)) {
      this.#hasRefused = true
      return 0
    }
    return this.#sealing.seal(sequence, bytes, headerLength, plaintextLength)
  }

  /** Opens packet `sequence` of `length` bytes in place: check the window, open, mark. @hot */
  open(
    now: Millis,
    epochByte: number,
    sequence: number,
    bytes: Uint8Array,
    headerLength: number,
    length: number,
  ): OpenVerdict {
    if (now >= this.#retireAt) this.retire()
    const opener = this.#openers[epochByte & 1]
    if (opener === undefined || (opener.key.epoch & 0xff) !== epochByte) return 'epoch'
    const freshness = opener.window.peek(sequence)
    if (freshness !== 'new') return freshness
    if (!opener.key.open(sequence, bytes, headerLength, length)) {
      this.forgeries++
      return 'forged'
    }
    opener.window.mark(sequence)
    if (!this.#isConfirmed && opener.key.epoch === this.#newestEpoch) this.#confirm(now)
    return 'ok'
  }

  /**
   * Opens the server's Accepted, which is sealed as sequence 0 of epoch 0. It does not go through the replay window: a
   * client accepts one, in the state that waits for it.
   */
  openAcceptance(bytes: Uint8Array, headerLength: number, length: number): boolean {
    const opener = this.#openers[0]
    assert(this.#newestEpoch === 0 && opener !== undefined, 'an acceptance comes before everything else')
    return opener.key.open(0, bytes, headerLength, length)
  }

  /** Why new keys are due; undefined while they are not, or while the last exchange is not complete. */
  rekeyReason(now: Millis): RekeyReason | undefined {
    if (now >= this.#retireAt) this.retire()
    const opener = this.#openers[this.#newestEpoch & 1]
    if (!this.#isSettled() || opener === undefined) return undefined
    const { afterMs, afterBytes, afterPackets } = this.#policy
    if (now >= this.#epochBeganAt + afterMs) return 'time'
    if (this.#sealing.bytesSealed >= afterBytes || opener.key.bytesOpened >= afterBytes) return 'bytes'
    if (this.#sealing.packetsSealed >= afterPackets || opener.key.packetsOpened >= afterPackets) return 'packets'
    return this.forgeries - this.#forgeriesBefore >= REKEY_FORGERIES ? 'forgeries' : undefined
  }

  /** The last exchange is complete, as far as this side can know: the next one may begin. */
  get canInstall(): boolean {
    return this.#isConfirmed && this.#nextSealing === undefined
  }

  /**
   * Lowers a deadline to when `retire` is due and, unless an exchange is in progress, to when `rekeyReason` returns
   * 'time'. @hot
   */
  lower(deadline: Float64Array, isIdle: boolean): void {
    if (this.#retireAt < deadline[0]) deadline[0] = this.#retireAt
    if (!isIdle || !this.#isSettled()) return
    const rekeyAt = this.#epochBeganAt + this.#policy.afterMs
    if (rekeyAt < deadline[0]) deadline[0] = rekeyAt
  }

  /**
   * Derives the keys of the next epoch from a new shared secret, which is wiped. `peerHasKeys`: the peer is known to
   * have derived them too, so packets are sealed with them from now on.
   */
  install(now: Millis, shared: Uint8Array, peerHasKeys: boolean): void {
    assert(this.canInstall, 'one exchange of keys at a time')
    // The peer would not begin the next exchange while it still needed the keys before the current ones.
    this.retire()
    const secret = nextSecret(this.#config.provider, this.#secret, shared)
    wipe(this.#secret)
    wipe(shared)
    this.#secret = secret
    this.#newestEpoch++
    this.#openers[this.#newestEpoch & 1] = this.#makeOpener(this.#newestEpoch)
    this.#nextSealing = this.#makeSealing(this.#newestEpoch)
    this.#isConfirmed = false
    this.#epochBeganAt = now
    this.#forgeriesBefore = this.forgeries
    if (peerHasKeys) this.#switchSealing()
  }

  /** Wipes the keys of the epoch before the newest, if they are no longer needed. */
  retire(): void {
    if (!this.#isConfirmed) return
    this.#drop((this.#newestEpoch & 1) ^ 1)
    this.#retireAt = Infinity
  }

  /** Wipes all keys: the connection is over. */
  wipe(): void {
    this.#drop(0)
    this.#drop(1)
    this.#sealing.wipe()
    this.#nextSealing?.wipe()
    wipe(this.#secret)
  }

  /** The last exchange is complete and its old keys are wiped. */
  #isSettled(): boolean {
    return this.#isConfirmed && this.openEpochs === 1
  }

  #confirm(now: Millis): void {
    this.#isConfirmed = true
    this.#retireAt = now + KEY_OVERLAP_MS
    if (this.#nextSealing !== undefined) this.#switchSealing()
  }

  #switchSealing(): void {
    assert(this.#nextSealing !== undefined, 'there is a key to go on with')
    this.#sealing.wipe()
    this.#sealing = this.#nextSealing
    this.#nextSealing = undefined
  }

  #drop(slot: number): void {
    this.#openers[slot]?.key.wipe()
    this.#openers[slot] = undefined
  }

  #makeSealing(epoch: number): SealingKey {
    return this.#withMaterial(this.role, epoch, (material) => new SealingKey(this.#config.suite, epoch, material))
  }

  #makeOpener(epoch: number): Opener {
    const peer = this.role === 'client' ? 'server' : 'client'
    return this.#withMaterial(
      peer,
      epoch,
      (material) => new Opener(new OpeningKey(this.#config.suite, epoch, material)),
    )
  }

  #withMaterial<Made>(sealer: Role, epoch: number, make: (material: Uint8Array) => Made): Made {
    const { provider, suite, transcript } = this.#config
    const material = directionMaterial(provider, suite, this.#secret, sealer, epoch, transcript)
    const made = make(material)
    wipe(material)
    return made
  }
}
