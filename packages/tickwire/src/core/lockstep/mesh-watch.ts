/**
 * Silence in a mesh. A player is removed only when all others agree that they have waited for it and received nothing:
 * while one of them receives its batches, that one forwards them to the others, and no player is blamed.
 *
 *   A receives nothing of B,
 *   but C does                     C forwards the batches of B to A, and those of A to B
 *   neither A nor C receives B     after 5 s both report it, with the newest batch that they have; B leaves after the
 *                                  newest of these, which they send to each other
 *   A receives nothing at all      `line-lost`: A cannot know which side is cut off
 *   two players                    `line-lost`: neither can know, and there is no loser
 *
 * A verdict is final. A peer that has reported that it receives nothing of B accepts a verdict that relies on the
 * report, although it may receive B again by then: otherwise one peer would continue with B, and the other without.
 */

import type { Millis, Tick } from '../base/time.ts'
import { END_REASONS } from '../order/tick-event.ts'
import type { MeshPeer } from './mesh-peer.ts'

/** Times of a mesh, in ms. */
export interface MeshTimes {
  /** A peer without frames for this long is silent. Default: 1000. */
  readonly silentMs: number
  /** A peer whose frames no other peer receives is removed after this time. Default: 5000. */
  readonly lostMs: number
  /** A peer that sends frames, and for whose batches all others wait, is removed after this time. Default: 30,000. */
  readonly stuckMs: number
}

const TIMES: MeshTimes = { silentMs: 1000, lostMs: 5000, stuckMs: 30_000 }
const TIMED_OUT = END_REASONS.indexOf('timed-out')
const LAGGING = END_REASONS.indexOf('lagging')

export class MeshWatch {
  readonly #self: MeshPeer
  readonly #peers: readonly MeshPeer[]
  readonly #times: MeshTimes

  constructor(self: MeshPeer, peers: readonly MeshPeer[], times: Partial<MeshTimes>) {
    this.#self = self
    this.#peers = peers
    this.#times = { ...TIMES, ...times }
  }

  /** Whether frames of a peer arrive. */
  receives(now: Millis, peer: MeshPeer): boolean {
    return peer.verdict === undefined && now - peer.frameAt < this.#times.silentMs
  }

  /** Whether every peer receives frames of every other: the match can begin. */
  areAllConnected(now: Millis): boolean {
    const all = [this.#self, ...this.#peers]
    return this.#peers.every((peer) =>
      this.receives(now, peer) && all.every(({ player }) => player === peer.player || peer.receives[player] === 1))
  }

  /** The first tick without a player that was removed, as far as it is known. */
  goneFrom(peer: MeshPeer): Tick {
    const known = this.#peers.map(({ verdicts }) => verdicts[peer.player]?.newest ?? 0)
    return Math.max(peer.verdict?.newest ?? 0, ...known) + 1
  }

  /** Looks at all peers while `tick` is waited for. */
  look(now: Millis, tick: Tick): 'ok' | 'line-lost' {
    const present = this.#peers.filter(({ goneFrom }) => tick < goneFrom)
    const isRemoved = present.some((peer) => this.receives(now, peer) && peer.verdicts[this.#self.player] !== undefined)
    if (isRemoved) return 'line-lost'
    const [first, second] = present
    if (first === undefined) return 'ok'
    if (second === undefined) return this.#isLost(now, first) || this.#isStuck(now, first) ? 'line-lost' : 'ok'
    if (this.#isLost(now, first) && this.#isSilent(now, second)) return 'line-lost'
    if (this.#isLost(now, second) && this.#isSilent(now, first)) return 'line-lost'
    this.#judge(now, first, second)
    this.#judge(now, second, first)
    return 'ok'
  }

  /** Whether `peer` is to be removed, in agreement with `other`. */
  #judge(now: Millis, peer: MeshPeer, other: MeshPeer): void {
    const theirs = other.verdicts[peer.player]
    if (peer.verdict === undefined && this.receives(now, other)) {
      const isLost = this.#isLost(now, peer) && other.receives[peer.player] === 0
      const isStuck = this.#isStuck(now, peer)
      const isJoined = theirs !== undefined && this.#mayJoin(now, peer)
      if (!isLost && !isStuck && !isJoined) return
      peer.log.dropPart()
      peer.verdict = { reason: isLost ? TIMED_OUT : theirs?.reason ?? LAGGING, newest: peer.log.newest }
    }
    if (peer.verdict === undefined || theirs === undefined) return
    peer.goneReason = Math.min(peer.verdict.reason, theirs.reason)
    peer.goneFrom = Math.min(peer.goneFrom, this.goneFrom(peer))
  }

  #isSilent(now: Millis, peer: MeshPeer): boolean {
    return now - peer.frameAt >= this.#times.lostMs
  }

  #isLost(now: Millis, peer: MeshPeer): boolean {
    return this.#isSilent(now, peer) && now - peer.blockedAt >= this.#times.silentMs
  }

  #isStuck(now: Millis, peer: MeshPeer): boolean {
    return now - peer.blockedAt >= this.#times.stuckMs
  }

  /** This peer has reported, or can report, that it does not receive what it needs. */
  #mayJoin(now: Millis, peer: MeshPeer): boolean {
    const { lostMs, silentMs } = this.#times
    return now - peer.deniedAt < 2 * lostMs || now - peer.blockedAt >= silentMs
  }
}
