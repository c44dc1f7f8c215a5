/**
 * Which objects one client may know, by the rules that entities declare: the Relevance implementation with distances.
 *
 * A refresh collects object indexes from all rules into one set, reads it in ascending order with field sets and
 * weights, and compares it with the previous set: a new object has entered, a missing object has left.
 *
 *   in view within `distance` of a viewpoint; once in view, until beyond `leave`
 *
 * Invariant: an object that the client may not know has no effect on the answer, except through the rules themselves. A
 * search finds the same objects whatever else is near; order, weights and field sets depend only on each object and on
 * the viewer.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
import { FIELD_SET, type Relevance } from '../relevance.ts'
import { Eyes } from './eyes.ts'
import type { Interest, Layer } from './interest.ts'
import * as factors from './weight.ts'

// Constants of this module, for speed.
const { AUTHORITY_FACTOR_OWN, DISTANCE_FACTOR_MIN } = factors
const { all: SET_ALL, team: SET_TEAM, owner: SET_OWNER } = FIELD_SET
const CAPACITY_FIRST = 64
const NO_TICK = -1
const NONE = -1

/** The objects that one client may know, refreshed once per tick. */
export class ClientInterest implements Relevance {
  /** The client. */
  readonly peer: PeerId
  /** The peer whose view this client has: itself, or the player that it follows. Takes effect at the next refresh. */
  viewer: PeerId
  /** Whether a spectator sees all that the followed player sees; otherwise only fields of the set `all`. */
  isPrivy = true
  count = 0
  indexes: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  weights: Float32Array = new Float32Array(CAPACITY_FIRST)
  sets: Uint8Array = new Uint8Array(CAPACITY_FIRST)
  version = 0
  /** Object ids, parallel to `indexes`. */
  ids: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** Ids of objects that entered and left the view at the last refresh, ascending. */
  entered: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** How many ids `entered` has. */
  enteredCount = 0
  /** Ids of objects that left the view at the last refresh, ascending. */
  left: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** How many ids `left` has. */
  leftCount = 0
  readonly #interest: Interest
  readonly #eyes: Eyes
  /** One bit per object index: in view at the last refresh, whose round is `#round`. */
  #held: Uint32Array = new Uint32Array(CAPACITY_FIRST >>> 5)
  #round = 0
  #tick: Tick = NO_TICK
  /** Whose view the last refresh was of, and whether with all that this peer sees. */
  #viewerBefore: PeerId = NONE
  #wasPrivy = true
  /** The ids in view before this refresh, and their count. */
  #idsBefore: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  #countBefore = 0

  constructor(interest: Interest, peer: PeerId) {
    this.peer = peer
    this.viewer = peer
    this.#interest = interest
    this.#eyes = new Eyes(interest, peer)
  }

  /** @hot */
  refresh(tick: Tick): void {
    if (tick === this.#tick) return
    this.#tick = tick
    const interest = this.#interest
    interest.refresh(tick)
    if (this.#isSettled()) {
      this.enteredCount = 0
      this.leftCount = 0
      return
    }
    this.#viewerBefore = this.viewer
    this.#wasPrivy = this.isPrivy
    this.#eyes.look(this.viewer)
    interest.collected.addAll(interest.everyone)
    this.#collectOwn(this.peer)
    if (this.viewer !== this.peer && this.isPrivy) this.#collectOwn(this.viewer)
    if (this.isPrivy) this.#collectTeam()
    this.#collectWhere()
    for (let layer = 0; layer < interest.layers.length; layer++) this.#collectNear(interest.layers[layer])
    this.#reserve(interest.collected.sizeMax)
    this.#keepBefore()
    this.#readOut()
    this.#round = interest.round
    this.#compare()
  }

  /** Whether the last refresh would have the same result now. */
  #isSettled(): boolean {
    const { isByOwner, changedRound } = this.#interest
    return (
      isByOwner
      && changedRound <= this.#round
      && this.#round > 0
      && this.viewer === this.#viewerBefore
      && this.isPrivy === this.#wasPrivy
    )
  }

  /** Whether an object is in view, as of the last refresh. */
  knows(id: ObjectId): boolean {
    const index = id >>> 16
    return this.#isHeld(index) && this.#interest.ids[index] === id
  }

  #isHeld(index: number): boolean {
    const word = index >>> 5
    return (
      word < this.#held.length
      && ((this.#held[word] >>> (index & 31)) & 1) === 1
      && this.#interest.since[index] <= this.#round
    )
  }

  #collectOwn(peer: PeerId): void {
    if (peer === 0) return
    const { owners, nextOwned, collected } = this.#interest
    for (let index = this.#interest.firstOwned(peer); index !== NONE; index = nextOwned[index]) {
      if (owners[index] === peer) collected.add(index)
    }
  }

  #collectTeam(): void {
    const { team } = this.#eyes
    if (team === 0) return
    const { teamList, teamCount, teams, collected } = this.#interest
    for (let at = 0; at < teamCount; at++) if (teams[teamList[at]] === team) collected.add(teamList[at])
  }

  #collectWhere(): void {
    const { whereList, whereCount, types, kinds, collected } = this.#interest
    for (let at = 0; at < whereCount; at++) {
      const index = whereList[at]
      const rules = types[kinds[index]].where
      for (let rule = 0; rule < rules.length; rule++) {
        if (!this.#eyes.sees(rules[rule], index)) continue
        collected.add(index)
        break
      }
    }
  }

  #collectNear(layer: Layer): void {
    const { partition, rules, reach } = layer
    const { xyz, kinds, collected } = this.#interest
    const { points } = this.#eyes
    const from = points.xyz
    for (let point = 0; point < points.count; point++) {
      const found = partition.search(from, 3 * point)
      const candidates = partition.found
      for (let at = 0; at < found; at++) {
        const index = candidates[at]
        const rule = rules[kinds[index]]
        if (rule === undefined) continue
        const dx = xyz[3 * index] - from[3 * point]
        const dy = xyz[3 * index + 1] - from[3 * point + 1]
        const dz = xyz[3 * index + 2] - from[3 * point + 2]
        const limit = this.#isHeld(index) ? reach : rule.distance
        if (!(dx * dx + dy * dy + dz * dz <= limit * limit)) continue
        if (rule.hasSight && !this.#eyes.seesFrom(rule, index, point)) continue
        collected.add(index)
      }
    }
  }

  /** Empties the set into the lists, lowest index first. */
  #readOut(): void {
    const { collected, ids } = this.#interest
    const { words, summary } = collected
    let count = 0
    for (let at = 0; at < summary.length; at++) {
      let restOfSummary = summary[at]
      summary[at] = 0
      while (restOfSummary !== 0) {
        const word = (at << 5) + 31 - Math.clz32(restOfSummary & -restOfSummary)
        restOfSummary &= restOfSummary - 1
        let rest = words[word]
        words[word] = 0
        this.#held[word] = rest
        while (rest !== 0) {
          const index = (word << 5) + 31 - Math.clz32(rest & -rest)
          rest &= rest - 1
          this.indexes[count] = index
          this.ids[count] = ids[index]
          count++
        }
      }
    }
    collected.sizeMax = 0
    this.count = count
    this.#weigh()
  }

  /** Computes field sets and weights of all objects in view. */
  #weigh(): void {
    const { kinds, owners, teams, xyz, priorities, slopes } = this.#interest
    const { peer, viewer, indexes, weights, sets, count } = this
    const { isPrivy } = this
    const { points } = this.#eyes
    const team = isPrivy ? this.#eyes.team : 0
    const from = points.xyz
    const end = 3 * points.count
    let isSame = true
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      const owner = owners[index]
      const isOwn = owner !== 0 && (owner === peer || (isPrivy && owner === viewer))
      const slope = slopes[kinds[index]]
      let weight = priorities[kinds[index]]
      if (slope > 0 && end > 0) {
        let nearest = Infinity
        for (let point = 0; point < end; point += 3) {
          const dx = xyz[3 * index] - from[point]
          const dy = xyz[3 * index + 1] - from[point + 1]
          const dz = xyz[3 * index + 2] - from[point + 2]
          const distance = dx * dx + dy * dy + dz * dz
          if (distance < nearest) nearest = distance
        }
        const factor = 1 / (1 + Math.sqrt(nearest) * slope)
        weight *= factor > DISTANCE_FACTOR_MIN ? factor : DISTANCE_FACTOR_MIN
      }
      weights[at] = isOwn ? weight * AUTHORITY_FACTOR_OWN : weight
      const set = isOwn ? SET_OWNER : team !== 0 && teams[index] === team ? SET_TEAM : SET_ALL
      // If objects entered or left, positions in the lists shift too, and the version increases anyway.
      if (sets[at] !== set) isSame = false
      sets[at] = set
    }
    if (!isSame) this.version++
  }

  /** Saves the ids in view and clears their bits. */
  #keepBefore(): void {
    const { ids } = this
    for (let at = 0; at < this.count; at++) this.#held[this.indexes[at] >>> 5] = 0
    this.ids = this.#idsBefore
    this.#idsBefore = ids
    this.#countBefore = this.count
  }

  /** Both lists ascend: an id in only one of them has entered or left. */
  #compare(): void {
    const { ids, count, entered, left } = this
    const before = this.#idsBefore
    const countBefore = this.#countBefore
    let now = 0
    let then = 0
    let came = 0
    let went = 0
    while (now < count || then < countBefore) {
      if (then === countBefore || (now < count && ids[now] < before[then])) entered[came++] = ids[now++]
      else if (now === count || ids[now] > before[then]) left[went++] = before[then++]
      else {
        now++
        then++
      }
    }
    this.enteredCount = came
    this.leftCount = went
    if (came + went > 0) this.version++
  }

  /** Makes room for `need` objects in view. */
  #reserve(need: number): void {
    const wordCount = this.#interest.collected.words.length
    if (wordCount > this.#held.length) this.#held = widen(this.#held, new Uint32Array(wordCount))
    let capacity = this.indexes.length
    if (need <= capacity) return
    while (capacity < need) capacity *= 2
    this.indexes = widen(this.indexes, new Uint32Array(capacity))
    this.weights = widen(this.weights, new Float32Array(capacity))
    this.sets = widen(this.sets, new Uint8Array(capacity))
    this.ids = widen(this.ids, new Uint32Array(capacity))
    this.#idsBefore = widen(this.#idsBefore, new Uint32Array(capacity))
    this.entered = new Uint32Array(capacity)
    this.left = new Uint32Array(capacity)
  }
}
