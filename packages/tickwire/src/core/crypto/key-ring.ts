/**
 * The keys of one connection: one to seal with, and those that packets under way may still need.
 *
 * ```
 *           seals  opens            seals  opens              seals  opens                seals  opens
 *   rest    e      e       install  e      e, e+1   confirm   e+1    e, e+1   5 s later   e+1    e+1     rest
 * ```
 *
 * The side that knows that its peer has the new keys already seals with them at once; the other waits until it opens the
 * first packet under them, since what it says before must still be understood. The old keys go 5 s after the peer's first
 * packet under the new ones.
 *
 * Invariants: at most two epochs are open; a packet takes effect once in its epoch; a forged one changes nothing but a
 * counter: look into the window, open, and only then mark. Keys that go are wiped.
 *
 * It does not exchange public keys (`rekey.ts`) and does not know what is in a packet.
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
  /** Plaintext in one direction. */
  readonly afterBytes: number
  /** In one direction; never more than the suite's own. */
  readonly afterPackets: number
}

/** What a ring begins with. */
export interface KeyRingConfig {
  readonly provider: CryptoProvider
  readonly suite: CryptoSuite
  /** Which side this is. */
  readonly role: Role
  /** The secret of epoch 0. The ring's from now on: it will be wiped. */
  readonly secret: Uint8Array
  /** The hash of the whole handshake. */
  readonly transcript: Uint8Array
  /** Where it differs from the limits. */
  readonly rekey?: Partial<RekeyPolicy>
}

/** What became of a packet; anything but 'ok' has no effect. 'epoch': there is no key for it. */
export type OpenVerdict = 'ok' | 'epoch' | 'duplicate' | 'old' | 'forged'

/** Why it is time for new keys. */
export type RekeyReason = 'time' | 'bytes' | 'packets' | 'forgeries'

/** What opens packets of one epoch. */
class Opener {
  readonly key: OpeningKey
  readonly window: ReplayWindow = new ReplayWindow()

  constructor(key: OpeningKey) {
    this.key = key
  }
}

// Imported constants as the module's own: read through an import they are loaded anew each time.
const FORGERIES_END = FORGERIES_MAX

/** The keys of one connection. */
export class KeyRing {
  /** Packets that did not open, over the connection's life. */
  forgeries: number = 0
  readonly role: Role
  #config: KeyRingConfig
  #policy: RekeyPolicy
  #secret: Uint8Array
  #sealing: SealingKey
  /** Made, but the peer is not known to have it yet. */
  #nextSealing: SealingKey | undefined = undefined
  /** By the lowest bit of the epoch: two that are open at once never share one. */
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

  /** The newest epoch there are keys for. */
  get newestEpoch(): number {
    return this.#newestEpoch
  }

  /** The byte that belongs into the header of what is sealed next. */
  get sealingEpoch(): number {
    return this.#sealing.epoch & 0xff
  }

  /** One or two. */
  get openEpochs(): number {
    return (this.#openers[0] === undefined ? 0 : 1) + (this.#openers[1] === undefined ? 0 : 1)
  }

  /** When `retire` has something to do; Infinity while there is nothing. */
  get retireAt(): Millis {
    return this.#retireAt
  }

  /** The connection must end: its keys cannot seal much longer, or somebody has been guessing for years. */
  get isWornOut(): boolean {
    return this.#sealing.isSpent || this.forgeries >= FORGERIES_END
  }

  /** Seals packet `sequence` in place; returns its whole length. Its header already has `sealingEpoch`. @hot */
  seal(sequence: number, bytes: Uint8Array, headerLength: number, plaintextLength: number): number {
    return this.#sealing.seal(sequence, bytes, headerLength, plaintextLength)
  }

  /** Opens packet `sequence` of `length` bytes in place: look, open, mark. @hot */
  open(now: Millis, epochByte: number, sequence: number, bytes: Uint8Array, headerLength: number, length: number): OpenVerdict {
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
   * Opens what was sealed as sequence 0 of epoch 0, the server's acceptance. It is no packet in the window's sense: a
   * client takes one, in the state that waits for it.
   */
  openAcceptance(bytes: Uint8Array, headerLength: number, length: number): boolean {
    const opener = this.#openers[0]
    assert(this.#newestEpoch === 0 && opener !== undefined, 'an acceptance comes before everything else')
    return opener.key.open(0, bytes, headerLength, length)
  }

  /** Why new keys are due; undefined while they are not, or while the last exchange is not over. */
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

  /** The last exchange is over, as far as this side can know: the next may begin. */
  get canInstall(): boolean {
    return this.#isConfirmed && this.#nextSealing === undefined
  }

  /** Lowers a deadline to when `retire` has something to do and, unless an exchange is under way, `rekeyReason` says 'time'. @hot */
  lower(deadline: Float64Array, isIdle: boolean): void {
    if (this.#retireAt < deadline[0]) deadline[0] = this.#retireAt
    if (!isIdle || !this.#isSettled()) return
    const rekeyAt = this.#epochBeganAt + this.#policy.afterMs
    if (rekeyAt < deadline[0]) deadline[0] = rekeyAt
  }

  /**
   * Makes the keys of the next epoch out of a new shared secret, which is wiped. `peerHasKeys`: the peer is known to have
   * made them too, so what we say from now on is sealed with them.
   */
  install(now: Millis, shared: Uint8Array, peerHasKeys: boolean): void {
    assert(this.canInstall, 'one exchange of keys at a time')
    // The peer would not begin the next exchange while it still needed the keys before these.
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

  /** Forgets the keys of the epoch before the newest, if it is over. */
  retire(): void {
    if (!this.#isConfirmed) return
    this.#drop((this.#newestEpoch & 1) ^ 1)
    this.#retireAt = Infinity
  }

  /** Forgets everything: the connection is over. */
  wipe(): void {
    this.#drop(0)
    this.#drop(1)
    this.#sealing.wipe()
    this.#nextSealing?.wipe()
    wipe(this.#secret)
  }

  /** The last exchange is over, and so are its old keys. */
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
    return this.#withMaterial(peer, epoch, (material) => new Opener(new OpeningKey(this.#config.suite, epoch, material)))
  }

  #withMaterial<Made>(sealer: Role, epoch: number, make: (material: Uint8Array) => Made): Made {
    const { provider, suite, transcript } = this.#config
    const material = directionMaterial(provider, suite, this.#secret, sealer, epoch, transcript)
    const made = make(material)
    wipe(material)
    return made
  }
}
