/** Every callback of a client throws once and rejects once. The client and its other listeners go on. */

import { describe, expect, test, vi } from 'vitest'
import type { CodeFault, GameDefinition, Match } from 'tickwire'
import type { ClientHostOptions } from 'tickwire/engine'
import { Guest, Party } from './rooms-party.ts'
import {
  Walker,
  Lamp,
  Chat,
  Flash,
  Tell,
  makeGame,
  THROWS,
  REJECTS,
  type Input,
  type Fail,
} from './user-code-game.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

interface ClientRow {
  readonly callback: string
  readonly isFatal?: true
  readonly make: (fail: Fail) => {
    readonly game?: Partial<GameDefinition<Input>>
    readonly options?: Partial<ClientHostOptions>
    readonly wire?: (guest: Guest<Input>) => void
  }
}

const CLIENT_ROWS: readonly ClientRow[] = [
  {
    callback: 'step',
    isFatal: true,
    make: (fail) => ({
      game: { step: (world) => (world.sight !== undefined && world.tick > 20 ? fail() : undefined) },
    }),
  },
  { callback: 'external', isFatal: true, make: (fail) => ({ game: { external: fail } }) },
  {
    callback: 'input',
    make: (fail) => ({
      wire: ({ host }) => {
        host.sampleInput = () => (host.serverTick % 2 === 0 ? { right: true } : fail())
      },
    }),
  },
  {
    callback: 'on(Chat)',
    make: (fail) => ({
      wire: ({ host }) => {
        host.on(Chat, fail)
      },
    }),
  },
  {
    callback: 'onEvent(Flash)',
    make: (fail) => ({
      wire: ({ host }) => {
        host.onEvent(Flash, fail)
      },
    }),
  },
  {
    callback: 'handle(Tell)',
    make: (fail) => ({
      wire: ({ host }) => {
        host.handle(Tell, fail)
      },
    }),
  },
  {
    callback: 'view.on(spawn, Walker)',
    make: (fail) => ({
      wire: ({ host }) => {
        host.view.on('spawn', Walker, fail)
      },
    }),
  },
  {
    callback: 'view.on(change, Walker)',
    make: (fail) => ({
      wire: ({ host }) => {
        host.view.on('change', Walker, fail)
      },
    }),
  },
  {
    callback: 'view.on(despawn, Walker)',
    make: (fail) => ({
      wire: ({ host }) => {
        host.view.on('despawn', Walker, fail)
      },
    }),
  },
  { callback: 'onOpened', make: (fail) => ({ options: { onOpened: fail } }) },
  { callback: 'onAuthorityChanged', make: (fail) => ({ options: { onAuthorityChanged: fail } }) },
  {
    callback: 'look',
    make: (fail) => ({
      wire: ({ host }) => {
        host.look({ handleStepped: fail })
      },
    }),
  },
]

describe('callbacks of a client', () => {
  const rows = CLIENT_ROWS.flatMap((row) => [
    { ...row, how: 'throws', fail: THROWS },
    { ...row, how: 'is rejected', fail: REJECTS },
  ])
  test.each(rows)('[GUARD1, GUARD2] $callback $how', async ({ callback, isFatal = false, make, fail }) => {
    const faults: CodeFault[] = []
    const { game: parts, options, wire } = make(fail)
    const game = makeGame(parts)
    const party = new Party({ wild: { game: callback === 'external' ? makeGame() : game, capacity: 4 } })
    const guest = party.ask(
      game,
      {},
      {},
      {
        onError: (fault) => {
          faults.push(fault)
        },
        ...options,
      },
    )
    const other = party.ask(makeGame(), {})
    guest.host.sampleInput = () => ({ right: true })
    wire?.(guest)
    const received: string[] = []
    guest.host.on(Chat, ({ text: said }) => {
      received.push(said)
    })
    guest.host.view.on('spawn', Walker, () => {
      received.push('spawn')
    })
    const run = async (ms: number): Promise<void> => {
      for (let at = 0; at < ms; at += 20) {
        await party.runAsync(20)
        guest.host.draw(party.now)
      }
    }
    await run(600)
    const [room] = party.host.rooms
    room!.broadcast(Chat, { text: 'hi' })
    room!.call(Tell, { isUrgent: true }, { to: { id: guest.peer } })
    const [lamp] = room!.world.each(Lamp)
    if (lamp !== undefined) room!.world.setOwner(lamp, 2)
    await run(300)
    room!.kick({ id: other.peer })
    const before = room!.world.tick > 0 ? xOnServer(room!, guest.peer) : 0
    await run(400)
    if (isFatal) expect([guest.closed, room!.member(1)]).toEqual([{ by: 'local', code: 'fault' }, undefined])
    else {
      expect([guest.closed, received.includes('hi'), received.includes('spawn')], 'others are called').toEqual([
        undefined,
        true,
        true,
      ])
      expect(xOnServer(room!, guest.peer), 'the client plays on').toBeGreaterThan(before)
    }
    expect(party.faults, 'the server has nothing to report').toEqual([])
    expect([...new Set(faults.map((fault) => fault.callback))]).toEqual([callback])
    expect(faults[0]).toMatchObject({ callback, isFatal, count: 1 })
  })

  test('[GUARD1] `onClosed` throws, and the goodbye is still sent', () => {
    const faults: CodeFault[] = []
    const game = makeGame()
    const party = new Party({ wild: { game, capacity: 4 } })
    const guest = party.ask(
      game,
      {},
      {},
      {
        onError: (fault) => {
          faults.push(fault)
        },
        onClosed: THROWS,
      },
    )
    party.run(500)
    guest.host.close(party.now)
    party.run(200)
    expect([faults.map(({ callback }) => callback), party.host.rooms[0]!.members]).toEqual([['onClosed'], []])
  })
})

function xOnServer(room: Match, peer: number): number {
  return [...room.world.each(Walker)].find(({ owner }) => owner === peer)?.x ?? 0
}
