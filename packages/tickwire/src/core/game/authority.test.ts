import { describe, expect, test } from 'vitest'
import { UserCode } from '../base/user-code.ts'
import { entity, message } from '../schema/definition.ts'
import { bool, u8, u16 } from '../schema/field-kinds.ts'
import { Authority, LOCAL_PEERS_FROM, type AuthorityOptions } from './authority.ts'
import { defineGame, type Game } from './define-game.ts'
import type { StepEvent } from './event-codec.ts'

const Boat = entity({ x: u16, wins: u8 }, { name: 'Boat' })
const Horn = message({ loud: bool }, 'Horn')
const LEFT = { by: 'peer', code: 'left' } as const

const input = { row: bool }

interface Stage {
  /** The callbacks, in the order of their calls. */
  readonly calls: string[]
  readonly events: StepEvent[]
  readonly authority: Authority<typeof input>
}

function stage(options: Partial<AuthorityOptions> = {}): Stage {
  const calls: string[] = []
  const events: StepEvent[] = []
  const game = defineGame({
    tickRate: 20,
    input,
    entities: [Boat],
    messages: [Horn],
    onJoin: (world, peer) => {
      calls.push(`onJoin ${peer.id}`)
      world.spawn(Boat, {}, peer)
    },
    onLeave: (_world, peer) => calls.push(`onLeave ${peer.id}`),
    step(world, inputs) {
      for (const boat of world.each(Boat)) {
        if (!inputs.of(boat.owner).row) continue
        boat.x++
        world.emit(boat, Horn, { loud: true })
      }
    },
  })
  const authority = new Authority(game as Game<typeof input>, new UserCode(), {
    seed: 1, syncTest: 0, onSyncFault: undefined, heavy: false, onWarning: undefined, dataOf: () => ({}),
    onJoined: ({ id }) => calls.push(`joined ${id}`),
    onLeft: ({ id }, { code }) => calls.push(`left ${id} ${code}`),
    sendEvent: (event) => events.push(event),
    ...options,
  })
  return { calls, events, authority }
}

describe('players of an authority', () => {
  test('[BOT1] join and leave with the next tick, and their objects go with them', () => {
    const { authority, calls } = stage()
    const bot = authority.addLocal(() => ({ row: true }))
    expect([bot.id, authority.peers]).toEqual([LOCAL_PEERS_FROM, []])
    authority.step()
    expect(calls).toEqual([`onJoin ${bot.id}`, `joined ${bot.id}`])
    expect(authority.peers).toEqual([bot])
    authority.leave(authority.players.get(bot.id)!, LEFT)
    expect(authority.world.count(Boat)).toBe(1)
    authority.step()
    expect(calls.slice(2)).toEqual([`onLeave ${bot.id}`, `left ${bot.id} left`])
    expect([authority.world.count(Boat), authority.players.size]).toEqual([0, 0])
  })

  test('a player that joins and leaves between two ticks does both in the next one', () => {
    const { authority, calls } = stage()
    const { id } = authority.addLocal(() => ({}))
    authority.leave(authority.players.get(id)!, LEFT)
    authority.step()
    expect(calls).toEqual([`onJoin ${id}`, `joined ${id}`, `onLeave ${id}`, `left ${id} left`])
  })

  test('a player without a connection stays, with empty inputs', () => {
    const { authority } = stage()
    const { id } = authority.addLocal(() => ({ row: true }))
    authority.step()
    authority.step()
    authority.idle(authority.players.get(id)!)
    authority.step()
    expect([...authority.world.each(Boat)].map(({ x }) => x)).toEqual([2])
    expect(authority.peers).toHaveLength(1)
  })

  test('bots of an image are taken over with their ids and objects; the rest leave', () => {
    const first = LOCAL_PEERS_FROM
    const { authority, calls } = stage()
    for (const id of [first, first + 1]) authority.world.spawn(Boat, {}, { id })
    authority.restoreBots([first, first + 1])
    expect(authority.bots).toEqual([first, first + 1])
    expect(authority.addLocal(() => ({})).id).toBe(first)
    authority.dropAwaitedBots(LEFT)
    authority.step()
    expect(calls).toEqual([`onLeave ${first + 1}`, `left ${first + 1} left`])
    expect([...authority.world.each(Boat)].map(({ owner }) => owner)).toEqual([first])
    expect(authority.addLocal(() => ({})).id).toBe(first + 2)
  })
})

describe('a tick of an authority', () => {
  test('is in the Timeline as it ended, and its events are sent once', () => {
    const { authority, events } = stage()
    authority.addLocal(() => ({ row: true }))
    for (let tick = 0; tick < 3; tick++) authority.step()
    const { id } = [...authority.world.each(Boat)][0]!
    expect([1, 2, 3].map((tick) => authority.timeline.read(Boat, id, tick, 'x'))).toEqual([1, 2, 3])
    expect(events.map(({ tick, object }) => [tick, object])).toEqual([[1, id], [2, id], [3, id]])
  })

  test('[PRED8] that is stepped again by the sync test gives the same world and no second event', () => {
    const plain = stage()
    const tested = stage({ syncTest: 4 })
    for (const { authority } of [plain, tested]) {
      authority.addLocal(() => ({ row: true }))
      for (let tick = 0; tick < 8; tick++) authority.step()
    }
    expect(tested.events.length).toBe(plain.events.length)
    expect([...tested.authority.world.each(Boat)].map(({ x }) => x)).toEqual([8])
  })
})
