/** Marks in lockstep: the order relay, its clients, rejoin, seals, desyncs, handover and meshes. */

import type { MarkedFile } from './marks.ts'

export const LOCKSTEP_MARKS: readonly MarkedFile[] = [
  [
    'core/order-relay/order-relay.ts',
    [
      [
        'an order arrives again',
        'if (head.first + each > state.get(slot, FIELD.newest)) {',
        'head.first + each <= state.get(slot, FIELD.newest)',
      ],
      ['orders arrive with a gap', 'if (head.count > 0 && head.first > newest + 1)', 'head.first > newest + 1'],
      ['a player of a relay is gone', 'this.#pending.forget(slot)\n', 'true'],
      [
        'a player claims an order to be older than it is',
        'if (this.line.isSuspect) this.counts.clamped++',
        'this.line.isSuspect',
      ],
      ['a relay stood still', 'if (now - times[1] > STALL_MS) {', 'now - times[1] > STALL_MS'],
      ['a player counts as away', 'if (wasAway !== (away !== 0))', '!wasAway && away !== 0'],
    ],
  ],
  [
    'core/order-relay/rejoin-desk.ts',
    [
      [
        'an image has the witnesses that it needs',
        'if (2 * agreeing > all) this.#pass',
        '2 * agreeing > all',
      ],
      [
        'an image has witnesses against it',
        'if (2 * agreeing > all) this.#pass',
        'agreeing <= ask.digests.size',
      ],
      [
        'a donor is silent',
        'if (this.#ask !== undefined && now >= this.#ask.deadline) this.#fail(now, this.#ask)',
        'this.#ask !== undefined && now >= this.#ask.deadline',
      ],
      ['another donor is asked', 'this.#failed.add(donor)\n', 'true'],
    ],
  ],
  [
    'core/order-relay/pulse-table.ts',
    [
      [
        'two clients report different worlds',
        'if (this.#isEqual(from, before, pulse)) return 0\n',
        '!this.#isEqual(from, before, pulse)',
      ],
    ],
  ],
  [
    'core/order-relay/desync-judge.ts',
    [
      [
        'players are to be healed',
        'open.waiting = present.map(([peer]) => peer).filter((peer) => !isRight(peer))',
        'true',
      ],
    ],
  ],
  [
    'core/order-relay/handover-desk.ts',
    [
      ['a claim is invalid', 'if (claimant.claim === undefined) this.#refuse(peer)', 'claimant.claim === undefined'],
      [
        'a client claims its seat after the match went on',
        'const claim = this.#evidence({ relayKey }, message)\n',
        'true',
      ],
      ['players hold different ticks', 'if (most === undefined || most.length < need', 'next !== undefined'],
      [
        'a handover has too few players',
        "this.stage = 2 * there > present.length ? 'fetching' : 'failed'",
        '2 * there <= present.length',
      ],
      ['a holder of old ticks is silent', 'if (isDue) this.#failed.add(fetch.peer)', 'isDue'],
      ['old ticks of a match are checked by the next relay', 'const isRight = log.receive(fetch.bytes, 0,', 'true'],
    ],
  ],
  [
    'core/order/sync-stream.ts',
    [
      ['bytes of a sync stream are lost', 'if (from < to) this.#lost.push([from, to])', 'from < to'],
      [
        'bytes of a sync stream arrive again',
        'const known = Math.max(0, this.#received - offset)',
        'offset < this.#received',
      ],
    ],
  ],
  [
    'core/order/ticks-frame.ts',
    [['ticks are sent again', 'this.#sentTo = this.#acked\n    this.#newestSent', 'true']],
  ],
  [
    'core/order/tick-log.ts',
    [
      ['a log goes on behind a gap', 'this.#ends[tick] = position\n    this.length = position\n', 'true'],
      ['old ticks fill a gap', 'const count = Math.min(bytes.length, gap.end - position)', 'true'],
    ],
  ],
  ['core/order/tick-sealer.ts', [['a relay seals ticks', 'this.#before = this.#sha256(bytes)\n', 'true']]],
  [
    'core/lockstep/player-sealer.ts',
    [['a player signs its orders', 'while (this.#done < tick) this.#add(++this.#done)', 'true']],
  ],
  [
    'core/lockstep/lockstep-runner.ts',
    [
      [
        'a client jumps to the world of another',
        'if (roster !== undefined) this.roster.restore(roster)\n',
        'roster !== undefined',
      ],
    ],
  ],
  [
    'core/lockstep/desync/desync-agent.ts',
    [['a healed world is stepped to the present', 'for (let tick = file.tick + 1; tick <= present; tick++)', 'true']],
  ],
  [
    'core/lockstep/desync/history.ts',
    [['a kept world is loaded again', 'this.borrow(() => this.#slots.loadInto(slot, world))', 'true']],
  ],
  [
    'core/game/lockstep-client.ts',
    [
      [
        'a client lacks the ticks before its image',
        'if (!this.feed.log.isWhole) this.#fetchPast(now)\n',
        '!this.feed.log.isWhole',
      ],
    ],
  ],
  [
    'core/replay/match-recorder.ts',
    [
      ['the disk of a recorder is full', 'this.#refusedAt = Math.min(this.#refusedAt, now)', 'true'],
      ['a recording has a gap', 'this.#gap = undefined\n', 'true'],
    ],
  ],
  [
    'core/lockstep/mesh-feed.ts',
    [
      [
        'a batch of a removed player arrives',
        'if (peer.verdict !== undefined && last >= this.watch.goneFrom(peer)) return true',
        'peer.verdict !== undefined',
      ],
    ],
  ],
  [
    'core/lockstep/mesh-watch.ts',
    [
      ['a peer of a mesh is removed', 'peer.verdict = { reason:', 'true'],
      ['a peer of a mesh learns that it is removed', "if (isRemoved) return 'line-lost'", 'isRemoved'],
      [
        'a peer of a mesh receives nothing at all',
        "if (this.#isLost(now, first) && this.#isSilent(now, second)) return 'line-lost'",
        'this.#isLost(now, first) && this.#isSilent(now, second)',
      ],
    ],
  ],
]
