import { describe, expect, test } from 'vitest'
import { bool, defineGame, entity, u8, where, type Member, type Match } from 'tickwire'
import { bytesToTrace, traceToBytes } from '../../packages/tickwire/src/core/base/tracing.ts'
import { decodeJoin, encodeJoin } from '../../packages/tickwire/src/core/rooms/join-body.ts'
import { Party } from './rooms-party.ts'
import { Player, Chat, makeGame, game, seen } from './rooms-game.ts'

const other = makeGame(20)

describe('rooms', () => {
  test('[ROOM1] many matches behind one endpoint: each sees only its own, and games may differ', () => {
    const party = new Party({ duel: { game, capacity: 2 }, walk: { game: other, capacity: 4 } })
    const duelists = [0, 1, 2].map(() => party.ask(game, { quick: 'duel' }))
    const walkers = [0, 1].map(() => party.ask(other))
    party.run(1500)
    expect(party.host.rooms.map(({ typeName, seats: { players } }) => [typeName, players])).toEqual([
      ['duel', 2],
      ['duel', 1],
      ['walk', 2],
    ])
    expect(duelists.map(seen)).toEqual([2, 2, 1])
    expect(walkers.map(seen)).toEqual([2, 2])
    expect(new Set(duelists.map(({ host }) => host.seat!.room)).size).toBe(2)
    walkers[0]!.host.sampleInput = () => ({ right: true })
    party.run(500)
    expect(Math.max(...[...walkers[1]!.host.view.each(Player)].map(({ x }) => x))).toBeGreaterThan(12)
    expect([...duelists[0]!.host.view.each(Player)].map(({ x }) => x)).toEqual([10, 10])
  })

  test('[ROOM2] join by id, code or filter, or create; locked, full and unknown rooms have their reasons', () => {
    const party = new Party({
      duel: { game, capacity: 2, spectators: 1, metadata: { map: 'dust' } },
      fixed: { game: other, mayCreate: false },
    })
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
    expect([asked.id, asked.filter, asked.looksOn].map(({ host }) => host.seat?.room)).toEqual([
      open.id,
      open.id,
      open.id,
    ])
    expect(asked.full.closed).toEqual({ by: 'protocol', code: 'full' })
    expect([asked.unknown, asked.wrongGame, asked.noType].map(({ closed }) => closed?.code)).toEqual([
      'no-room',
      'no-room',
      'no-room',
    ])
    expect(asked.forbidden.closed).toEqual({ by: 'protocol', code: 'refused' })
    const secret = party.host.room(asked.secret.host.seat!.room)!
    expect([secret.isPrivate, secret.metadata, secret.code.length]).toEqual([true, { map: 'mud' }, 8])
    expect(party.host.list().map(({ id }) => id), 'private rooms are in no list').toEqual([open.id])
    expect(party.host.list({ metadata: { map: 'dust' } })).toEqual([])
    // A spectator sees the players, and has no object.
    expect(seen(asked.looksOn)).toBe(2)
    expect([open.peers.length, open.members.map(({ role }) => role)]).toEqual([2, ['player', 'player', 'spectator']])
    made.isLocked = true
    const late = party.ask(game, { room: made.id })
    party.run(500)
    expect(late.closed).toEqual({ by: 'protocol', code: 'locked' })
    expect(party.host.door.counts).toMatchObject({ full: 1, 'no-room': 3, refused: 1, locked: 1, seated: 5 })
  })

  test('[ROOM3] onAuth may be slow: it reserves no seat, and the first client after it gets one', async () => {
    const waiting: ((user: unknown) => void)[] = []
    const joined: unknown[] = []
    const party = new Party({
      duel: {
        game, capacity: 2, onAuth: () => new Promise((resolve) => { waiting.push(resolve) }),
        onJoin: (_room, { user }) => joined.push(user),
      },
    })
    const room = party.host.create('duel')
    const [a, b, c, d] = [0, 1, 2, 3].map(() => party.ask(game, { room: room.id }))
    await party.runAsync(300)
    expect([room.seats.players, waiting.length, a!.peer]).toEqual([0, 4, 0])
    // Longer than a challenge is fresh: the client has requested another meanwhile.
    await party.runAsync(3000)
    expect([room.seats.players, waiting.length]).toEqual([0, 4])
    waiting[0]!({ name: 'ann' })
    waiting[1]!(false)
    await party.runAsync(600)
    expect([a!.peer, b!.closed]).toEqual([1, { by: 'protocol', code: 'refused' }])
    expect([room.seats.players, joined]).toEqual([1, [{ name: 'ann' }]])
    waiting[2]!({ name: 'cid' })
    await party.runAsync(600)
    waiting[3]!({ name: 'dan' })
    await party.runAsync(600)
    expect([room.seats.players, c!.peer, c!.closed, d!.closed]).toEqual([
      2,
      3,
      undefined,
      { by: 'protocol', code: 'full' },
    ])
    c!.host.close(party.now)
    await party.runAsync(600)
    expect(room.members).toMatchObject([{ id: 1, user: { name: 'ann' }, role: 'player' }])
  })

  test('[SEAT11] S7: abandoned handshakes take no seat, open no room, and lock out no client', () => {
    const party = new Party(
      { duel: { game, capacity: 2, spectators: 1, emptyMs: Infinity }, walk: { game: other } },
      { maxRooms: 3 },
    )
    const room = party.host.create('duel')
    const half = Array.from({ length: 60 }, (_, at) => {
      const join = [
        { room: room.id },
        { quick: 'duel' },
        { create: 'duel' },
        { create: 'duel', isPrivate: true as const },
        { room: room.id, role: 'spectator' as const },
      ][at % 5]!
      const guest = party.ask(game, join)
      guest.isHalfWay = true
      return guest
    })
    party.run(1000)
    expect(half.filter(({ peer }) => peer !== 0).length, 'all were accepted').toBe(60)
    expect([party.host.rooms.length, party.host.counts.created, room.seats.players, room.seats.spectators]).toEqual([
      1, 1, 0, 0,
    ])
    const honest = [
      party.ask(game, { room: room.id }),
      party.ask(game, { create: 'duel' }),
      party.ask(game, { quick: 'duel' }),
      party.ask(game, { room: room.id, role: 'spectator' }),
    ]
    party.run(1000)
    expect(honest.map(({ closed, peer }) => [closed, peer > 0])).toEqual(Array(4).fill([undefined, true]))
    expect(honest[0]!.host.seat!.room).toBe(room.id)
    expect(party.host.rooms.reduce((sum, { seats }) => sum + seats.players, 0)).toBe(3)
    party.run(15_000)
    expect([party.host.door.invitations.count, party.host.rooms.length <= 3]).toEqual([0, true])
  })

  test('[SEAT11] S7: of two clients promised the last seat the first gets it, and the other is full', () => {
    const party = new Party({ duel: { game, capacity: 1, emptyMs: Infinity, mayCreate: false } })
    const room = party.host.create('duel')
    const [late, early] = [party.ask(game, { room: room.id }), party.ask(game, { room: room.id })]
    late!.isHalfWay = true
    party.run(500)
    late!.isHalfWay = false
    party.run(1000)
    expect([room.seats.players, early!.closed, late!.closed]).toEqual([1, undefined, { by: 'protocol', code: 'full' }])
    expect(party.host.door.counts).toMatchObject({ seated: 1, full: 1 })
  })

  test('[SEAT11] S7: clients that ask for a quick seat at once share new rooms, as many as they need', () => {
    const party = new Party({ duel: { game, capacity: 4 } })
    const guests = Array.from({ length: 10 }, () => party.ask(game, { quick: 'duel' }))
    party.run(1000)
    expect(party.host.rooms.map(({ seats }) => seats.players)).toEqual([4, 4, 2])
    expect(guests.every(({ closed }) => closed === undefined)).toBe(true)
  })

  test('[SEAT11] S7: seats promised in a room that was not open yet still count when it is', () => {
    const party = new Party({ duel: { game, capacity: 4 } })
    const late = Array.from({ length: 3 }, () => party.ask(game, { quick: 'duel' }))
    const first = party.ask(game, { quick: 'duel' })
    for (const guest of late) guest.isHalfWay = true
    party.run(300)
    const others = Array.from({ length: 2 }, () => party.ask(game, { quick: 'duel' }))
    party.run(300)
    for (const guest of late) guest.isHalfWay = false
    party.run(1000)
    expect([first, ...late, ...others].map(({ closed }) => closed)).toEqual(Array(6).fill(undefined))
    expect(party.host.rooms.map(({ seats }) => seats.players)).toEqual([4, 2])
  })

  test('[ROOM4] joining and leaving: hooks in order, kick, end, and empty rooms', () => {
    const calls: string[] = []
    const note =
      (what: string) =>
      (_room: Match, member: Member, reason?: { code: string }): void => {
        calls.push(`${what} ${member.id}${reason ? ` ${reason.code}` : ''}`)
      }
    const party = new Party({
      duel: {
        game,
        capacity: 4,
        emptyMs: 2000,
        onCreate: (room) => {
          room.on(Chat, (said, from) => room.broadcast(Chat, { text: `${from.id}: ${said.text}` }))
        },
        onJoin: note('join'),
        onLeave: note('leave'),
        onAway: note('away'),
        onBack: note('back'),
        onEnd: () => calls.push('end'),
      },
    })
    const [a, b, c] = [0, 1, 2].map(() => party.ask(game))
    const received: string[] = []
    b!.host.on(Chat, (said) => received.push(said.text))
    party.run(500)
    a!.host.send(Chat, { text: 'hi' })
    party.run(100)
    a!.host.close(party.now)
    party.run(300)
    expect(received).toEqual(['1: hi'])
    const [room] = party.host.rooms
    room!.kick({ id: 2 })
    party.run(300)
    expect([b!.closed, calls]).toEqual([
      { by: 'peer', code: 'kicked' },
      ['join 1', 'join 2', 'join 3', 'leave 1 left', 'leave 2 kicked'],
    ])
    room!.end()
    party.run(300)
    expect([c!.closed, calls.at(-1), party.host.rooms.length]).toEqual([{ by: 'peer', code: 'ended' }, 'end', 0])
    const d = party.ask(game)
    party.run(300)
    d.host.close(party.now)
    party.run(1500)
    expect(party.host.rooms.length).toBe(1)
    party.run(1000)
    expect([party.host.rooms.length, party.host.counts]).toEqual([0, { created: 2, ended: 2, faults: 0, moved: 0 }])
  })

  test('[ROOM5] a throw in `step` ends that room only; a throw in a listener or hook ends nothing', () => {
    const Eye = entity(
      { x: u8 },
      {
        interest: where(() => {
          throw new Error('eye')
        }),
      },
    )
    const watched = defineGame({
      tickRate: 30,
      input: { go: bool },
      entities: [Eye],
      onJoin: (world, peer) => world.spawn(Eye, { x: 1 }, peer),
      step: () => {},
    })
    const party = new Party({
      duel: {
        game,
        capacity: 2,
        onCreate: (room) => {
          room.on(Chat, ({ text: said }) => {
            if (said === 'listener') throw new Error(said)
          })
        },
      },
      joins: {
        game: other,
        onJoin: () => {
          throw new Error('join')
        },
      },
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
    listens[0]!.host.send(Chat, { text: 'listener' })
    party.run(500)
    const fault = { by: 'peer', code: 'fault' }
    expect([...steps, ...eyes].map(({ closed }) => closed)).toEqual(Array(4).fill(fault))
    expect([...listens, joins].map(({ closed }) => closed)).toEqual([undefined, undefined, undefined])
    expect(party.faults.toSorted()).toEqual([
      'duel goes on: Error: listener',
      'duel: Error: boom',
      'eye: Error: eye',
      'joins goes on: Error: join',
    ])
    expect([calm!.closed, seen(calm!), party.host.rooms.length]).toEqual([undefined, 1, 3])
  })

  test('[ROOM6] malformed requests are refused, valid ones survive a round trip, too long ones throw', () => {
    for (const join of [
      { quick: 'duel' },
      { quick: 'duel', filter: { map: 'eis', mode: 'ç' } },
      { room: 'ABC' },
      { code: 'K7', role: 'spectator' as const },
      { create: 'duel', metadata: {} },
      { create: 'duel', metadata: { a: '1' }, isPrivate: true as const },
      { create: 'duel', metadata: {}, password: 'ç', optionsSize: 128 },
      { code: 'K7', password: 'x'.repeat(32), role: 'spectator' as const },
      { resume: new Uint8Array(28).fill(7) },
    ])
      expect(decodeJoin(encodeJoin(join))).toEqual(join)
    expect(decodeJoin(new Uint8Array(0))).toEqual({})
    expect(() => encodeJoin({ quick: 'x'.repeat(63) })).toThrow('join')
    expect(() => encodeJoin({ resume: new Uint8Array(3) })).toThrow('join.resume: wrong size (got 3 bytes)')
    expect(
      decodeJoin(encodeJoin({ create: 'a', metadata: JSON.parse('{"__proto__":"x"}') as Record<string, string> })),
    ).toEqual({ create: 'a', metadata: JSON.parse('{"__proto__":"x"}') as unknown })
    for (const bytes of [
      [9, 0],
      [0],
      [1, 2, 0],
      [1, 0, 5, 65],
      [5, 0, 1],
      [0, 0, 1, 255],
      [0, 0, 0, 1, 65],
      [1, 0, 1, 65, 0],
      // An unknown flag, a short span, an empty password, a quick seat with a password, options of a room that exists.
      [1, 16, 1, 65],
      [1, 8, 1, 65],
      [1, 2, 0, 1, 65],
      [0, 2, 1, 65, 0],
      [1, 4, 1, 1, 65],
      [3, 4, 0, 1, 65],
      [3, 4, 129, 1, 65],
    ]) {
      expect(decodeJoin(new Uint8Array(bytes)), `${bytes}`).toBeUndefined()
    }
  })

  test('[TRACE5] a request for a seat carries a recorded span, unless it does not fit', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const trace = traceToBytes(traceparent)!
    for (const join of [{ trace }, { room: 'x'.repeat(37), trace }, { resume: new Uint8Array(28).fill(7), trace }])
      expect(decodeJoin(encodeJoin(join))).toEqual(join)
    expect(bytesToTrace(trace)).toBe(traceparent)
    expect(Buffer.from(encodeJoin({ room: 'abc', trace })).toString('hex'), 'as docs/wire/ROOMS.md')
      .toBe('01080af7651916cd43dd8448eb211c80319cb7ad6b716920333103616263')
    const long = { room: 'x'.repeat(38) }
    expect(decodeJoin(encodeJoin({ ...long, trace }))).toEqual(long)
    // Not recorded, of another version, too short, or no text at all.
    for (const text of [traceparent.replace(/1$/, '0'), traceparent.replace('00-', '01-'), traceparent.slice(1), ''])
      expect(traceToBytes(text), text).toBeUndefined()
    expect(traceToBytes(undefined)).toBeUndefined()
  })
})
