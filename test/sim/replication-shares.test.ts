/** Replication on links that are too narrow: urgent rows first, and every row in the end. */

import { describe, expect, test } from 'vitest'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, fixed } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Party } from './replication-party.ts'

const Rock = entity({ x: fixed(0, 100, 0.5), y: fixed(0, 100, 0.5), isGold: bool }, { name: 'Rock' })

describe('when bandwidth is short', () => {
  const crowd = (ships: number, bytesPerSecond: number): { readonly party: Party; readonly lags: () => number[] } => {
    const party = new Party(1, [Rock], 60)
    const receiver = party.join(1, () => 0, { bytesPerSecond, tickRate: 60 })
    party.tick(() => { for (let count = 0; count < ships; count++) party.world.spawn(Rock, {}) })
    const toggle = (): void => { for (const rock of party.world.each(Rock)) rock.x = (rock.x + 1) % 100 }
    for (let tick = 0; tick < 400; tick++) party.tick(toggle)
    return {
      party,
      lags: () => [...party.world.each(Rock)].map(({ id }) => party.world.tick - receiver.timeline.changedAt(id)),
    }
  }

  test('[REPL10] twice the objects take the same bytes, all are sent, and urgent ones more often', () => {
    const few = crowd(100, 6000)
    const many = crowd(200, 6000)
    const [fewBytes, manyBytes] = [few, many].map(({ party }) => party.receivers[0]!.bytesSent)
    expect(manyBytes! / fewBytes!).toBeGreaterThan(0.95)
    expect(manyBytes! / fewBytes!).toBeLessThan(1.05)
    expect(manyBytes!).toBeLessThan(6000 * 401 / 60 * 1.02 + 1500)
    expect(Math.max(...many.lags())).toBeLessThan(200)
    const entries = new Map<number, number>()
    many.party.replicator.probe = {
      onEntry: (_client, index) => entries.set(index, (entries.get(index) ?? 0) + 1),
      onFrame: () => {},
    }
    for (let tick = 0; tick < 400; tick++)
      many.party.tick(() => {
        for (const rock of many.party.world.each(Rock)) rock.x = (rock.x + 1) % 100
      })
    // Weights of the party are 1 to 7 by index.
    const sum = (weight: number): number =>
      [...entries].reduce((total, [index, count]) => (index % 7 === weight - 1 ? total + count : total), 0)
    expect(entries.size).toBe(200)
    expect(sum(7)).toBeGreaterThan(2 * sum(1))
  })

  test('[REPL11] leaves are sent before changes', () => {
    const { party } = crowd(200, 3000)
    const receiver = party.receivers[0]!
    const [doomed] = [...party.world.each(Rock)].slice(-1)
    party.tick(() => {
      party.world.despawn(doomed!)
    })
    for (let tick = 0; tick < 4; tick++)
      party.tick(() => {
        for (const rock of party.world.each(Rock)) rock.x = (rock.x + 1) % 100
      })
    expect(receiver.sink.held.ids[doomed!.id >>> 16]).toBe(0)
  })
})
