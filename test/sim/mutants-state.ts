/**
 * Bugs to plant in the layers that carry state: worlds, Timelines, replication, interest, prediction, inputs, calls,
 * rooms. One line each.
 */

import type { Mutant } from './mutants.ts'

export const STATE_MUTANTS: readonly Mutant[] = [
  {
    name: 'rows that a stalled host sent too near to each other are taken for a pair',
    file: 'core/replication/encode/delta-cache.ts',
    find: 'return base === tick - strideTicks ||',
    replace: 'return base >= tick - strideTicks ||',
  },
  {
    name: 'baseline promoted one tick too far',
    file: 'core/replication/client/client-objects.ts',
    find: 'this.#numbers[at] = tick\n',
    replace: 'this.#numbers[at] = tick + 1\n',
  },
  {
    name: 'baselines of a former object at the index are used',
    file: 'core/replication/client/client-objects.ts',
    find: 'if (this.stateOf(index) !== STATE_KNOWN || tick < this.#numbers[at | EPOCH] || tick',
    replace: 'if (this.stateOf(index) !== STATE_KNOWN || tick',
  },
  {
    name: 'a lost row is not due again',
    file: 'core/replication/client/client-objects.ts',
    find: 'this.#numbers[at | SENT] = state === STATE_LEAVING ? NONE : this.#numbers[at]',
    replace: 'if (state === STATE_LEAVING) this.#numbers[at | SENT] = NONE',
  },
  {
    name: 'an object that left is forgotten before the ack',
    file: 'core/replication/client/client-objects.ts',
    find: 'this.#setState(index, STATE_LEAVING)\n',
    replace: 'this.#setState(index, STATE_NONE)\n',
  },
  {
    name: 'an object enters with its former baseline',
    file: 'core/replication/client/client-objects.ts',
    find: 'this.#numbers[index << 2] = NO_BASE\n',
    replace: '',
  },
  {
    name: 'a late leave removes a newer object',
    file: 'core/replication/snapshot-sink.ts',
    find: 'if (held.ids[index] === 0 || tick <= held.receivedAt[index]) {',
    replace: 'if (held.ids[index] === 0) {',
  },
  {
    name: 'a row from before its floor is a baseline',
    file: 'core/replication/snapshot-sink.ts',
    find: 'const isBased = id !== 0 && baseTick > held.floors[index] &&',
    replace: 'const isBased = id !== 0 &&',
  },
  {
    name: 'an undecodable snapshot is acked',
    file: 'core/replication/snapshot-sink.ts',
    find: "? 'broken' : 'no-ack'",
    replace: "? 'broken' : 'ok'",
  },
  {
    name: 'a late row replaces a newer one',
    file: 'core/replication/snapshot-sink.ts',
    find: 'if (tick <= held.receivedAt[index] || tick <= held.floors[index]) {',
    replace: 'if (tick <= held.floors[index]) {',
  },
  {
    name: 'a rest is sent with its own tick',
    file: 'core/replication/snapshot-sink.ts',
    find: 'timeline.put(tick - 1, type, id, this.#baseOwner, this.#base, 0)',
    replace: 'timeline.put(tick - 1, type, id, this.#baseOwner, this.#row, 0)',
  },
  {
    name: 'the owner of a row is the newest one',
    file: 'core/replication/snapshot-sink.ts',
    find: 'kind === KIND.deltaOwned ? owner : this.#baseOwner',
    replace: 'owner',
  },
  {
    name: 'a change of owner does not count as a change',
    file: 'core/replication/changes/change-marks.ts',
    find: 'const set = isOwned ? 0 :',
    replace: 'const set = isBorn ? 0 :',
  },
  {
    name: 'rested is sent for an object that moved',
    file: 'core/replication/changes/change-marks.ts',
    find: '(this.changed[at] === this.tick ? this.before[at] : this.changed[at]) <= since',
    replace: 'this.before[at] <= since',
  },
  {
    name: "every client gets the owner's fields",
    file: 'core/replication/interest/client-interest.ts',
    find: 'const set = isOwn ? SET_OWNER : team !== 0 && teams[index] === team ? SET_TEAM : SET_ALL',
    replace: 'const set = isOwn ? SET_OWNER : team !== 0 ? SET_TEAM : SET_ALL',
  },
  {
    name: 'view reaches further than it may',
    file: 'core/replication/interest/client-interest.ts',
    find: 'const limit = this.#isHeld(index) ? reach : rule.distance',
    replace: 'const limit = reach * 1.2',
  },
  {
    name: 'far objects stay in view',
    file: 'core/replication/interest/client-interest.ts',
    find: 'if (!(dx * dx + dy * dy + dz * dz <= limit * limit)) continue',
    replace: 'if (!this.#isHeld(index) && !(dx * dx + dy * dy + dz * dz <= limit * limit)) continue',
  },
  {
    name: 'spectators get private fields',
    file: 'core/game/spectators.ts',
    find: 'interest.isPrivy = this.#isPrivy\n',
    replace: '',
  },
  {
    name: 'a row older than the window is kept',
    file: 'core/world/timeline.ts',
    find: 'if (tick <= this.newest - this.windowTicks) return false\n    const index',
    replace: 'const index',
  },
  {
    name: 'the Timeline forgets one row too many',
    file: 'core/world/timeline.ts',
    find: 'if (reference === 0 || neighbour?.[index] === reference) continue',
    replace: 'if (reference === 0) continue',
  },
  {
    name: 'rates are out of phase',
    file: 'core/world/rate-latch.ts',
    find: 'if (isDue(tick, index, spans[span + 2])) continue',
    replace: 'if (isDue(tick + 1, index, spans[span + 2])) continue',
  },
  {
    name: 'mispredictions are overlooked',
    file: 'core/predict/predictor.ts',
    find: 'else this.#mistakenAt = Math.min(this.#mistakenAt, tick)\n',
    replace: '',
  },
  {
    name: 'rolled back one tick too far',
    file: 'core/predict/predictor.ts',
    find: 'this.past.load(tick)\n    this.#objects.applyReceived(tick)',
    replace: 'this.past.load(tick + 1)\n    this.#objects.applyReceived(tick)',
  },
  {
    name: 'a digest confirms whatever it says',
    file: 'core/predict/predictor.ts',
    find: 'if (this.past.digest(tick, this.#digestLanes) === digest) {',
    replace: 'if (this.past.digest(tick, this.#digestLanes) !== -1) {',
  },
  {
    name: 'despawned objects are predicted on',
    file: 'core/predict/predicted-objects.ts',
    find: 'if (handle?.id === id && !this.#wasThere(tick, handle.$store.type, id)) world.unseat(handle)\n',
    replace: '',
  },
  {
    name: 'quantum ignored where rows are compared',
    file: 'core/predict/owned-lanes.ts',
    find: 'if (rows[at + lanes[each]] !== otherRows[otherAt + lanes[each]]) return false',
    replace: 'if (Math.abs(rows[at + lanes[each]] - otherRows[otherAt + lanes[each]]) > 8) return false',
  },
  {
    name: 'an input is used a tick late',
    file: 'core/time/input-buffer.ts',
    find: 'const at = this.#ring.at(tick)\n    this.#takeValues(at)',
    replace: 'const at = this.#ring.at(tick - 1)\n    this.#takeValues(at)',
  },
  {
    name: 'a call is accepted from a client that is not the owner',
    file: 'core/rpc/rpc-line.ts',
    find: "(rpc.by === 'owner' ? owner !== this.#peer : object !== 0 && owner < 0)",
    replace: '(object !== 0 && owner < 0)',
  },
  {
    name: 'a call runs twice',
    file: 'core/rpc/rpc-line.ts',
    find: "if (received.kind !== 'ask') return\n    if (outcome.isOk)",
    replace:
      "if (received.kind !== 'ask') { if (received.tick % 16 === 0) "
      + 'this.#handlers.run(rpc, values, { from: this.#from, tick, object }); return }\n    if (outcome.isOk)',
  },
  {
    name: 'any client may write shared objects',
    file: 'core/replication/authority/accepted-writes.ts',
    find: 'const writer = this.#writers.get(owner)\n',
    replace:
      'const writer = this.#writers.get(owner) ?? [...this.#writers.values()]'
      + '.find(({ timeline }) => timeline.changedAt(id) > this.#ticks[index])\n',
  },
  {
    name: 'the former writer writes on',
    file: 'core/replication/authority/accepted-writes.ts',
    find: 'until = Math.min(until, since - 1)',
    replace: 'until = Math.min(until, since)',
  },
  {
    name: 'authority is granted over objects out of view',
    file: 'core/game/shared-authority.ts',
    find: ' || !sees(peer.id, id)) return REFUSED',
    replace: ') return REFUSED',
  },
  {
    name: 'objects of a player that left stay',
    file: 'core/game/authority.ts',
    find: 'if (handle.owner === peer.id && this.shared',
    replace: 'if (handle.owner === -1 && this.shared',
  },
  {
    name: 'a ticket is valid twice',
    file: 'core/rooms/room-door.ts',
    find: 'else if (!room.seats.accepts(seat, ticket.serial)) this.tickets.spent++',
    replace: '',
  },
  {
    name: 'a resumed player has another id',
    file: 'core/rooms/room-door.ts',
    find: 'const welcome = this.#welcome(room, seat.peer, serial, true)',
    replace: 'const welcome = this.#welcome(room, seat.peer + 1, serial, true)',
  },
]
