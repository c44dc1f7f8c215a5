/**
 * Bugs to plant in paths and packet relays, in R-Type sessions, in handover and meshes, and in services. One line each.
 * Each is hunted by the worlds of its part.
 */

import type { Mutant } from './mutants.ts'

const PATHS: readonly Omit<Mutant, 'part'>[] = [
  {
    name: 'a relay that refused is never asked again',
    file: 'core/nat/relay-client.ts',
    find: "this.#askAt = error === 'token' ? Infinity : now + RELAY_AGAIN_MS",
    replace: 'this.#askAt = Infinity',
  },
  {
    name: 'a forgotten allocation is kept',
    file: 'core/nat/relay-client.ts',
    find: "} else if (transaction === this.#refreshed && error === 'unknown') this.#begin(now)",
    replace: '}',
  },
  {
    name: 'a silent relay counts as alive',
    file: 'core/nat/relay-client.ts',
    find: 'return this.isReady && now - Math.max(this.#receivedAt, this.#watchedAt) >= PATH_SILENCE_MS',
    replace: 'return now < 0',
  },
  {
    name: 'a silent direct path is kept',
    file: 'core/nat/path-race.ts',
    find: 'if (now >= this.#answeredAt + PATH_SILENCE_MS) {',
    replace: 'if (now >= this.#answeredAt + 1e9) {',
  },
  {
    name: 'a path that was given up is still used',
    file: 'core/nat/path-race.ts',
    find: "if (this.state !== 'direct') {\n      this.direct = ''",
    replace: "if (this.state === 'idle') {\n      this.direct = ''",
  },
  {
    name: 'an answer from any port proves a path',
    file: 'core/nat/path-race.ts',
    find: 'if (!isKnown || this.#sentTo[transaction % TRANSACTIONS_KEPT] !== from) return',
    replace: 'if (!isKnown) return',
  },
  {
    name: 'the wrong peer of a relay is sent to',
    file: 'core/nat/packet-relay.ts',
    find: 'out.to = binding.peer.address\n',
    replace: 'out.to = from\n',
  },
  {
    name: 'a relay forwards one byte too few',
    file: 'core/nat/packet-relay.ts',
    find: 'out.to = binding.peer.address\n    out.length = length',
    replace: 'out.to = binding.peer.address\n    out.length = length - 1',
  },
  {
    name: 'a Bind may name an allocation of another match',
    file: 'core/nat/relay-desk.ts',
    find: 'if (peer === undefined || peer.session !== allocation.session || peer === allocation)',
    replace: 'if (peer === undefined || peer === allocation)',
  },
  {
    name: 'one side of a binding is enough',
    file: 'core/nat/relay-desk.ts',
    find: 'const back = peer.bindingTo(allocation)\n    if (back === undefined) return binding\n',
    replace: 'const back = peer.bindingTo(allocation) ?? binding\n',
  },
  {
    name: 'allocations never expire',
    file: 'core/nat/allocations.ts',
    find: 'if (now < allocation.expiresAt && now < allocation.endsAt) continue',
    replace: 'if (now < allocation.expiresAt * 2) continue',
  },
  {
    name: 'an allocation keeps its old address when it moves',
    file: 'core/nat/allocations.ts',
    find: '    allocation.address = address\n    allocation.origin = origin\n',
    replace: '    allocation.origin = origin\n',
  },
]

const RTYPE: readonly Omit<Mutant, 'part'>[] = [
  {
    name: 'an R-Type packet is not sent again',
    file: 'core/rtype-session/link.ts',
    find: 'if (now - entry.sentAt < this.#resendMs) continue',
    replace: 'if (now - entry.sentAt < 1e9) continue',
  },
  {
    name: 'a copy of an R-Type packet is delivered',
    file: 'core/rtype-session/link.ts',
    find: "if (freshness !== 'new') return 'copy'",
    replace: '',
  },
  {
    name: 'an R-Type packet of another client is taken',
    file: 'core/rtype-session/server.ts',
    find: 'return guest !== undefined && isAnswer && packet.playerId === guest.peer.playerId',
    replace: 'return guest !== undefined && isAnswer',
  },
  {
    name: 'one R-Type seat too many is given',
    file: 'core/rtype-session/server.ts',
    find: 'if (this.#seats.size >= this.#maxPlayers || this.#guard',
    replace: 'if (this.#seats.size > this.#maxPlayers || this.#guard',
  },
  {
    name: 'old R-Type inputs are used',
    file: 'core/rtype-session/server.ts',
    find: 'seat.inputSequence !== undefined && !isNewer32(header.sequence, seat.inputSequence)',
    replace: 'false',
  },
  {
    name: 'silent R-Type clients keep their seats',
    file: 'core/rtype-session/server.ts',
    find: 'now - seat.heartbeatAt >= this.#timeoutMs || seat.link.unackedMs(now) >= this.#timeoutMs',
    replace: 'false',
  },
  {
    name: 'a rejection is sent at once',
    file: 'core/rtype-session/server.ts',
    find: 'if (credit >= REJECT_BYTES) return',
    replace: 'if (credit >= 0) return',
  },
  {
    name: 'an entity out of sight is not destroyed',
    file: 'core/rtype-session/world-stream.ts',
    find: "put({ type: 'ENTITY_DESTROY', entityId, destroyReason, posX: x, posY: y })",
    replace: "if (entityId % 2 === 0) put({ type: 'ENTITY_DESTROY', entityId, destroyReason, posX: x, posY: y })",
  },
  {
    name: 'a delta has no end',
    file: 'core/rtype-session/world-stream.ts',
    find: 'if (changed.length === 0 && !base.hasDelta) return',
    replace: 'if (changed.length === 0) return',
  },
]

const SERVICES: readonly Omit<Mutant, 'part'>[] = [
  {
    name: 'a lease is given to a second owner',
    file: 'services/store/memory-leases.ts',
    find: "if (before !== undefined && before.owner !== owner) return 'taken'",
    replace: '',
  },
  {
    name: 'leases never expire',
    file: 'services/store/memory-leases.ts',
    find: 'return held !== undefined && held.expiresAt > now ? held : undefined',
    replace: 'return held',
  },
  {
    name: 'a renewal does not lengthen a lease',
    file: 'services/store/memory-leases.ts',
    find: '{ ...held, expiresAt: now + ttlMs }',
    replace: '{ ...held }',
  },
  {
    name: 'leases follow the wall clock',
    file: 'services/store/memory-leases.ts',
    find: 'return performance.timeOrigin + performance.now()',
    replace: 'return Date.now()',
  },
  {
    name: 'numbers of owners begin again',
    file: 'services/store/memory-leases.ts',
    find: '(this.#number = Math.max(Math.floor(now) * 1000, this.#number + 1))',
    replace: '(this.#number = Math.floor(now) % 60_000)',
  },
  {
    name: 'a ticket gets a second room',
    file: 'services/fleet/matchmaker.ts',
    find: "leases.put('seat', assignmentOf(id), owner,",
    replace: "leases.put('seat', assignmentOf(id), this.#options.instance,",
  },
  {
    name: 'an old leader gets seats',
    file: 'node/fleet-member.ts',
    find: "if (leader !== undefined && !(Number(leader) >= this.#leader)) return { refused: 'old-leader' }",
    replace: '',
  },
  {
    name: 'a draining server gives seats',
    file: 'node/fleet-member.ts',
    find: 'this.#isLeaving || isFull ? rooms',
    replace: 'isFull ? rooms',
  },
  {
    name: 'a room runs before its server has claimed it',
    file: 'node/fleet-moves.ts',
    find: "if (claimed === 'ours') rooms.unfreeze(room)",
    replace: "if (claimed !== 'taken') rooms.unfreeze(room)",
  },
  {
    name: 'a server that gets no answer keeps its room',
    file: 'node/fleet-moves.ts',
    find: "if (claimed !== 'unknown') return claimed === 'taken'",
    replace: 'if (claimed !== undefined) return false',
  },
  {
    name: 'a server that died is listed for minutes',
    file: 'services/fleet/game-servers.ts',
    find: "put('server', server.id, server.identity, text, SERVER_TTL_MS)",
    replace: "put('server', server.id, server.identity, text, SERVER_TTL_MS * 20)",
  },
  {
    name: 'a request for seats is answered anew',
    file: 'core/rooms/reservations.ts',
    find: 'if (known !== undefined) return known.answer',
    replace: '',
  },
  {
    name: 'a lost listing is not published again',
    file: 'services/track/listings.ts',
    find: "if (stored === undefined) return 'gone'",
    replace: "if (stored === undefined) return 'unavailable'",
  },
  {
    name: 'a result that was not stored is acknowledged',
    file: 'node/fleet-results.ts',
    find: 'if (status === 200 || isRefused) {',
    replace: 'if (status !== 0) {',
  },
  {
    name: 'a code does not survive its rendezvous',
    file: 'services/rendezvous/sessions.ts',
    find: 'return this.#add(now, ip, description, proof.session, proof.code, proof.key)',
    replace: "return 'refused'",
  },
]

const MATCHES: readonly Omit<Mutant, 'part'>[] = [
  {
    name: 'one holder of a tick is enough',
    file: 'core/order-relay/handover-desk.ts',
    find: 'const need = Math.min(2, present.length)',
    replace: 'const need = 1',
  },
  {
    name: 'old ticks of a match are not checked by the next relay',
    file: 'core/order-relay/handover-desk.ts',
    find: '&& isAtCheckpoint(log, checkpoint, new TickChain(this.#parts.match, this.#parts.sha256))',
    replace: '',
  },
  {
    name: 'one player is enough for a handover',
    file: 'core/order-relay/handover-desk.ts',
    find: "this.stage = 2 * there > present.length ? 'fetching' : 'failed'",
    replace: "this.stage = there > 0 ? 'fetching' : 'failed'",
  },
  {
    name: 'a holder that is silent is never replaced',
    file: 'core/order-relay/handover-desk.ts',
    find: 'if (isDue) this.#failed.add(fetch.peer)',
    replace: '',
  },
  {
    name: 'ticks of the next relay are taken before its answer',
    file: 'core/order/ticks-frame.ts',
    find: "if (this.isHeld) return 'no-ack'",
    replace: '',
  },
]

const MESHES: readonly Omit<Mutant, 'part'>[] = [
  {
    name: 'every peer of a mesh counts itself as the first player',
    file: 'core/lockstep/mesh-feed.ts',
    find: 'filter(({ goneFrom }) => tick < goneFrom).sort((a, b) => a.player - b.player)',
    replace: 'filter(({ goneFrom }) => tick < goneFrom)',
  },
  {
    name: 'repeated bytes of a batch are taken again',
    file: 'core/lockstep/mesh-feed.ts',
    find: 'log.receive(bytes, known, length - known, last)',
    replace: 'log.receive(bytes, 0, length, last)',
  },
  {
    name: 'every peer of a mesh announces the deadline to itself',
    file: 'core/lockstep/mesh-feed.ts',
    find: 'this.#merge.merge(tick, present, this.#lead(tick), first)',
    replace: 'this.#merge.merge(tick, present, this.player, first)',
  },
  {
    name: 'batches of a silent peer are not forwarded',
    file: 'core/lockstep/mesh-feed.ts',
    find: 'if (peer === to || to.receives[peer.player] === 1) continue',
    replace: 'if (peer !== this.self) continue',
  },
  {
    name: 'a removed player ends where each peer has lost it',
    file: 'core/lockstep/mesh-watch.ts',
    find: 'return Math.max(peer.verdict?.newest ?? 0, ...known) + 1',
    replace: 'return (peer.verdict?.newest ?? Math.max(0, ...known)) + 1',
  },
  {
    name: 'one peer of a mesh removes another alone',
    file: 'core/lockstep/mesh-watch.ts',
    find: `if (peer.verdict === undefined || theirs === undefined) return
    peer.goneReason = Math.min(peer.verdict.reason, theirs.reason)
`,
    replace: `if (peer.verdict === undefined) return
    peer.goneReason = peer.verdict.reason
`,
  },
  {
    name: 'batches that were lost are not sent again',
    file: 'core/lockstep/mesh-link.ts',
    find: 'this.#next.set(this.peer.held)\n',
    replace: '',
  },
]

const of = (part: NonNullable<Mutant['part']>, mutants: readonly Omit<Mutant, 'part'>[]): readonly Mutant[] =>
  mutants.map((mutant) => ({ ...mutant, part }))

export const SERVICE_MUTANTS: readonly Mutant[] = [
  ...of('path', PATHS), ...of('rtype', RTYPE), ...of('services', SERVICES), ...of('handover', MATCHES),
  ...of('mesh', MESHES),
]
