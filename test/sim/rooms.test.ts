import { describe, expect, test } from 'vitest'
import { bool, defineGame, entity, fixed, message, text, u8, where, type Game, type Member, type Room } from 'tickwire'
import { decodeJoin, encodeJoin } from '../../packages/tickwire/src/core/game/rooms/join-body.ts'
import { Guest, Party } from './rooms-party.ts'

const Player = entity({ x: fixed(0, 1000, 0.1) })
const Chat = message({ text: text(40) })
const INPUT = { right: bool }

function makeGame(tickRate = 30): Game<typeof INPUT> {
  return defineGame({
    tickRate,
    input: INPUT,
    entities: [Player],
    messages: [Chat],
    onJoin: (world, peer) => world.spawn(Player, { x: 10 }, peer),
    step(world, inputs) {
      // Only the authority hears it.
      if (inputs.messages(Chat).some(({ values }) => values.text === 'boom')) throw new Error('boom')
      for (const player of world.each(Player)) if (inputs.of(player.owner).right) player.x += 1
    },
  })
}

const game = makeGame()
const other = makeGame(20)
const seen = (guest: Guest<typeof INPUT>): number => [...guest.host.view.each(Player)].length
const ticketOf = (guest: Guest<typeof INPUT>): Uint8Array => guest.host.seat!.ticket

describe('rooms', () => {
  test('[ROOM1] many matches behind one endpoint: each sees its own, different games side by side', () => {
    const party = new Party({ duel: { game, capacity: 2 }, walk: { game: other, capacity: 4 } })
    const duelists = [0, 1, 2].map(() => party.ask(game, { quick: 'duel' }))
    const walkers = [0, 1].map(() => party.ask(other))
    party.run(1500)
    expect(party.host.rooms.map(({ typeName, seats: { players } }) => [typeName, players])).toEqual([['duel', 2], ['duel', 1], ['walk', 2]])
    expect(duelists.map(seen)).toEqual([2, 2, 1])
    expect(walkers.map(seen)).toEqual([2, 2])
    expect(new Set(duelists.map(({ host }) => host.seat!.room)).size).toBe(2)
    walkers[0]!.host.sampleInput = () => ({ right: true })
    party.run(500)
    expect(Math.max(...[...walkers[1]!.host.view.each(Player)].map(({ x }) => x))).toBeGreaterThan(12)
    expect([...duelists[0]!.host.view.each(Player)].map(({ x }) => x)).toEqual([10, 10])
  })

  test('[ROOM2] by id, by code, by filter, made on demand; locked, full and unknown rooms say so', () => {
    const party = new Party({ duel: { game, capacity: 2, spectators: 1, metadata: { map: 'dust' } }, fixed: { game: other, mayCreate: false } })
    const made = party.host.create('duel', { isPrivate: true })
    const open = party.host.create('duel', { metadata: { map: 'ice' } })
    const asked = {
      code: party.ask(game, { code: made.code.toLowerCase() }),
      id: party.ask(game, { room: open.id }),
      filter: party.ask(game, { quick: 'duel', filter: { map: 'ice' } }),
      full: party.ask(game, { room: open.id }),
      looksOn: party.ask(game, { room: open.id, role: 'spectator' }),
      secret: party.ask(game, { create: 'duel', isPrivate: true, metadata: { map: 'mud' } }),
      unknown: party.ask(game, { room: 'NOWHERE' }),
      wrongGame: party.ask(other, { room: open.id }),
      forbidden: party.ask(other, { create: 'fixed' }),
      noType: party.ask(game, { quick: 'poker' }),
    }
    party.run(1000)
    expect(asked.code.host.seat!.room).toBe(made.id)
    expect([asked.id, asked.filter, asked.looksOn].map(({ host }) => host.seat?.room)).toEqual([open.id, open.id, open.id])
    expect(asked.full.closed).toEqual({ by: 'protocol', code: 'full' })
    expect([asked.unknown, asked.wrongGame, asked.noType].map(({ closed }) => closed?.code)).toEqual(['no-room', 'no-room', 'no-room'])
    expect(asked.forbidden.closed).toEqual({ by: 'protocol', code: 'refused' })
    const secret = party.host.room(asked.secret.host.seat!.room)!
    expect([secret.isPrivate, secret.metadata, secret.code.length]).toEqual([true, { map: 'mud' }, 8])
    expect(party.host.list().map(({ id }) => id), 'private rooms are in no list').toEqual([open.id])
    expect(party.host.list({ metadata: { map: 'dust' } })).toEqual([])
    // Who looks on sees, and is not seen.
    expect(seen(asked.looksOn)).toBe(2)
    expect([open.peers.length, open.members.map(({ role }) => role)]).toEqual([2, ['player', 'player', 'spectator']])
    made.isLocked = true
    const late = party.ask(game, { room: made.id })
    party.run(500)
    expect(late.closed).toEqual({ by: 'protocol', code: 'locked' })
    expect(party.host.door.counts).toMatchObject({ full: 1, 'no-room': 3, refused: 1, locked: 1, seated: 5 })
  })

  test('[ROOM3] onAuth may take its time: the seat is reserved meanwhile, and free again when it says no', async () => {
    const waiting: ((user: unknown) => void)[] = []
    const joined: unknown[] = []
    const party = new Party({
      duel: {
        game, capacity: 2, onAuth: () => new Promise((resolve) => { waiting.push(resolve) }),
        onJoin: (_room, { user }) => joined.push(user),
      },
    })
    const room = party.host.create('duel')
    const [a, b, c] = [0, 1, 2].map(() => party.ask(game, { room: room.id }))
    await party.runAsync(300)
    expect([room.seats.players, waiting.length, c!.closed?.code, a!.peer]).toEqual([2, 2, 'full', 0])
    // Longer than a challenge is fresh: he has asked for another meanwhile.
    await party.runAsync(3000)
    expect([room.seats.players, waiting.length]).toEqual([2, 2])
    waiting[0]!({ name: 'ann' })
    waiting[1]!(false)
    await party.runAsync(600)
    expect([a!.peer, b!.closed]).toEqual([1, { by: 'protocol', code: 'refused' }])
    expect([room.seats.players, joined]).toEqual([1, [{ name: 'ann' }]])
    expect(room.members).toMatchObject([{ id: 1, user: { name: 'ann' }, role: 'player' }])
  })

  test('[ROOM4] coming and going: hooks in order, kick, end, and rooms that nobody is in', () => {
    const told: string[] = []
    const note = (what: string) => (_room: Room, member: Member, reason?: { code: string }): void => { told.push(`${what} ${member.id}${reason ? ` ${reason.code}` : ''}`) }
    const party = new Party({
      duel: {
        game, capacity: 4, emptyMs: 2000, onCreate: (room) => { room.on(Chat, (said, from) => room.broadcast(Chat, { text: `${from.id}: ${said.text}` })) },
        onJoin: note('join'), onLeave: note('leave'), onAway: note('away'), onBack: note('back'), onEnd: () => told.push('end'),
      },
    })
    const [a, b, c] = [0, 1, 2].map(() => party.ask(game))
    const heard: string[] = []
    b!.host.on(Chat, (said) => heard.push(said.text))
    party.run(500)
    a!.host.send(Chat, { text: 'hi' })
    party.run(100)
    a!.host.close(party.now)
    party.run(300)
    expect(heard).toEqual(['1: hi'])
    const [room] = party.host.rooms
    room!.kick(party.now, { id: 2 })
    party.run(300)
    expect([b!.closed, told]).toEqual([{ by: 'peer', code: 'kicked' }, ['join 1', 'join 2', 'join 3', 'leave 1 left', 'leave 2 kicked']])
    room!.end()
    party.run(300)
    expect([c!.closed, told.at(-1), party.host.rooms.length]).toEqual([{ by: 'peer', code: 'ended' }, 'end', 0])
    const d = party.ask(game)
    party.run(300)
    d.host.close(party.now)
    party.run(1500)
    expect(party.host.rooms.length).toBe(1)
    party.run(1000)
    expect([party.host.rooms.length, party.host.counts]).toEqual([0, { created: 2, ended: 2, faults: 0 }])
  })

  test('[ROOM5] what a room throws ends that room, is told, and touches no other', () => {
    const Eye = entity({ x: u8 }, { interest: where(() => { throw new Error('eye') }) })
    const watched = defineGame({ tickRate: 30, input: { go: bool }, entities: [Eye], onJoin: (world, peer) => world.spawn(Eye, { x: 1 }, peer), step: () => {} })
    const party = new Party({
      duel: { game, capacity: 2, onCreate: (room) => { room.on(Chat, ({ text: said }) => { if (said === 'heard') throw new Error(said) }) } },
      joins: { game: other, onJoin: () => { throw new Error('join') } },
      eye: { game: watched, capacity: 2 },
    })
    const steps = [0, 1].map(() => party.ask(game))
    party.run(300)
    const listens = [0, 1].map(() => party.ask(game))
    const [calm] = [party.ask(game)]
    const joins = party.ask(other)
    const eyes = [0, 1].map(() => party.ask(watched))
    party.run(500)
    steps[0]!.host.send(Chat, { text: 'boom' })
    listens[0]!.host.send(Chat, { text: 'heard' })
    party.run(500)
    const fault = { by: 'peer', code: 'fault' }
    expect([...steps, ...listens, joins, ...eyes].map(({ closed }) => closed)).toEqual(Array(7).fill(fault))
    expect(party.faults.toSorted()).toEqual(['duel: Error: boom', 'duel: Error: heard', 'eye: Error: eye', 'joins: Error: join'])
    expect([calm!.closed, seen(calm!), party.host.rooms.length]).toEqual([undefined, 1, 1])
  })

  test('[ROOM6] bytes that are no request are refused, requests come back as they were said, and what is too long throws', () => {
    for (const join of [
      { quick: 'duel' }, { quick: 'duel', filter: { map: 'eis', mode: 'ç' } }, { room: 'ABC' }, { code: 'K7', role: 'spectator' as const },
      { create: 'duel', metadata: {} }, { create: 'duel', metadata: { a: '1' }, isPrivate: true as const }, { resume: new Uint8Array(28).fill(7) },
    ]) expect(decodeJoin(encodeJoin(join))).toEqual(join)
    expect(decodeJoin(new Uint8Array(0))).toEqual({})
    expect(() => encodeJoin({ quick: 'x'.repeat(63) })).toThrow('join')
    expect(() => encodeJoin({ resume: new Uint8Array(3) })).toThrow('join.resume: has 3 bytes')
    expect(decodeJoin(encodeJoin({ create: 'a', metadata: JSON.parse('{"__proto__":"x"}') as Record<string, string> }))).toEqual({ create: 'a', metadata: JSON.parse('{"__proto__":"x"}') as unknown })
    for (const bytes of [[9, 0], [0], [1, 2, 0], [1, 0, 5, 65], [5, 0, 1], [0, 0, 1, 255], [0, 0, 0, 1, 65], [1, 0, 1, 65, 0]]) {
      expect(decodeJoin(new Uint8Array(bytes)), `${bytes}`).toBeUndefined()
    }
  })
})

describe('coming back', () => {
  test('[SEAT3] who reloads sits where he sat: the same number, his objects where they stood, from any address', () => {
    const back: number[] = []
    const party = new Party({ duel: { game, capacity: 1, onBack: (_room, { id }) => back.push(id) } })
    const first = party.ask(game)
    first.host.sampleInput = () => ({ right: true })
    party.run(1000)
    const [room] = party.host.rooms
    const x = (): number => [...room!.world.each(Player)][0]!.x
    const before = x()
    const object = [...room!.world.each(Player)][0]!.id
    party.unplug(first as never)
    const again = party.ask(game, { resume: ticketOf(first) })
    party.run(1000)
    expect([again.peer, again.host.seat!.isBack, again.host.seat!.room, back]).toEqual([1, true, room!.id, [1]])
    expect([...room!.world.each(Player)].map(({ id, owner }) => [id, owner])).toEqual([[object, 1]])
    expect(x()).toBeGreaterThanOrEqual(before)
    again.host.sampleInput = () => ({ right: true })
    const there = x()
    party.run(500)
    expect(x(), 'and he plays on').toBeGreaterThan(there + 5)
    expect(again.host.predictor!.confirmed).toBeGreaterThan(5)
  })

  test('[SEAT4] a seat is kept for a while and no longer; meanwhile nobody has it, and he holds nothing', () => {
    const told: string[] = []
    const party = new Party({
      duel: { game, capacity: 1, resumeMs: 4000, emptyMs: Infinity, onAway: () => told.push('away'), onLeave: (_room, _member, { code }) => told.push(`leave ${code}`) },
    })
    const first = party.ask(game)
    first.host.sampleInput = () => ({ right: true })
    party.run(1000)
    const [room] = party.host.rooms
    party.unplug(first as never)
    party.run(11_000)
    expect([told, room!.seats.of(1)!.state, room!.peers.length]).toEqual([['away'], 'held', 1])
    const stood = [...room!.world.each(Player)][0]!.x
    const refused = party.ask(game, { room: room!.id })
    party.run(500)
    expect([refused.closed?.code, [...room!.world.each(Player)][0]!.x]).toEqual(['full', stood])
    const again = party.ask(game, { resume: ticketOf(first) })
    party.run(500)
    expect([again.peer, again.host.seat!.isBack]).toEqual([1, true])
    party.unplug(again as never)
    party.run(16_000)
    expect([told, room!.seats.isEmpty, [...room!.world.each(Player)].length]).toEqual([['away', 'away', 'leave timed-out'], true, 0])
    const late = party.ask(game, { resume: ticketOf(again) })
    party.run(500)
    expect([late.closed, party.host.door.tickets]).toEqual([{ by: 'protocol', code: 'ticket' }, { forged: 0, spent: 0, expired: 1, stolen: 0 }])
  })

  test('[SEAT5] a ticket is good once: forged, touched, used and foreign ones are refused and counted', () => {
    const party = new Party({ duel: { game, capacity: 4 } })
    const first = party.ask(game)
    party.run(500)
    const ticket = ticketOf(first)
    for (let at = 0; at < ticket.length; at++) {
      const touched = party.ask(game, { resume: ticket.map((byte, index) => index === at ? byte ^ 1 : byte) })
      party.run(300)
      expect(touched.closed?.code).toBe('ticket')
    }
    expect(party.host.door.tickets.forged).toBe(ticket.length)
    expect(first.closed).toBeUndefined()
    const again = party.ask(game, { resume: ticket })
    party.run(500)
    expect([again.peer, first.closed]).toEqual([1, { by: 'peer', code: 'replaced' }])
    const thief = party.ask(game, { resume: ticket })
    party.run(500)
    expect([thief.closed?.code, again.closed, party.host.door.tickets.spent]).toEqual(['ticket', undefined, 1])
    expect(ticketOf(again)).not.toEqual(ticket)
    const elsewhere = new Party({ duel: { game, capacity: 4 } }, { entropy: { fill: (bytes) => { bytes.fill(3) } } })
    const foreign = elsewhere.ask(game, { resume: ticketOf(again) })
    elsewhere.run(500)
    expect([foreign.closed?.code, elsewhere.host.door.tickets.forged]).toEqual(['ticket', 1])
  })

  test('[SEAT6] of two who come with one ticket at once, one sits; the other has nothing, not even a ticket', () => {
    const party = new Party({ duel: { game, capacity: 4 } })
    const first = party.ask(game)
    party.run(500)
    party.unplug(first as never)
    const both = [party.ask(game, { resume: ticketOf(first) }), party.ask(game, { resume: ticketOf(first) })]
    party.run(1000)
    const winners = both.filter(({ closed }) => closed === undefined)
    expect(winners.map(({ peer }) => peer)).toEqual([1])
    const loser = both.find(({ closed }) => closed !== undefined)!
    if (loser.host.seat !== undefined) {
      const retry = party.ask(game, { resume: ticketOf(loser) })
      party.run(500)
      expect(retry.closed?.code).toBe('ticket')
    }
    expect(winners[0]!.closed).toBeUndefined()
    expect(party.host.rooms[0]!.seats.players).toBe(1)
  })

  test('[SEAT7] when the house closes nobody comes in, rooms are told how long, and players why', () => {
    const told: number[] = []
    const party = new Party({ duel: { game, capacity: 4, onDrain: (_room, ms) => told.push(ms) } })
    const first = party.ask(game)
    party.run(500)
    party.host.beginDrain(3000)
    party.host.beginDrain(3000)
    const late = party.ask(game)
    party.run(500)
    expect([told, late.closed?.code, first.closed, seen(first)]).toEqual([[3000], 'full', undefined, 1])
    party.host.close(party.now)
    party.run(500)
    expect([first.closed, party.host.endpoint.connections.length, party.host.rooms.length]).toEqual([{ by: 'peer', code: 'shutdown' }, 0, 0])
  })
})
