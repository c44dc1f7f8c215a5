/** Places of interest in what carries state: replication, interest, authority, prediction, inputs, calls, rooms. */

import type { MarkedFile } from './marks.ts'

export const STATE_MARKS: readonly MarkedFile[] = [
  ['core/replication/told-objects.ts', [
    ['an object comes back into view before its leaving is known', 'const mayHold = this.states[index] !== UNKNOWN', 'this.states[index] === LEAVING'],
    ['an index is told of again under another id', 'const mayHold = this.states[index] !== UNKNOWN', 'this.states[index] === KNOWN && this.ids[index] !== id'],
    ['an object is told with other fields', 'this.sets[index] = set\n', 'this.states[index] === KNOWN && this.sets[index] !== set'],
    ['an object gets other fields while a row of it is on its way', 'this.sets[index] = set\n', 'this.states[index] === KNOWN && this.sets[index] !== set && this.sents[index] > this.bases[index]'],
    ['an object leaves view', 'this.states[index] = LEAVING\n', '!isDespawned'],
    ['an object in view dies', 'this.states[index] = LEAVING\n', 'isDespawned'],
    // #region mark
    ['an object leaves view while a row of it is on its way', 'this.states[index] = LEAVING\n', '!isDespawned && this.sents[index] > this.bases[index]'],
    // #endregion
    ['an object leaves view before anything of it is acknowledged', 'this.states[index] = LEAVING\n', 'this.bases[index] === FROM_INITIAL'],
    ['an object leaves view before anything of it is sent', 'if ((this.flags[index] & MAY_HOLD) === 0) {', '(this.flags[index] & MAY_HOLD) === 0'],
    ['a row of a life before is acknowledged', 'if (this.states[index] !== KNOWN || tick < this.epochs[index]) return', 'this.states[index] === KNOWN && tick < this.epochs[index]'],
    ['a row is acknowledged after its object has left', 'if (this.states[index] !== KNOWN || tick < this.epochs[index]) return', 'this.states[index] === LEAVING'],
    ['an older row is acknowledged after a newer', 'if (tick <= base) return', 'tick < base'],
    ['a leaving is known after its object is back', 'if (this.states[index] === LEAVING && tick >= this.epochs[index])', 'this.states[index] === KNOWN'],
    ['the word that somebody left is lost', 'const isLeaving = this.states[index] === LEAVING', 'this.states[index] === LEAVING'],
    ['a first row is lost', 'const isLeaving = this.states[index] === LEAVING', 'this.states[index] === KNOWN && this.bases[index] === FROM_INITIAL'],
    ['a change is lost', 'const isLeaving = this.states[index] === LEAVING', 'this.states[index] === KNOWN && this.bases[index] !== FROM_INITIAL'],
    ['a row is lost that was sent anew already', 'if (tick < this.epochs[index] || this.sents[index] !== tick) return', 'tick >= this.epochs[index] && this.sents[index] > tick'],
    ['a row is lost whose object changed its view meanwhile', 'if (tick < this.epochs[index] || this.sents[index] !== tick) return', 'tick < this.epochs[index]'],
  ]],
  ['core/replication/due-list.ts', [['not everything fits', 'this.isShort = this.count > 1 &&', 'wasShort']]],
  ['core/replication/snapshot-sink.ts', [
    ['a snapshot overtakes another', 'if (tick > this.tick) this.tick = tick', 'tick < this.tick'],
    ['a snapshot cannot be read', 'this.undecodableCount++', 'true'],
    ['the word that somebody left comes late', 'if (held.ids[index] === 0 || tick <= held.tellings[index]) {', 'held.ids[index] !== 0 && tick <= held.tellings[index]'],
    ['somebody leaves who was never known', 'if (held.ids[index] === 0 || tick <= held.tellings[index]) {', 'held.ids[index] === 0'],
    ['a row is asked for in full', 'if (held.ids[index] !== 0 && tick > held.tellings[index]) this.wanted.ask', 'held.ids[index] !== 0 && tick > held.tellings[index]'],
    ['a change comes of who has left', 'if (held.ids[index] !== 0 && tick > held.tellings[index]) this.wanted.ask', 'held.ids[index] === 0'],
    ['a full row comes late', 'if (tick <= held.tellings[index] || tick <= held.floors[index]) {', 'tick <= held.tellings[index]'],
    ['a full row comes of who has left', 'if (tick <= held.tellings[index] || tick <= held.floors[index]) {', 'tick <= held.floors[index] && tick > held.tellings[index]'],
    ['a change comes late', 'if (!isNews) {', '!isNews'],
    ['a rest ends', 'if (isRested) this.#rest(', 'isRested'],
    ['a baseline is older than what is remembered', 'if (at < 0 && held.namedTicks[index] === tick) {', 'at < 0 && held.namedTicks[index] === tick'],
    ['an object gets other fields, told whole', 'held.unname(index)\n', 'true'],
  ]],
  ['core/replication/interest/client-interest.ts', [
    ['somebody looks through another\'s eyes', 'this.#eyes.look(this.viewer)', 'this.viewer !== this.peer'],
    ['somebody stays in view beyond where he came in', 'if (!(dx * dx + dy * dy + dz * dz <= limit * limit)) continue', 'dx * dx + dy * dy + dz * dz <= limit * limit && dx * dx + dy * dy + dz * dz > rule.distance * rule.distance'],
    ['somebody is near, and not near enough to come in', 'if (!(dx * dx + dy * dy + dz * dz <= limit * limit)) continue', '!this.#isHeld(index) && dx * dx + dy * dy + dz * dz > limit * limit && dx * dx + dy * dy + dz * dz <= reach * reach'],
  ]],
  ['core/replication/authority/accepted-writes.ts', [
    ['a written row is taken', 'this.acceptedCount++\n', 'true'],
    ['a row of the writer before is taken after the token went on', 'this.acceptedCount++\n', 'to < this.#world.tick'],
  ]],
  ['core/replication/authority/written-rows.ts', [
    ['somebody writes what is not his', 'if (!this.#world.stores[type].isShared || owner !== this.peer) refusals.forged++', '!this.#world.stores[type].isShared || owner !== this.peer'],
    ['a row is written after its token went on', 'if (!this.#world.stores[type].isShared || owner !== this.peer) refusals.forged++', 'this.#world.objects.isAlive(id) && this.#book.writerAt(id, tick) !== this.peer'],
  ]],
  ['core/replication/authority/token-book.ts', [['a token goes on', 'this.transfers++\n', 'true']]],
  ['core/game/shared-authority.ts', [
    ['authority is refused', 'if (!isGranted) return REFUSED', '!isGranted'],
    ['authority is taken from another player', 'this.#world.setOwner(handle, peer)', 'handle.owner !== 0'],
    ['the server inherits', 'this.#world.setOwner({ id })\n    return true', 'true'],
  ]],
  ['core/predict/predictor.ts', [
    ['a misprediction', 'if (this.#mistakenAt !== NEVER) this.rollbacks++', 'this.#mistakenAt !== NEVER'],
    ['a predicted birth is told of', 'if (this.#mistakenAt !== NEVER) this.rollbacks++', 'this.#matchedAt !== NEVER'],
    ['a misprediction from before what is confirmed', 'if (this.#mistakenAt !== NEVER) this.rollbacks++', 'tick < this.confirmed'],
    ['prediction begins anew', 'this.restarts++\n', 'this.isRunning'],
    ['prediction waits for the authority', 'this.isStalled = last < target', 'last < target'],
    ['a digest sets right what rows did not', 'this.#objects.keepTold(tick)', 'true'],
  ]],
  ['core/predict/predicted-objects.ts', [
    ['a predicted object gets its id', 'this.spawnsMatched++\n', 'true'],
    ['a predicted object was never born', 'if (indexOf(handle.id) >= world.objects.provisionalFrom) this.spawnsRefuted++', 'indexOf(handle.id) >= world.objects.provisionalFrom'],
  ]],
  ['core/predict/truth.ts', [
    ['what was ours is gone', 'this.#goneIds.push(id)', 'true'],
  ]],
  ['core/time/input-buffer.ts', [
    ['an input is missing', 'if (this.#newest >= 0) this.starvedTicks++', 'this.#newest >= 0'],
    ['an input comes late', 'if (tick <= this.#position.tick) {', 'tick <= this.#position.tick'],
    ['an input comes again', 'if (this.#ring.has(tick)) {', 'this.#ring.has(tick)'],
  ]],
  ['core/rpc/rpc-line.ts', [
    ['a call of who is no owner', 'refusals.notOwner++\n', 'true'],
    ['a call runs', 'const outcome = this.#handlers.run', 'true'],
  ]],
  ['core/world/timeline.ts', [
    ['a row is older than what is remembered', 'if (tick <= this.newest - this.windowTicks) return false\n    const index', 'tick <= this.newest - this.windowTicks'],
    ['an object dies and its index is free', 'references[index] = 0\n    this.#changedAt[index] = this.newest', 'true'],
  ]],
  ['core/world/rate-latch.ts', [['a field is held back by its rate', 'if (isDue(tick, index, spans[span + 2])) continue', '!isDue(tick, index, spans[span + 2])']]],
  ['core/game/spectators.ts', [['who was followed has left', 'interest.viewer = this.#authority.peers[0]?.id ?? peer', 'interest.viewer !== peer']]],
  ['core/game/authority.ts', [['a player leaves', 'this.game.onLeave?.(this.world, peer)', 'true']]],
  ['core/game/rooms/room-door.ts', [
    ['a seat is asked for again', 'const serial = mint.drawSerial()\n      const welcome', 'true'],
    ['a seat is asked for again while the old line lives', 'const serial = mint.drawSerial()\n      const welcome', "seat.state === 'taken'"],
    ['a ticket comes too late', 'if (ticket === undefined) this.tickets.forged++', 'ticket !== undefined && seat === undefined'],
  ]],
  ['core/game/rooms/room.ts', [
    ['a seat is kept', 'occupant.lost = reason', 'true'],
    ['a kept seat is given up', "if (was === 'held' && occupant !== undefined)", "was === 'held'"],
  ]],
]
