/** Every callback of a game throws once and rejects once. The pump, other listeners and other rooms go on. */

import { describe, expect, test, vi } from 'vitest'
import {
  bool,
  entity,
  where,
  type CodeFault,
  type GameDefinition,
  type Match,
  type RoomType,
} from 'tickwire'
import { simulate } from 'tickwire/testing'
import { UserCode } from '../../packages/tickwire/src/core/base/user-code.ts'
import { Guest, Party } from './rooms-party.ts'
import {
  Walker,
  Lamp,
  Chat,
  Flash,
  Ask,
  Say,
  makeGame,
  THROWS,
  REJECTS,
  type Input,
  type Fail,
} from './user-code-game.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

interface Row {
  readonly callback: string
  /** The room ends with `fault`. */
  readonly isFatal?: true
  /** The guests are refused. */
  readonly isRefused?: true
  readonly make: (fail: Fail) => {
    readonly game?: Partial<GameDefinition<Input>>
    readonly type?: Partial<RoomType>
    readonly create?: (room: Match) => void
  }
}

const SERVER_ROWS: readonly Row[] = [
  {
    callback: 'step',
    isFatal: true,
    make: (fail) => ({
      game: { step: (world) => (world.sight === undefined && world.tick > 20 ? fail() : undefined) },
    }),
  },
  { callback: 'game.onJoin', isFatal: true, make: (fail) => ({ game: { onJoin: fail } }) },
  { callback: 'game.onLeave', isFatal: true, make: (fail) => ({ game: { onLeave: fail } }) },
  { callback: 'interest', isFatal: true, make: (fail) => ({ type: { interest: { teamOf: fail } } }) },
  { callback: 'interest', isFatal: true, make: (fail) => ({ type: { interest: { viewpoint: fail } } }) },
  {
    callback: 'interest',
    isFatal: true,
    make: (fail) => {
      const Eye = entity({ isOpen: bool }, { interest: where(fail) })
      return { game: { entities: [Walker, Lamp, Eye], onJoin: (world) => world.spawn(Eye, {}) } }
    },
  },
  { callback: 'external', isRefused: true, make: (fail) => ({ game: { external: fail } }) },
  { callback: 'onAuth', isRefused: true, make: (fail) => ({ type: { onAuth: fail } }) },
  { callback: 'onCreate', isFatal: true, isRefused: true, make: (fail) => ({ type: { onCreate: fail } }) },
  { callback: 'onJoin', make: (fail) => ({ type: { onJoin: fail } }) },
  { callback: 'onAway', make: (fail) => ({ type: { onAway: fail } }) },
  { callback: 'onBack', make: (fail) => ({ type: { onBack: fail } }) },
  { callback: 'onLeave', make: (fail) => ({ type: { onLeave: fail } }) },
  { callback: 'onDrain', make: (fail) => ({ type: { onDrain: fail } }) },
  { callback: 'onEnd', make: (fail) => ({ type: { onEnd: fail } }) },
  { callback: 'bytesPerSecond', make: (fail) => ({ type: { bytesPerSecond: fail } }) },
  { callback: 'on(Chat)', make: (fail) => ({ create: (room) => room.on(Chat, fail) }) },
  { callback: 'onEvent(Flash)', make: (fail) => ({ create: (room) => room.onEvent(Flash, fail) }) },
  { callback: 'handle(Ask)', make: (fail) => ({ create: (room) => room.handle(Ask, fail) }) },
  { callback: 'handle(Say)', make: (fail) => ({ create: (room) => room.handle(Say, fail) }) },
  { callback: 'handle(AskAuthority)', make: (fail) => ({ game: { onAuthorityRequest: fail } }) },
  {
    callback: 'addBot',
    make: (fail) => ({
      create: (room) => {
        room.addBot(fail)
      },
    }),
  },
  {
    callback: 'record',
    make: (fail) => ({
      create: (room) => {
        let count = 0
        room.record({ write: () => (count++ === 0 ? true : fail()) })
      },
    }),
  },
]

const isSyncOnly = (callback: string): boolean => callback === 'record'

describe('callbacks of the server', () => {
  const rows = SERVER_ROWS.flatMap((row) => [
    { ...row, how: 'throws', fail: THROWS },
    ...(isSyncOnly(row.callback) ? [] : [{ ...row, how: 'is rejected', fail: REJECTS }]),
  ])
  test.each(rows)(
    '[GUARD1, GUARD2] $callback $how',
    async ({ callback, isFatal = false, isRefused = false, make, fail }) => {
      const faults: CodeFault[] = []
      const { game: parts, type, create } = make(fail)
      const [game, calmGame] = [makeGame(parts), makeGame({ tickRate: 20 })]
      let hears = 0
      const party = new Party(
        {
          wild: {
            game,
            capacity: 4,
            emptyMs: Infinity,
            onCreate: (room) => {
              create?.(room)
              room.on(Chat, () => hears++)
              if (callback !== 'handle(Ask)') room.handle(Ask, () => ({ isFine: true }))
            },
            ...type,
          },
          calm: { game: calmGame, capacity: 4 },
        },
        {
          onError: (fault) => {
            faults.push(fault)
          },
        },
      )
      const calm = party.ask(calmGame)
      // Clients make their own external state.
      const clientGame = callback === 'external' ? makeGame() : game
      const [first, second] = [party.ask(clientGame), party.ask(clientGame)]
      calm.host.sampleInput = () => ({ right: true })
      second.host.sampleInput = () => ({ right: true })
      await party.runAsync(500)
      first.host.send(Chat, { text: 'hi' })
      first.host.call(Say, { isUrgent: true })
      const [lamp] = first.host.view.each(Lamp)
      const asked = first.host.request(Ask, { isUrgent: true })
      if (lamp !== undefined) void first.host.requestAuthority(lamp)
      await party.runAsync(300)
      const ticket = second.host.seat?.ticket
      if (!isFatal && ticket !== undefined) party.host.handlePathClosed(second.address)
      await party.runAsync(200)
      const again = ticket === undefined ? second : party.ask(game, { resume: ticket })
      again.host.sampleInput = () => ({ right: true })
      await party.runAsync(300)
      first.host.close(party.now)
      await party.runAsync(300)
      const room = party.host.rooms.find(({ typeName }) => typeName === 'wild')
      if (isRefused) expect([first.closed?.code, second.closed?.code]).toEqual(['refused', 'refused'])
      else if (isFatal)
        expect([room, [second.closed?.code, again.closed?.code].includes('fault')]).toEqual([undefined, true])
      else {
        expect([again.peer, again.closed, hears, (await asked).isOk]).toEqual([
          2,
          undefined,
          1,
          callback !== 'handle(Ask)',
        ])
        const before = xOf(again)
        await party.runAsync(300)
        expect(xOf(again), 'the room plays on').toBeGreaterThan(before)
      }
      party.host.beginDrain(1000)
      room?.end()
      const before = xOf(calm)
      await party.runAsync(300)
      expect([calm.closed, xOf(calm) > before], 'another room plays on').toEqual([undefined, true])
      expectFault(faults, callback, isFatal)
      expect(party.host.counts.faults).toBe(isFatal ? faults.length : 0)
    },
  )
})

/** All faults are those of one callback. */
function expectFault(faults: readonly CodeFault[], callback: string, isFatal: boolean): void {
  expect(faults.map((fault) => fault.callback).filter((name) => name !== callback)).toEqual([])
  expect(faults[0]).toMatchObject({ callback, isFatal, count: 1 })
  expect(String(faults[0]!.error)).toMatch(/on purpose|returned a promise/)
}

function xOf(guest: Guest<Input>): number {
  return Math.max(0, ...[...guest.host.view.each(Walker)].filter(({ owner }) => owner === guest.peer).map(({ x }) => x))
}

describe('async code where a result is needed at once', () => {
  test('[GUARD2] an async `step` is refused at the first tick, for its room only, with the fix', async () => {
    let steps = 0
    const game = makeGame({
      step: (async () => {
        steps++
        await Promise.resolve()
        throw new Error('later')
      }) as never,
    })
    const calmGame = makeGame({ tickRate: 20 })
    const party = new Party({ wild: { game, capacity: 2, onJoin: () => {} }, calm: { game: calmGame, capacity: 2 } })
    const [wild, calm] = [party.ask(game, {}, {}, { onError: () => {} }), party.ask(calmGame)]
    await party.runAsync(1000)
    expect(wild.closed).toEqual({ by: 'peer', code: 'fault' })
    expect(steps, 'it is called once').toBe(1)
    expect(party.faults).toEqual([
      'wild: ConfigError: step: returned a promise (expected a plain result). '
      + 'Fix: remove `async` and `await`, and use results of slow work in a later call.',
    ])
    expect([calm.closed, party.host.rooms.map(({ typeName }) => typeName)]).toEqual([undefined, ['calm']])
  })
})

describe('where faults go', () => {
  test('[GUARD3] a host without `onError` throws at the end of the pump call; with one it never does', () => {
    const game = makeGame()
    let hears = 0
    const listen = (room: Match): void => {
      room.on(Chat, THROWS)
      room.on(Chat, () => hears++)
    }
    const party = new Party({ wild: { game, capacity: 4, onCreate: listen } }, { onError: undefined as never })
    const guest = party.ask(game)
    party.run(500)
    guest.host.send(Chat, { text: 'hi' })
    expect(() => party.run(100)).toThrow('on purpose')
    expect(hears).toBe(1)
    party.run(100)
    expect(guest.closed).toBeUndefined()
  })

  test('[GUARD3] an error listener that throws has no effect, and every throw is counted by callback', () => {
    const guard = new UserCode(THROWS)
    expect(guard.run('onLeave', 1, () => 7)).toBe(7)
    for (let count = 0; count < 3; count++) expect(guard.run('onLeave', 1, THROWS)).toBeUndefined()
    expect([...guard.counts]).toEqual([['onLeave', 3]])
    guard.rethrow()
  })

  test.each([
    { how: 'throws', fail: THROWS },
    { how: 'is rejected', fail: REJECTS },
  ])('[GUARD1, GUARD2] `admit` of a single match $how: the client is refused', ({ fail }) => {
    const faults: CodeFault[] = []
    const onError = (fault: CodeFault): void => {
      faults.push(fault)
    }
    expect(() => simulate(makeGame(), { server: { admit: fail, onError } })).toThrow('(protocol: refused)')
    expect(faults[0]).toMatchObject({ callback: 'admit', isFatal: false })
  })

  test('[GUARD1] a `step` that throws in a single match ends it for its players; the pump goes on', () => {
    const faults: CodeFault[] = []
    const reasons: unknown[] = []
    let isWild = false
    const game = makeGame({ step: (world) => (isWild && world.sight === undefined ? THROWS() : undefined) })
    const sim = simulate(game, {
      clients: 2,
      server: {
        onError: (fault) => {
          faults.push(fault)
        },
      },
      client: {
        onClosed: (reason) => {
          reasons.push(reason)
        },
      },
    })
    isWild = true
    sim.run(500)
    const { tick } = sim.host.world
    sim.run(500)
    expect([faults.map(({ callback, isFatal }) => [callback, isFatal]), sim.host.world.tick]).toEqual([
      [['step', true]],
      tick,
    ])
    expect(reasons).toEqual(Array(2).fill({ by: 'peer', code: 'fault' }))
  })

  test('[GUARD4] listeners can be removed, one by one', () => {
    const game = makeGame()
    const received: string[] = []
    const party = new Party({ wild: { game, capacity: 4 } })
    const guest = party.ask(game)
    party.run(300)
    const [room] = party.host.rooms
    const removes = ['a', 'b'].map((name) => room!.on(Chat, () => received.push(name)))
    guest.host.send(Chat, { text: 'hi' })
    party.run(100)
    removes[0]!()
    guest.host.send(Chat, { text: 'hi' })
    party.run(100)
    expect(received).toEqual(['a', 'b', 'b'])
    const stop = room!.handle(Ask, () => ({ isFine: true }))
    stop()
    expect(room!.onEvent(Flash, () => {})).toBeTypeOf('function')
  })
})
