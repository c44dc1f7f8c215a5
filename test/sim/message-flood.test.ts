/**
 * How many messages a server accepts from one player: all that honest players send, and no flood. Through the room
 * host.
 */

import { describe, expect, test } from 'vitest'
import { defineGame, entity, message, rpc, u32, bool, type Game, type Shape } from 'tickwire'
import { InputTable } from '../../packages/tickwire/src/core/game/input-table.ts'
import { Party } from './rooms-party.ts'

const Said = message({ number: u32 }, 'Said')
const Spark = message({ number: u32 }, 'Spark', { delivery: 'unreliable' })
const Poke = rpc({ number: u32 }, { to: 'server', delivery: 'unreliable', name: 'Poke' })

const gameAt = (tickRate: number, seen: { most: number } = { most: 0 }): Game<Shape> =>
  defineGame({
    tickRate,
    input: { jump: bool },
    entities: [entity({ x: u32 }, { name: 'Thing' })],
    messages: [Said, Spark],
    rpcs: [Poke],
    ...(tickRate < 4 && { net: { predictionMs: 4000 } }),
    step(_world, inputs) {
      seen.most = Math.max(seen.most, inputs.messages(Spark).length)
    },
  }) as unknown as Game<Shape>

describe('messages of one player', () => {
  test('[FLOOD3] S5: a flood of messages is cut and its sender disconnected; others lose nothing', () => {
    const seen = { most: 0 }
    const game = gameAt(60, seen)
    const party = new Party({ match: { game } })
    const [mallory, alice] = [party.ask(game), party.ask(game)]
    party.run(500)
    const received: number[] = []
    const { endpoint, rooms } = party.host
    rooms[0]!.on(Said, ({ number }) => received.push(number))
    const far = endpoint.connections.find(({ address }) => address === mallory.address)!
    for (let round = 0; round < 400; round++) {
      for (let each = 0; each < 256; each++) mallory.host.send(Spark, { number: each })
      if (round % 4 === 0) alice.host.send(Said, { number: round / 4 })
      party.run(5)
    }
    expect(mallory.closed).toEqual({ by: 'protocol', code: 'flooding' })
    expect(far.stats.drops.messages).toBeGreaterThan(2000)
    expect(seen.most).toBeLessThanOrEqual(1440)
    expect(alice.closed).toBe(undefined)
    party.run(200)
    expect(received).toEqual(Array.from({ length: 100 }, (_, number) => number))
  })

  test('[FLOOD3] S5: a flood of calls ends in the same way', () => {
    const game = gameAt(60)
    const party = new Party({ match: { game } })
    const mallory = party.ask(game)
    party.run(500)
    for (let round = 0; round < 400; round++) {
      for (let each = 0; each < 200; each++) mallory.host.call(Poke, { number: each })
      party.run(5)
    }
    expect(mallory.closed).toEqual({ by: 'protocol', code: 'flooding' })
  })

  test.each([1, 60, 128])(
    '[FLOOD3] S5: at %i Hz no reliable message is lost when the server stalls for a second',
    (tickRate) => {
      const game = gameAt(tickRate)
      const party = new Party({ match: { game } })
      const alice = party.ask(game)
      party.run(1500)
      const received: number[] = []
      party.host.rooms[0]!.on(Said, ({ number }) => received.push(number))
      let sent = 0
      // As many as the channel accepts: far more than is expected of a player.
      for (let at = 0; at < 3000; at += 20) {
        party.isStalled = at >= 1000 && at < 2000
        while (sent < 1_000_000 && alice.host.send(Said, { number: sent }) === 'queued') sent++
        party.run(20)
      }
      party.run(6000)
      expect(sent).toBeGreaterThan(1500)
      expect(received).toEqual(Array.from({ length: sent }, (_, number) => number))
      expect(alice.closed).toBe(undefined)
      expect(party.host.traffic().drops.messages).toBe(0)
    },
  )

  test('[FLOOD3] S5: posting a message copies no earlier message', () => {
    const table = new InputTable({ jump: bool })
    table.post(1, Said as never, { number: 0 })
    const list = table.said
    for (let number = 1; number < 1000; number++) table.post(1, Said as never, { number })
    table.sortMessages()
    expect(table.said).toBe(list)
    expect(list.length).toBe(1000)
  })
})
