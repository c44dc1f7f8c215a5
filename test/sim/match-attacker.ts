/**
 * A client that joined with a valid token and attacks.
 *
 * Its frames are those of an honest client with bits changed: the bodies are well framed and well sealed, so that they
 * reach the layers behind decryption. It also replays datagrams, to other clients too, and cuts, joins and invents
 * some.
 *
 * What it receives is checked like that of every client: an attack must not reveal more to it.
 */

import type { PeerId, Tick } from '../../packages/tickwire/src/core/base/time.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { ConnectPass } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import { FRAME_KIND } from '../../packages/tickwire/src/core/game/frame-kinds.ts'
import type { JoinRequest } from '../../packages/tickwire/src/core/rooms/join-body.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { sightOf } from './crowd-sight.ts'
import type { CrowdTruth } from './crowd-truth.ts'
import { hold } from './invariants.ts'
import { MatchClient } from './match-client.ts'
import type { MatchInput } from './match-game.ts'

/** How often a frame is changed, and an invented one added. */
const BENDS = 0.06
const INVENTS = 0.03
const KEPT_MAX = 64

/** A source whose frames are sometimes not what it wrote. */
class BentSource implements FrameSource {
  readonly #inner: FrameSource
  readonly #dice: Dice
  readonly #onBent: () => void

  constructor(inner: FrameSource, dice: Dice, onBent: () => void) {
    this.#inner = inner
    this.#dice = dice
    this.#onBent = onBent
    if (inner.attach !== undefined) this.attach = (wake) => inner.attach?.(wake)
  }

  attach?: (wake: () => void) => void

  begin(now: number): void { this.#inner.begin(now) }

  wantsAt(now: number): number { return this.#inner.wantsAt(now) }

  fill(now: number, sequence: number, out: BitWriter): boolean {
    const dice = this.#dice
    if (dice.chance(INVENTS) && out.bitsLeft >= 8) {
      const count = 1 + (dice.word() % Math.min(40, Math.floor(out.bitsLeft / 8)))
      for (let byte = 0; byte < count; byte++) out.writeBits(dice.word() & 0xff, 8)
      this.#onBent()
      return true
    }
    if (!this.#inner.fill(now, sequence, out)) return false
    if (!dice.chance(BENDS) || out.bitLength === 0) return true
    this.#onBent()
    bend(out, dice)
    return true
  }

  onDelivered(now: number, sequence: number): void { this.#inner.onDelivered(now, sequence) }

  onLost(now: number, sequence: number): void { this.#inner.onLost(now, sequence) }
}

/** Changes some of the written bits: a body of the same length with other content. */
function bend(out: BitWriter, dice: Dice): void {
  const { bytes } = out
  const length = out.finish()
  for (let flips = 1 + (dice.word() % 3); flips > 0; flips--) bytes[dice.word() % length]! ^= 1 << (dice.word() & 7)
}

/** One attacker. */
export class MatchAttacker extends MatchClient {
  /** Datagrams that it has seen. */
  readonly #kept: Uint8Array[] = []
  /** Objects that it has requested without seeing them. */
  readonly #wanted = new Map<number, Tick>()

  override handleDatagram(now: number, from: string, bytes: Uint8Array, length: number): void {
    this.#keep(bytes, length)
    super.handleDatagram(now, from, bytes, length)
  }

  override play(): void {
    super.play()
    if (this.has('shared') && !this.has('owners')) this.#grab()
    const { dice } = this
    if (this.#kept.length === 0 || !dice.chance(0.3)) return
    this.scene.counts.forged++
    const any = (): Uint8Array => this.#kept[dice.word() % this.#kept.length]!
    const copy = any().slice()
    switch (dice.word() % 5) {
      case 0: break
      case 1:
        copy[dice.word() % copy.length]! ^= 1 << (dice.word() & 7)
        break
      case 2: {
        const other = any()
        copy.set(other.subarray(0, Math.min(other.length, copy.length) >>> 1))
        break
      }
      case 3:
        for (let at = 1; at < copy.length; at++) copy[at] = dice.word()
        break
      default: return this.sendRaw(this.scene.server, copy.slice(0, 1 + (dice.word() % copy.length)))
    }
    this.sendRaw(this.scene.server, copy)
  }

  /** Requests authority over objects that it cannot see. */
  #grab(): void {
    const { host, peer, dice } = this
    const { truth } = this.scene.house
    if (host === undefined || peer === 0) return
    for (const [id, since] of this.#wanted) {
      const row = truth.row(truth.newest, id >>> 16)
      if (row?.id !== id || this.#hasSeen(truth, peer, id, since)) this.#wanted.delete(id)
      else hold(row.owner !== peer, 'I6', () => `was given object ${id}, which it has not seen since tick ${since}`)
    }
    const rows = truth.at(truth.newest)?.rows ?? []
    const row = rows[dice.word() % Math.max(1, rows.length)]
    if (
      row === undefined
      || !dice.chance(0.1)
      || row.owner === peer
      || sightOf(truth, truth.newest, peer, row, true).may
    )
      return
    this.#wanted.set(row.id, truth.newest)
    void host.requestAuthority(row)
  }

  /** Whether it could have seen an object in any tick since `since`, had it not been the owner. */
  #hasSeen(truth: CrowdTruth, peer: PeerId, id: number, since: Tick): boolean {
    for (let tick = since - 1; tick <= truth.newest; tick++) {
      const row = truth.row(tick, id >>> 16)
      if (row !== undefined && sightOf(truth, tick, peer, row.owner === peer ? { ...row, owner: 0 } : row, true).may)
        return true
    }
    return false
  }

  protected override send(to: string, bytes: Uint8Array, length: number): void {
    this.#keep(bytes, length)
    super.send(to, bytes, length)
  }

  protected override connect(
    now: number,
    host: ClientHost<MatchInput>,
    pass: ConnectPass,
    join: JoinRequest | undefined,
  ): Connection {
    const { addSource } = Connection.prototype
    const { dice } = this
    const { counts } = this.scene
    Connection.prototype.addSource = function bending(this: Connection, kind, source, weight) {
      const isBent = kind !== FRAME_KIND.channels || dice.chance(0.5)
      addSource.call(this, kind, isBent ? new BentSource(source, dice, () => { counts.bent++ }) : source, weight)
    }
    try {
      return super.connect(now, host, pass, join)
    } finally {
      Connection.prototype.addSource = addSource
    }
  }

  #keep(bytes: Uint8Array, length: number): void {
    if (this.#kept.length < KEPT_MAX) this.#kept.push(bytes.slice(0, length))
    else this.#kept[this.dice.word() % KEPT_MAX] = bytes.slice(0, length)
  }
}
