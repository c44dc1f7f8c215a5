/**
 * Bugs to plant in lockstep: rejoin, desyncs, seals, the relay and its clients. One line each. They are hunted by the
 * matches of `lockstep-swarm.ts`, with and without a changed number, and of `rejoin-swarm.ts`.
 */

import type { Mutant } from './mutants.ts'

const BUGS: readonly Mutant[] = [
  {
    name: 'an image is passed on against its witnesses',
    file: 'core/order-relay/rejoin-desk.ts',
    find: 'if (2 * agreeing > all) this.#pass',
    replace: 'if (agreeing > 0) this.#pass',
  },
  {
    name: 'an image waits for the last of its witnesses',
    file: 'core/order-relay/rejoin-desk.ts',
    find: 'if (2 * (ask.digests.size + 1) <= all) return',
    replace: 'if (ask.digests.size + 1 < all) return',
  },
  {
    name: 'a donor has a vote on its own image',
    file: 'core/relaying/match-keeping.ts',
    find: ' && ask.witnesses.includes(peer)) ask.digests',
    replace: ') ask.digests',
  },
  {
    name: 'a silent donor is never replaced',
    file: 'core/order-relay/rejoin-desk.ts',
    find: 'if (this.#ask !== undefined && now >= this.#ask.deadline) this.#fail(now, this.#ask)',
    replace: '',
  },
  {
    name: 'a donor that failed is asked again',
    file: 'core/order-relay/rejoin-desk.ts',
    find: 'this.#failed.add(donor)\n',
    replace: '',
  },
  {
    name: 'a state has the position of the tick before',
    file: 'core/order-relay/rejoin-desk.ts',
    find: 'position: log.endOf(tick), ticks, snapshot',
    replace: 'position: log.endOf(tick - 1), ticks, snapshot',
  },
  {
    name: 'old ticks come from one byte too far',
    file: 'core/order-relay/rejoin-desk.ts',
    find: 'bytes: log.bytes.slice(position, end)',
    replace: 'bytes: log.bytes.slice(position + 1, end + 1)',
  },
  {
    name: 'a donor encodes the world of another tick',
    file: 'core/lockstep/image-donor.ts',
    find: 'history.open(wanted.tick)',
    replace: 'history.open(wanted.tick - 1)',
  },
  {
    name: 'the last slice of an image is left out',
    file: 'core/world/world-image.ts',
    find: 'if (this.#index >= highWater && !this.#out.failed) this.#finish()',
    replace: 'if (this.#index >= highWater - 1 && !this.#out.failed) this.#finish()',
  },
  {
    name: 'players of a snapshot are read as they are on the wire',
    file: 'core/lockstep/roster.ts',
    find: 'roster.#players = entries.map((entry) => Math.floor(entry / 2))',
    replace: 'roster.#players = entries',
  },
  {
    name: 'a client that jumps keeps its players',
    file: 'core/lockstep/lockstep-runner.ts',
    find: 'if (roster !== undefined) this.roster.restore(roster)\n',
    replace: 'if (roster !== undefined) this.roster.isPaused = false\n',
  },
  {
    name: 'a gap takes more bytes than it has',
    file: 'core/order/tick-log.ts',
    find: 'const count = Math.min(bytes.length, gap.end - position)',
    replace: 'const count = bytes.length',
  },
  {
    name: 'the log does not go on behind a gap',
    file: 'core/order/tick-log.ts',
    find: 'this.#ends[tick] = position\n    this.length = position\n',
    replace: 'this.#ends[tick] = position\n',
  },
  {
    name: 'old ticks are never asked for',
    file: 'core/game/lockstep-client.ts',
    find: 'if (!this.feed.log.isWhole) this.#fetchPast(now)\n',
    replace: '',
  },
  {
    name: 'a player signs orders that it has not received',
    file: 'core/lockstep/player-sealer.ts',
    find: ' || !this.#runner.feed.log.isWhole) return',
    replace: ') return',
  },
  {
    name: 'a player signs without its first orders',
    file: 'core/lockstep/player-sealer.ts',
    find: 'while (this.#done < tick) this.#add(++this.#done)',
    replace: 'while (this.#done < tick) this.#add(this.#done++ || 1)',
  },
  {
    name: 'seals are not chained',
    file: 'core/order/tick-sealer.ts',
    find: 'this.#before = this.#sha256(bytes)\n',
    replace: '',
  },
  {
    name: 'the hashes of players are not sealed',
    file: 'core/order/seal.ts',
    find: 'putNumber(bytes, 7, low, 4)\n',
    replace: '',
  },
  {
    name: 'lost bytes of the sync stream are not sent again',
    file: 'core/order/sync-stream.ts',
    find: 'if (from < to) this.#lost.push([from, to])',
    replace: '',
  },
  {
    name: 'repeated bytes of the sync stream are taken again',
    file: 'core/order/sync-stream.ts',
    find: 'const known = Math.max(0, this.#received - offset)',
    replace: 'const known = 0',
  },
  {
    name: 'arrived bytes stay in the sync stream',
    file: 'core/order/sync-stream.ts',
    find: 'this.#bytes.copyWithin(0, first[1] - this.#base, this.#end - this.#base)\n',
    replace: '',
  },
  {
    name: 'ticks that were lost are not sent again',
    file: 'core/order/ticks-frame.ts',
    find: 'this.#sentTo = this.#acked\n    this.#newestSent = this.#feed.log.tickAt(this.#acked)\n',
    replace: '',
  },
  {
    name: 'a stepped tick counts as one byte more',
    file: 'core/order/ticks-frame.ts',
    find: 'this.#acked = end\n    if (end > this.#sentTo)',
    replace: 'this.#acked = end + 1\n    if (end > this.#sentTo)',
  },
  {
    name: 'an order that was repeated is executed twice',
    file: 'core/order-relay/order-relay.ts',
    find: 'if (head.first + each > state.get(slot, FIELD.newest)) {',
    replace: 'if (head.first + each >= state.get(slot, FIELD.newest)) {',
  },
  {
    name: 'orders of a player that left stay in its slot',
    file: 'core/order-relay/order-relay.ts',
    find: 'this.#pending.forget(slot)\n',
    replace: '',
  },
  {
    name: 'pulses are never compared',
    file: 'core/order-relay/pulse-table.ts',
    find: 'if (this.#isEqual(from, before, pulse)) return 0\n',
    replace: 'if (pulse >= 0) return 0\n',
  },
  {
    name: 'the players that are right are healed',
    file: 'core/order-relay/desync-judge.ts',
    find: 'open.waiting = present.map(([peer]) => peer).filter((peer) => !isRight(peer))',
    replace: 'open.waiting = present.map(([peer]) => peer).filter(isRight)',
  },
  {
    name: 'a healed world is stepped from one tick too late',
    file: 'core/lockstep/desync/desync-agent.ts',
    find: 'for (let tick = file.tick + 1; tick <= present; tick++)',
    replace: 'for (let tick = file.tick + 2; tick <= present; tick++)',
  },
  {
    name: 'a kept world is that of the slot before',
    file: 'core/lockstep/desync/history.ts',
    find: 'this.borrow(() => this.#slots.loadInto(slot, world))',
    replace: 'this.borrow(() => this.#slots.loadInto((slot || this.#slots.count) - 1, world))',
  },
]

export const LOCKSTEP_MUTANTS: readonly Mutant[] = BUGS.map((bug) => ({ ...bug, part: 'lockstep' }))
