/** Rows that a client does not hold: old baselines, undecodable rows, and requests for full rows. */

import { describe, expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { REASON } from '../../packages/tickwire/src/core/replication/probe.ts'
import { WantedRows, wantedSink } from '../../packages/tickwire/src/core/replication/receive/wanted-rows.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { u16, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { CLEAR, Party } from './replication-party.ts'

const Unit = entity({ x: u16, plan: u8.team(), ammo: u8.owner(), mood: u8.server() }, { name: 'Unit' })

describe('baselines that the client does not have', () => {
  test('[REPL4, REPL17] a baseline acknowledged after newer rows were sent is used for one window', () => {
    const window = 16
    const party = new Party(1, [Unit], window)
    const { source, sink } = party.join(1, () => 0)
    const frame = new BitWriter(new Uint8Array(200))
    const unit = party.world.spawn(Unit, {})
    // The party does not run the receiver: the test itself sends the acknowledgements.
    party.receivers.length = 0
    const tick = (change: boolean): Uint8Array => {
      party.tick(() => { if (change) unit.x++ })
      source.begin()
      frame.reset(frame.bytes)
      return source.fill(0, party.world.tick, frame) ? frame.bytes.slice(0, frame.finish()) : new Uint8Array(0)
    }
    const hear = (bytes: Uint8Array): string => sink.accept(0, 0, new BitReader(bytes))
    expect(hear(tick(false))).toBe('ok')
    source.onDelivered(0, 1)
    expect([hear(tick(true)), hear(tick(true))]).toEqual(['ok', 'ok'])
    // The older of the two is acknowledged, the newer counts as lost; then there is no space for long.
    source.onDelivered(0, 2)
    source.onLost(0, 3)
    expect(source.baselineOf(unit.id)).toBe(2)
    party.world.spawn(Unit, {})
    for (let rest = 0; rest < 2 * window; rest++) party.tick(() => {})
    expect(hear(tick(false))).toBe('ok')
    expect(sink.undecodableCount).toBe(0)
    expect(source.baselineOf(unit.id)).toBe(-1)
  })

  test('[REPL4, REPL17] an acknowledgement later than a window makes only the newest sent row a baseline', () => {
    const party = new Party(1, [Unit], 8)
    const receiver = party.join(1, () => 0)
    receiver.line = { ...CLEAR, delay: 12, patience: 100 }
    const unit = party.world.spawn(Unit, {})
    for (let tick = 0; tick < 60; tick++) party.tick(() => { if (tick % 13 === 12) unit.x++ })
    for (let tick = 0; tick < 60; tick++) party.tick(() => { unit.x++ })
    expect(receiver.sink.undecodableCount).toBe(0)
    for (let tick = 0; tick < 60; tick++) party.tick(() => {})
    expect(receiver.whyNotCurrent()).toBe(undefined)
    expect(receiver.source.baselineOf(unit.id)).toBeGreaterThan(0)
  })

  test('[REPL17] a row that cannot be decoded is requested until it arrives whole; other rows go on', () => {
    const party = new Party(1, [Unit], 16)
    const receiver = party.join(1, () => 0)
    const [unit, other] = [party.world.spawn(Unit, {}), party.world.spawn(Unit, {})]
    for (let tick = 0; tick < 10; tick++) party.tick(() => { unit.x++; other.x++ })
    // The receiver drops rows, as if its window were shorter than agreed.
    const { held } = receiver.sink
    held.floors[unit.id >>> 16] = party.world.tick
    const reasons: number[] = []
    party.replicator.probe = {
      onEntry: (_client, index, _type, reason) => {
        if (index === unit.id >>> 16) reasons.push(reason)
      },
      onFrame: () => {},
    }
    for (let tick = 0; tick < 3; tick++)
      party.tick(() => {
        unit.x++
        other.x++
      })
    expect(receiver.sink.undecodableCount).toBeGreaterThan(0)
    expect(receiver.sink.wanted.count).toBe(1)
    for (let tick = 0; tick < 10; tick++) party.tick(() => { unit.x++; other.x++ })
    expect(reasons).toContain(REASON.full)
    expect(receiver.sink.wanted.count).toBe(0)
    for (let tick = 0; tick < 30; tick++) party.tick(() => {})
    expect(receiver.whyNotCurrent()).toBe(undefined)
  })

  test('[REPL17] requests are repeated until they arrive, and malformed ones are protocol errors', () => {
    const wanted = new WantedRows()
    const out = new BitWriter(new Uint8Array(64))
    for (const id of [70_000, 5, 70_000, 2 ** 32 - 1]) wanted.ask(id)
    expect([wanted.count, wanted.wantsAt(3)]).toEqual([3, 3])
    expect(wanted.fill(0, 1, out)).toBe(true)
    expect([wanted.wantsAt(3), wanted.fill(0, 2, out)]).toEqual([Infinity, false])
    wanted.onLost(0, 1)
    wanted.settle(70_000)
    expect(wanted.wantsAt(3)).toBe(3)
    out.reset(out.bytes)
    wanted.fill(0, 3, out)
    const received: number[] = []
    const bytes = out.bytes.slice(0, out.finish())
    expect(wantedSink((id) => received.push(id)).accept(0, 0, new BitReader(bytes))).toBe('ok')
    expect(received).toEqual([5, 2 ** 32 - 1])
    for (const nonsense of [[5, 5], [7, 3], [0], [0x80, 0x80, 0x80, 0x80, 0x20]]) {
      expect(wantedSink(() => {}).accept(0, 0, new BitReader(Uint8Array.from(nonsense)))).toBe('broken')
    }
  })
})
