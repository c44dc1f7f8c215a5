/** Marks in the layers that carry state: replication, interest, authority, prediction, inputs, calls, rooms. */

import type { MarkedFile } from './marks.ts'

export const STATE_MARKS: readonly MarkedFile[] = [
  [
    'core/replication/client/client-objects.ts',
    [
      [
        'an object enters the view again before its leave is acknowledged',
        'const mayHold = this.stateOf(index) !== STATE_NONE',
        'this.stateOf(index) === STATE_LEAVING',
      ],
      [
        'an index is sent again under another id',
        'const mayHold = this.stateOf(index) !== STATE_NONE',
        'this.isKnown(index, this.ids[index]) && this.ids[index] !== id',
      ],
      [
        'an object is sent with another field set',
        'this.#words[index] &= ~(SET_MASK | PAIRED | OVERTAKEN',
        'this.stateOf(index) === STATE_KNOWN && this.setOf(index) !== set',
      ],
      [
        'an object changes its field set while a row is in flight',
        'this.#words[index] &= ~(SET_MASK | PAIRED | OVERTAKEN',
        'this.stateOf(index) === STATE_KNOWN && this.setOf(index) !== set && this.sentOf(index) > this.baseOf(index)',
      ],
      ['an object leaves view', 'this.#setState(index, STATE_LEAVING)\n', '!isDespawned'],
      ['an object in view dies', 'this.#setState(index, STATE_LEAVING)\n', 'isDespawned'],
      // #region mark
      [
        'an object leaves view while a row is in flight',
        'this.#setState(index, STATE_LEAVING)\n',
        '!isDespawned && this.sentOf(index) > this.baseOf(index)',
      ],
      // #endregion
      [
        'an object leaves view before anything of it is acknowledged',
        'this.#setState(index, STATE_LEAVING)\n',
        'this.baseOf(index) === NO_BASE',
      ],
      [
        'an object leaves view before anything of it is sent',
        'if ((this.#words[index] & MAY_HOLD) === 0) {',
        '(this.#words[index] & MAY_HOLD) === 0',
      ],
      [
        'a row of a former object at the index is acknowledged',
        'if (this.stateOf(index) !== STATE_KNOWN || tick < this.#numbers[at | EPOCH] ||',
        'this.stateOf(index) === STATE_KNOWN && tick < this.#numbers[at | EPOCH]',
      ],
      [
        'a row is acknowledged after its object has left',
        'if (this.stateOf(index) !== STATE_KNOWN || tick < this.#numbers[at | EPOCH] ||',
        'this.stateOf(index) === STATE_LEAVING',
      ],
      [
        'an older row is acknowledged after a newer',
        'if (this.stateOf(index) !== STATE_KNOWN || tick < this.#numbers[at | EPOCH] ||',
        'this.stateOf(index) === STATE_KNOWN && tick >= this.#numbers[at | EPOCH] && tick < base',
      ],
      [
        'a leave is acknowledged after its object is back',
        'if (this.stateOf(index) !== STATE_LEAVING || tick <',
        'this.stateOf(index) === STATE_KNOWN',
      ],
      [
        'a leave is lost',
        'this.#numbers[at | SENT] = state === STATE_LEAVING ?',
        'state === STATE_LEAVING',
      ],
      [
        'a first row is lost',
        'this.#numbers[at | SENT] = state === STATE_LEAVING ?',
        'state === STATE_KNOWN && this.#numbers[at] === NO_BASE',
      ],
      [
        'a delta is lost',
        'this.#numbers[at | SENT] = state === STATE_LEAVING ?',
        'state === STATE_KNOWN && this.#numbers[at] !== NO_BASE',
      ],
      [
        'a row is lost that was already sent again',
        'if (state === STATE_NONE || tick < this.#numbers[at | EPOCH] ||',
        'state !== STATE_NONE && tick >= this.#numbers[at | EPOCH] && this.#numbers[at | SENT] > tick',
      ],
      [
        'a row is lost whose object changed its view meanwhile',
        'if (state === STATE_NONE || tick < this.#numbers[at | EPOCH] ||',
        'tick < this.#numbers[at | EPOCH]',
      ],
    ],
  ],
  ['core/replication/client/due-list.ts', [['not all rows fit', 'this.isShort = this.count > 1 &&', 'wasShort']]],
  [
    'core/replication/snapshot-sink.ts',
    [
      ['a snapshot overtakes another', 'if (tick > this.tick) this.tick = tick', 'tick < this.tick'],
      ['a snapshot cannot be read', 'this.undecodableCount++', 'true'],
      [
        'a leave arrives late',
        'if (held.ids[index] === 0 || tick <= held.receivedAt[index]) {',
        'held.ids[index] !== 0 && tick <= held.receivedAt[index]',
      ],
      [
        'an object leaves that was never known',
        'if (held.ids[index] === 0 || tick <= held.receivedAt[index]) {',
        'held.ids[index] === 0',
      ],
      [
        'a full row is requested',
        'if (held.ids[index] !== 0 && tick > held.receivedAt[index]) this.wanted.ask',
        'held.ids[index] !== 0 && tick > held.receivedAt[index]',
      ],
      [
        'a delta arrives for an object that has left',
        'if (held.ids[index] !== 0 && tick > held.receivedAt[index]) this.wanted.ask',
        'held.ids[index] === 0',
      ],
      [
        'a full row arrives late',
        'if (tick <= held.receivedAt[index] || tick <= held.floors[index]) {',
        'tick <= held.receivedAt[index]',
      ],
      [
        'a full row arrives for an object that has left',
        'if (tick <= held.receivedAt[index] || tick <= held.floors[index]) {',
        'tick <= held.floors[index] && tick > held.receivedAt[index]',
      ],
      ['a delta arrives late', 'if (!isNews) {', '!isNews'],
      ['a rest ends', 'if (isRested) this.#rest(', 'isRested'],
      [
        'a baseline is older than what is remembered',
        'if (at < 0 && held.namedTicks[index] === tick) {',
        'at < 0 && held.namedTicks[index] === tick',
      ],
      ['an object changes its field set by a full row', 'held.unname(index)\n', 'true'],
    ],
  ],
  [
    'core/replication/interest/client-interest.ts',
    [
      ["a client looks through another's eyes", 'this.#eyes.look(this.viewer)', 'this.viewer !== this.peer'],
      [
        'an object stays in view beyond the distance of entry',
        'if (!(dx * dx + dy * dy + dz * dz <= limit * limit)) continue',
        'dx * dx + dy * dy + dz * dz <= limit * limit && dx * dx + dy * dy + dz * dz > rule.distance * rule.distance',
      ],
      [
        'an object is near, and not near enough to enter the view',
        'if (!(dx * dx + dy * dy + dz * dz <= limit * limit)) continue',
        '!this.#isHeld(index) && dx * dx + dy * dy + dz * dz > limit * limit '
          + '&& dx * dx + dy * dy + dz * dz <= reach * reach',
      ],
    ],
  ],
  [
    'core/replication/authority/accepted-writes.ts',
    [
      ['a written row is accepted', 'this.acceptedCount++\n', 'true'],
      [
        'a row of the former writer is accepted after a transfer',
        'this.acceptedCount++\n',
        'to < this.#world.tick',
      ],
    ],
  ],
  [
    'core/replication/authority/written-rows.ts',
    [
      [
        'a client writes an object of another owner',
        'if (!this.#world.stores[type].isShared || owner !== this.peer) refusals.forged++',
        '!this.#world.stores[type].isShared || owner !== this.peer',
      ],
      [
        'a row is written after its token was transferred',
        'if (!this.#world.stores[type].isShared || owner !== this.peer) refusals.forged++',
        'this.#world.objects.isAlive(id) && this.#book.writerAt(id, tick) !== this.peer',
      ],
    ],
  ],
  ['core/replication/authority/claim-book.ts', [['a token is transferred', 'this.transfers++\n', 'true']]],
  [
    'core/game/shared-authority.ts',
    [
      ['authority is refused', 'if (!isGranted) return REFUSED', '!isGranted'],
      ['authority is taken from another player', 'this.#world.setOwner(handle, peer)', 'handle.owner !== 0'],
      ['the server inherits an object', 'this.#world.setOwner({ id })\n    return true', 'true'],
    ],
  ],
  [
    'core/predict/predictor.ts',
    [
      ['a misprediction', 'if (this.#mistakenAt !== NEVER) this.rollbacks++', 'this.#mistakenAt !== NEVER'],
      [
        'a predicted spawn is confirmed',
        'if (this.#mistakenAt !== NEVER) this.rollbacks++',
        'this.#matchedAt !== NEVER',
      ],
      [
        'a misprediction from before what is confirmed',
        'if (this.#mistakenAt !== NEVER) this.rollbacks++',
        'tick < this.confirmed',
      ],
      ['prediction restarts', 'this.restarts++\n', 'this.isRunning'],
      [
        'prediction catches up with the authority after a stall',
        'const last = Math.min(target, this.receivedTick + this.windowTicks - 1)',
        'this.receivedTick > this.world.tick',
      ],
      ['prediction waits for the authority', 'this.isStalled = last < target', 'last < target'],
      ['a digest corrects what rows did not', 'this.#objects.keepReceived(tick)', 'true'],
    ],
  ],
  [
    'core/predict/predicted-objects.ts',
    [
      ['a predicted object gets its id', 'this.spawnsMatched++\n', 'true'],
      [
        'a predicted object was never spawned',
        'if (indexOf(handle.id) >= world.objects.provisionalFrom) this.spawnsRefuted++',
        'indexOf(handle.id) >= world.objects.provisionalFrom',
      ],
    ],
  ],
  ['core/predict/truth.ts', [['an own object is gone', 'this.#goneIds.push(id)', 'true']]],
  [
    'core/time/fixed-loop.ts',
    [['a host that stalled runs several ticks at once', 'this.skippedTicks += behind - run', 'run > 1']],
  ],
  [
    'core/game/paced-source.ts',
    [
      [
        'a snapshot is sent off its grid',
        'this.#begun = this.#tick()',
        'this.#begun >= 0 && this.#tick() % this.#period !== 0',
      ],
    ],
  ],
  [
    'core/time/input-buffer.ts',
    [
      ['an input is missing', 'if (this.#newest >= 0) this.starvedTicks++', 'this.#newest >= 0'],
      ['an input arrives late', 'if (tick <= this.#position.tick) {', 'tick <= this.#position.tick'],
      ['an input arrives again', 'if (this.#ring.has(tick)) {', 'this.#ring.has(tick)'],
    ],
  ],
  [
    'core/rpc/rpc-line.ts',
    [
      ['a call by a client that is not the owner', 'refusals.notOwner++\n', 'true'],
      ['a call runs', 'const outcome = this.#handlers.run', 'true'],
    ],
  ],
  [
    'core/world/timeline.ts',
    [
      [
        'a row is older than what is remembered',
        'if (tick <= this.newest - this.windowTicks) return false\n    const index',
        'tick <= this.newest - this.windowTicks',
      ],
      [
        'an object dies and its index is free',
        'references[index] = 0\n    this.#changedAt[index] = this.newest',
        'true',
      ],
    ],
  ],
  [
    'core/world/rate-latch.ts',
    [
      [
        'a field is held back by its rate',
        'if (isDue(tick, index, spans[span + 2])) continue',
        '!isDue(tick, index, spans[span + 2])',
      ],
    ],
  ],
  [
    'core/game/spectators.ts',
    [
      [
        'the followed player has left',
        'interest.viewer = this.#authority.peers[0]?.id ?? peer',
        'interest.viewer !== peer',
      ],
    ],
  ],
  ['core/game/authority.ts', [['a player leaves', "this.#code.must('game.onLeave'", 'true']]],
  [
    'core/rooms/room-door.ts',
    [
      ['a seat is resumed', 'room.seats.promise(seat, serial)', 'true'],
      [
        'a seat is resumed while the old connection is open',
        'room.seats.promise(seat, serial)',
        "seat.state === 'taken'",
      ],
      [
        'a ticket arrives too late',
        'if (ticket === undefined) this.tickets.forged++',
        'ticket !== undefined && seat === undefined',
      ],
    ],
  ],
  [
    'core/rooms/hosted-room.ts',
    [
      ['a seat is reserved', 'occupant.lost = reason', 'true'],
      [
        'a reserved seat is given up',
        'if (occupant !== undefined) this.#remove(occupant, occupant.lost)',
        'occupant !== undefined',
      ],
    ],
  ],
]
