/** Marks in paths, packet relays, R-Type sessions, and services. */

import type { MarkedFile } from './marks.ts'

const PATHS: readonly MarkedFile[] = [
  [
    'core/nat/relay-client.ts',
    [
      [
        'a relay is asked again after a refusal',
        "if (this.state === 'refused' && now >= this.#askAt) this.state = 'asking'",
        "this.state === 'refused' && now >= this.#askAt",
      ],
      [
        'a relay that is silent is asked at once',
        'if (this.isSilent(now) && this.#refreshAt > now + RELAY_RETRY_MS) this.#refreshAt = now',
        'this.isSilent(now) && this.#refreshAt > now + RELAY_RETRY_MS',
      ],
      ['a relay asks for a proof of an address', 'this.#cookie = answer.cookie.slice()', '!this.isReady'],
      ['a peer that moved proves its address', 'this.#cookie = answer.cookie.slice()', 'this.isReady'],
      [
        'a relay says that it is about to close',
        "if (answer.kind === RELAY_KIND.moving) this.state = 'moving'",
        'answer.kind === RELAY_KIND.moving',
      ],
      ['a relay has forgotten an allocation', "this.state = 'asking'\n    this.#askAt = now\n    this.#idLo", 'true'],
      [
        'a relay sees a peer at another address',
        "if (answer.seen !== '') this.seen = answer.seen",
        "this.seen !== '' && answer.seen !== '' && answer.seen !== this.seen",
      ],
    ],
  ],
  [
    'core/nat/path-race.ts',
    [
      ['a direct path is found', 'this.direct = from\n', "this.state !== 'direct'"],
      ['a faster direct path is found', 'this.direct = from\n', "this.state === 'direct'"],
      ['a direct path falls silent', "this.#apply(now, 'silent')", 'true'],
      ['a race ends without a path', "this.#apply(now, 'over')", 'true'],
      ['a probe comes from an address that was not announced', 'this.#learnt++\n', 'true'],
      [
        'an answer comes from another port than was asked',
        'if (!isKnown || this.#sentTo[transaction',
        'isKnown && this.#sentTo[transaction % TRANSACTIONS_KEPT] !== from',
      ],
      [
        'a peer that is relayed gets a probe',
        "if (this.state === 'relayed') this.#apply(now, 'again')",
        "this.state === 'relayed'",
      ],
    ],
  ],
  [
    'core/nat/peer-port.ts',
    [
      ['a challenge is answered by the path that it came by', 'this.send(link.challengedBy, bytes, length)', 'true'],
      [
        'data goes by the standby relay',
        "if (client.state === 'ready' && !client.isSilent(this.#now)) return index",
        "index > 0 && client.state === 'ready' && !client.isSilent(this.#now)",
      ],
      ['data goes by a relay that does not answer', 'fallback = index\n', 'true'],
    ],
  ],
  [
    'core/nat/relay-desk.ts',
    [
      ['an allocation moves to another address', 'this.#counts.moved++', 'true'],
      [
        'the answer to an Allocate was lost',
        'if (taken !== undefined && taken === known) return',
        'taken !== undefined && taken === known',
      ],
      [
        'a token is shown at two addresses',
        "if (taken !== undefined) return this.#error('quota', out)",
        'taken !== undefined',
      ],
      [
        'a relay that drains refuses a peer',
        "if (this.isDraining) return this.#error('draining', out)",
        'this.isDraining',
      ],
      [
        'a Bind names an allocation of another match',
        'if (peer === undefined || peer.session !== allocation.session || peer === allocation)',
        'peer !== undefined && peer.session !== allocation.session',
      ],
      ['both peers have bound each other', 'binding.peerChannel = back.channel', 'true'],
      ['a channel is used again', 'const index = free < 0 ? bindings.length : free', 'free >= 0'],
    ],
  ],
  [
    'core/nat/packet-relay.ts',
    [
      [
        'a stranger sends data to a relay',
        'if (sender === undefined || now >= sender.expiresAt) {',
        'sender === undefined',
      ],
      [
        'data comes for a peer that is gone',
        'if (binding === undefined || binding.peerChannel === 0 || binding.peer.isGone) {',
        'binding !== undefined && binding.peer.isGone',
      ],
      ['a relay drops a foreign packet', 'this.counts.foreign++', 'true'],
    ],
  ],
  ['core/nat/allocations.ts', [['an allocation expires', 'this.remove(allocation)\n      count++', 'true']]],
]

const RTYPE: readonly MarkedFile[] = [
  [
    'core/rtype-session/server.ts',
    [
      ['a full R-Type server rejects a client', 'return { code: REJECT.SERVER_FULL', 'true'],
      [
        'an R-Type client that was accepted finds no seat',
        'if (before !== undefined) this.#seats.set(before.peer.address, before)',
        'true',
      ],
      ['an R-Type client comes from another address', "this.#events.add(0, { kind: 'join', peer, replaces:", 'isSame'],
      ['an R-Type input arrives late', "if (isStale) return this.#drop('stale')", 'isStale'],
      [
        'an R-Type client that leaves is still acknowledged',
        "if (typeof last !== 'string') acknowledge(seat.link, last.packet)",
        "typeof last !== 'string'",
      ],
      [
        'a silent R-Type client is removed',
        'if (isSilent) this.#remove(now, seat, RTYPE.DISCONNECT.TIMEOUT, true)',
        'isSilent',
      ],
      ['an R-Type rejection waits for more bytes', 'keep(this.#credits, to, credit, RTYPE_CREDITS_MAX)', 'true'],
      ['an R-Type guest is forgotten', 'this.#guests.delete(address)', 'true'],
    ],
  ],
  [
    'core/rtype-session/link.ts',
    [
      ['an R-Type packet is sent again', 'this.resent++', 'true'],
      [
        'a copy of an R-Type packet is acknowledged again',
        "if (freshness !== 'new') return 'copy'",
        "freshness !== 'new'",
      ],
    ],
  ],
  [
    'core/rtype-session/world-stream.ts',
    [
      ['an entity leaves the sight of an R-Type client', 'viewer.known.delete(entityId)\n', 'true'],
      ['a component disappears', 'known.components.delete(name)\n', 'true'],
      ['an R-Type client that is back gets full states', 'if (viewer.needsFull) {', 'viewer.needsFull'],
      ['an empty delta is sent', 'base.hasDelta = changed.length > 0', 'changed.length === 0'],
    ],
  ],
  [
    'core/rtype-session/client.ts',
    [['an R-Type server ends a client', 'this.endReason = packet.reason', 'true']],
  ],
]

const SERVICES: readonly MarkedFile[] = [
  [
    'services/store/memory-leases.ts',
    [
      [
        'a lease is taken',
        "if (before !== undefined && before.owner !== owner) return 'taken'",
        'before !== undefined && before.owner !== owner',
      ],
      ['a lease gets a new owner', 'const number = before?.number ??', 'before === undefined'],
      [
        'a renewal finds its lease gone',
        "if (held?.owner !== owner || !isTtl(ttlMs)) return 'gone'",
        'held?.owner !== owner',
      ],
    ],
  ],
  [
    'services/fleet/matchmaker.ts',
    [
      ['a group gets no seats', 'this.counts.failed++', 'true'],
      [
        'a ticket is grouped twice',
        "if (typeof put !== 'number' && put !== 'taken') continue",
        "put === 'taken'",
      ],
      [
        'an assignment cannot be written',
        "if (typeof put !== 'number' && put !== 'taken') continue",
        "put === 'unavailable'",
      ],
      ['another instance leads', "this.#leads = typeof lead === 'number' ? lead : 0", "lead === 'taken'"],
    ],
  ],
  [
    'services/fleet/game-servers.ts',
    [
      [
        'a game server is silent and gone',
        'if (age > (isStoreAway ? STALE_MS_MAX : SERVER_TTL_MS)) this.#known.delete(id)',
        'age > (isStoreAway ? STALE_MS_MAX : SERVER_TTL_MS)',
      ],
      [
        'a list of game servers is old',
        'for (const [id, { reportedAt, readAt }] of this.#known) {',
        'isStoreAway',
      ],
    ],
  ],
  [
    'services/track/listings.ts',
    [
      ['a listing is published', 'const answer = await this.#put(id, { listing, lease, origin })', 'true'],
      ['a listing is gone', 'isChanged = true\n      if (!this.#removed', 'true'],
      ['the list of games is old', 'const isOld = performance.now() - this.#readAt', 'true'],
    ],
  ],
  [
    'services/rendezvous/sessions.ts',
    [
      [
        'a host takes its code back from a rendezvous that lost it',
        'return this.#add(now, ip, description, proof.session, proof.code, proof.key)',
        'true',
      ],
    ],
  ],
  [
    'core/rooms/reservations.ts',
    [['seats are asked for twice', 'if (known !== undefined) return known.answer', 'known !== undefined']],
  ],
  [
    'node/fleet-moves.ts',
    [
      ['a room moves to another game server', 'rooms.release(now(), room)\n      log(', 'true'],
      ['a room that cannot move runs on', 'wake()\n    return isMoved', '!isMoved'],
      [
        'a game server claims its room back',
        "if (claimed !== 'unknown') return claimed === 'taken'",
        "claimed === 'ours'",
      ],
      [
        'a room has moved, and the answer was lost',
        "if (claimed !== 'unknown') return claimed === 'taken'",
        "claimed === 'taken'",
      ],
      [
        'a room arrives at a game server that may not have it',
        "if (claimed !== 'ours') return 'not-claimed'",
        "claimed !== 'ours'",
      ],
    ],
  ],
  [
    'node/fleet-member.ts',
    [
      [
        'an old leader is refused',
        "if (leader !== undefined && !(Number(leader) >= this.#leader)) return { refused: 'old-leader' }",
        'leader !== undefined && !(Number(leader) >= this.#leader)',
      ],
      [
        'a request for seats is read too late',
        "if (!(Number(deadlineMs) > waitedMs)) return { refused: 'late' }",
        '!(Number(deadlineMs) > waitedMs)',
      ],
    ],
  ],
]

export const SERVICE_MARKS: readonly MarkedFile[] = [...PATHS, ...RTYPE, ...SERVICES]
