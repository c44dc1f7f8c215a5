/**
 * Replication over bad links: the rows that a client holds are correct, and relevant ones become current, with every
 * coder.
 */

import { describe, expect, test } from 'vitest'
import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import type { FieldSet, RowCoder, RowPair } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import {
  bool,
  deltaStruct,
  fixed,
  group,
  i32,
  text,
  u16,
  u8,
  vec2,
} from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import type { ValueStore } from '../../packages/tickwire/src/core/schema/values.ts'
import { REASON } from '../../packages/tickwire/src/core/replication/probe.ts'
import { form } from '../form.ts'
import { CLEAR, Party, type Line, type Sees } from './replication-party.ts'

const Ship = entity(
  {
    at: vec2(-1000, 1000, 0.1),
    heading: fixed(0, 360, 1),
    hull: u8.initially(100),
    ammo: u16.owner(),
    plan: i32.team(),
    secret: i32.server(),
    shield: group({ power: u8, isUp: bool }),
    name: text(12),
    gear: deltaStruct({ wheels: bool, flaps: u8 }),
  },
  { name: 'Ship' },
)
const Rock = entity({ x: fixed(0, 100, 0.5), y: fixed(0, 100, 0.5), isGold: bool }, { name: 'Rock' })

const PEERS = 3
const WINDOW = 32

/** A random tick of a game. */
function play(party: Party, dice: Prng, calm: number): void {
  const { world } = party
  const ships = [...world.each(Ship)]
  const rocks = [...world.each(Rock)]
  if (ships.length < 12 && dice.nextInt(0, 9) < 3)
    world.spawn(Ship, { name: `n${dice.nextInt(0, 5)}`, hull: dice.nextInt(0, 255) }, dice.nextInt(0, PEERS))
  if (rocks.length < 40 && dice.nextInt(0, 9) < 4)
    world.spawn(Rock, { x: dice.nextInt(0, 100), y: dice.nextInt(0, 100) })
  for (const ship of ships) {
    if (dice.nextInt(0, 99) < 2) { world.despawn(ship); continue }
    if (dice.nextInt(0, 99) < 2) world.setOwner(ship, dice.nextInt(0, PEERS))
    if (dice.nextInt(0, 99) < calm) continue
    if (dice.nextInt(0, 1) === 0) ship.at.x += dice.nextInt(-3, 3)
    if (dice.nextInt(0, 3) === 0) ship.at.y += dice.nextFloat()
    if (dice.nextInt(0, 5) === 0) ship.heading = dice.nextInt(0, 360)
    if (dice.nextInt(0, 3) === 0) ship.ammo = dice.nextInt(0, 9)
    if (dice.nextInt(0, 3) === 0) ship.plan = dice.nextInt(-9, 9)
    if (dice.nextInt(0, 1) === 0) ship.secret++
    if (dice.nextInt(0, 9) === 0) ship.shield = ship.shield ? null : { power: 3, isUp: true }
    if (dice.nextInt(0, 19) === 0) ship.name = `n${dice.nextInt(0, 5)}`
    if (dice.nextInt(0, 9) === 0) ship.gear.flaps = dice.nextInt(0, 3)
  }
  for (const rock of rocks) {
    if (dice.nextInt(0, 99) < 1) { world.despawn(rock); continue }
    if (dice.nextInt(0, 99) < 4) rock.x = dice.nextInt(0, 100)
    if (dice.nextInt(0, 99) < 2) rock.isGold = !rock.isGold
  }
}

/** Objects enter and leave the view by a hash; teams are peers 1 and 2. */
function seesOf(party: Party, peer: number, blink: number): Sees {
  return (index, id, tick) => {
    if (
      blink > 0
      && ((index * 2654435761 + Math.floor((tick + 7 * index) / blink) * 40503 + peer * 977) >>> 7) % 4 === 0
    )
      return -1
    const owner = party.world.objects.ownerAt(id >>> 16)
    if (owner === peer) return 2
    return owner > 0 && owner <= 2 && peer <= 2 ? 1 : 0
  }
}

function drawLine(dice: Prng): Line {
  return {
    loss: dice.nextInt(0, 2) * 0.2, ackLoss: dice.nextInt(0, 2) * 0.2, twice: dice.nextInt(0, 1) * 0.1,
    delay: dice.nextInt(0, 6), jitter: dice.nextInt(0, 2) * 6, patience: dice.nextInt(4, 40),
    packetBytes: dice.nextInt(0, 3) === 0 ? 80 : 1150, packetsPerTick: dice.nextInt(1, 4),
  }
}

/**
 * A packed coder that also writes checksums of the baseline and of the row before it, and fails when the receiver has
 * other rows.
 */
class DistrustfulCoder extends PackedCoder {
  readonly usesOlder = true
  readonly #schema: Schema

  constructor(schema: Schema) {
    super(schema)
    this.#schema = schema
  }

  override write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    out.writeBits(this.#sum(set, pair, 'baseRows', pair.baseAt), 16)
    out.writeBits(this.#sum(set, pair, 'olderRows', pair.olderAt), 16)
    out.writeBits(pair.age & 255, 8)
    return super.write(out, set, pair, heap)
  }

  override read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    if (reader.readBits(16) !== this.#sum(set, pair, 'baseRows', pair.baseAt)) reader.fail()
    if (reader.readBits(16) !== this.#sum(set, pair, 'olderRows', pair.olderAt)) reader.fail()
    if (reader.readBits(8) !== (pair.age & 255)) reader.fail()
    if (pair.olderAt >= 0) seen.older++
    super.read(reader, set, pair, heap)
  }

  #sum(set: FieldSet, pair: RowPair, rows: 'baseRows' | 'olderRows', at: number): number {
    let sum = 1
    if (at < 0) return 0
    const texts = new Set(this.#schema.heapLeaves.map((leaf) => leaf.lane))
    for (const { lane, laneCount } of this.#schema.masks[set].members) {
      for (let each = lane; each < lane + laneCount; each++)
        if (!texts.has(each)) sum = (Math.imul(sum, 31) + pair[rows][at + each]!) & 0xffff
    }
    return sum
  }
}

const seen = { older: 0 }

const CODERS: { readonly [name: string]: (schema: Schema) => RowCoder } = {
  packed: (schema) => new PackedCoder(schema),
  distrustful: (schema) => new DistrustfulCoder(schema),
  entropy: (schema) => new EntropyCoder(schema, 60),
}

function makeParty(seed: number, coder: string = 'packed'): { readonly party: Party; readonly dice: Prng } {
  const dice = new Prng(seed)
  const party = new Party(seed, [Ship, Rock], WINDOW, () => [Ship, Rock].map(({ schema }) => CODERS[coder]!(schema)))
  const blink = [0, 3, 20, 100][dice.nextInt(0, 3)]!
  for (let peer = 1; peer <= PEERS; peer++) {
    const receiver = party.join(
      peer,
      seesOf(party, peer, blink),
      dice.nextInt(0, 2) === 0 ? { bytesPerSecond: dice.nextInt(500, 5000), tickRate: 60 } : {},
    )
    receiver.line = drawLine(dice)
  }
  return { party, dice }
}

/** Calm: nothing moves, nothing is lost, no object enters or leaves a view. */
function settle(party: Party, ticks: number): void {
  for (const [at, receiver] of party.receivers.entries()) {
    receiver.line = { ...CLEAR }
    receiver.relevance.sees = seesOf(party, at + 1, 0)
  }
  for (let tick = 0; tick < ticks; tick++) party.tick(() => {})
  for (const receiver of party.receivers) expect(receiver.whyNotCurrent(), `seed ${party.seed}`).toBe(undefined)
}

describe('held rows are true, and relevant ones become current', () => {
  const seeds = Number(process.env['TICKWIRE_SEEDS'] ?? form(4, 12))
  for (const coder of Object.keys(CODERS)) {
    test(`[REPL1, REPL2, REPL5] ${seeds} games in random weather, ${coder}`, { timeout: 600_000 }, () => {
      const counts = { frames: 0, notAcked: 0, stale: 0 }
      for (let seed = 1; seed <= seeds; seed++) {
        const { party, dice } = makeParty(seed, coder)
        const calm = dice.nextInt(0, 2) * 45
        const sleepy = dice.nextInt(0, 2) * 3
        for (let tick = 0; tick < 300; tick++) {
          party.tick(() => play(party, dice, calm), sleepy > 0 && dice.nextInt(0, sleepy) === 0)
          if (tick % 60 === 59) party.receivers[dice.nextInt(0, PEERS - 1)]!.line = drawLine(dice)
        }
        settle(party, 120)
        for (const { framesSent, notAcked, sink } of party.receivers) {
          counts.frames += framesSent
          counts.notAcked += notAcked
          counts.stale += sink.staleCount
        }
      }
      expect(counts.frames).toBeGreaterThan(seeds * 300)
      expect(counts.stale).toBeGreaterThan(seeds)
      // Rows that cannot be decoded are rare even here.
      expect(counts.notAcked).toBeLessThan(counts.frames / 20)
    })
  }

  test('[REPL9] the row before the baseline is used where both sides hold it', () => {
    expect(seen.older).toBeGreaterThan(100)
  })
})

/** Two ships that always move, one that rests, seen by one receiver on a clear link. */
function makeQuiet(window: number = WINDOW): { readonly party: Party; readonly move: (moving: boolean) => void } {
  const party = new Party(1, [Ship, Rock], window)
  party.join(1, () => 0)
  party.tick(() => { for (let count = 0; count < 3; count++) party.world.spawn(Ship, { name: `s${count}` }) })
  return {
    party,
    move: (moving) => party.tick(() => {
      const [first, second] = [...party.world.each(Ship)]
      if (!moving) return
      first!.at.x += 1
      second!.heading = (second!.heading + 1) % 360
    }),
  }
}

describe('what is sent', () => {
  test('[REPL3] unchanged rows are not sent, and a client that holds everything is sent nothing', () => {
    const { party, move } = makeQuiet()
    const [receiver] = party.receivers
    for (let tick = 0; tick < 20; tick++) move(false)
    const { framesSent } = receiver!
    for (let tick = 0; tick < 200; tick++) move(false)
    expect(receiver!.framesSent).toBe(framesSent)
    for (let tick = 0; tick < 10; tick++) move(true)
    expect(receiver!.framesSent).toBe(framesSent + 10)
    expect(receiver!.sink.undecodableCount).toBe(0)
  })

  test('[REPL4] an object that rested longer than the window starts with a delta', () => {
    const { party, move } = makeQuiet()
    const [receiver] = party.receivers
    for (let tick = 0; tick < 10 * WINDOW; tick++) move(true)
    const rested = [...party.world.each(Ship)][2]!
    const bits: number[] = []
    party.replicator.probe = {
      onEntry: (_client, index, _type, reason, count) => {
        if (index === rested.id >>> 16) bits.push(reason, count)
      },
      onFrame: () => {},
    }
    party.tick(() => { rested.at.x = 5 })
    const tick = party.world.tick
    for (let after = 0; after < 6; after++) move(true)
    expect(bits[0]).toBe(REASON.changed)
    expect(bits[1]).toBeLessThan(60)
    expect(receiver!.timeline.find(0, rested.id, tick)).toBeGreaterThanOrEqual(0)
    expect(receiver!.timeline.lane(0, rested.id, tick - 1, 0)).toBe(10_000)
    expect(receiver!.timeline.find(0, rested.id, tick - 2)).toBe(-1)
  })

  test('[REPL4] deltas use an old baseline until a newer one is acked, and a full row follows', () => {
    const { party, move } = makeQuiet()
    const [receiver] = party.receivers
    for (let tick = 0; tick < 20; tick++) move(true)
    receiver!.line = { ...CLEAR, ackLoss: 1, patience: 10 }
    const reasons = new Map<number, number>()
    party.replicator.probe = {
      onEntry: (_client, _index, _type, reason) => reasons.set(reason, (reasons.get(reason) ?? 0) + 1),
      onFrame: () => {},
    }
    for (let tick = 0; tick < WINDOW - 8; tick++) move(true)
    expect(reasons.get(REASON.full)).toBeUndefined()
    for (let tick = 0; tick < 2 * WINDOW; tick++) move(true)
    expect(reasons.get(REASON.full)).toBeGreaterThan(0)
    expect(receiver!.sink.undecodableCount).toBe(0)
    receiver!.line = { ...CLEAR }
    for (let tick = 0; tick < 20; tick++) move(true)
    expect(receiver!.sink.tick).toBeGreaterThan(party.world.tick - 4)
  })

  test('[REPL4] a host that runs several ticks at once forgets no change among them', () => {
    const party = new Party(1, [Ship, Rock], 8)
    const receiver = party.join(1, () => 2)
    party.tick(() => { party.world.spawn(Ship, {}, 1) })
    for (let tick = 0; tick < 6; tick++) party.tick(() => {})
    receiver.line = { ...CLEAR, loss: 1, patience: 200 }
    for (let tick = 0; tick < 40; tick++)
      party.tick(
        () => {
          for (const ship of party.world.each(Ship)) if (tick % 3 === 0) ship.ammo++
        },
        tick % 3 !== 2,
      )
    receiver.line = { ...CLEAR }
    for (let tick = 0; tick < 8; tick++)
      party.tick(
        () => { for (const ship of party.world.each(Ship)) ship.ammo++ },
        tick % 3 !== 2,
      )
    for (let tick = 0; tick < 8; tick++) party.tick(() => {})
    expect(receiver.whyNotCurrent()).toBe(undefined)
  })

  test('[REPL6] after five seconds of silence in one direction everything is current within a round trip', () => {
    for (const line of [{ ...CLEAR, loss: 1 }, { ...CLEAR, ackLoss: 1 }, { ...CLEAR, loss: 1, ackLoss: 1 }]) {
      const { party, move } = makeQuiet(60)
      const [receiver] = party.receivers
      for (let tick = 0; tick < 30; tick++) move(true)
      receiver!.line = line
      const doomed = [...party.world.each(Ship)][2]!
      for (let tick = 0; tick < 300; tick++) party.tick(() => {
        if (tick === 20) party.world.despawn(doomed)
        if (tick === 40) party.world.spawn(Rock, { x: 5 })
        for (const ship of party.world.each(Ship)) ship.at.x += 0.5
      })
      receiver!.line = { ...CLEAR }
      for (let tick = 0; tick < 30; tick++) party.tick(() => {})
      expect(receiver!.whyNotCurrent()).toBe(undefined)
      expect(receiver!.sink.undecodableCount).toBe(0)
    }
  })

  test('[REPL7] a lost packet is repaired at the next tick, and delays nothing else', () => {
    const { party, move } = makeQuiet()
    const [receiver] = party.receivers
    for (let tick = 0; tick < 20; tick++) move(true)
    receiver!.line = { ...CLEAR, loss: 1, patience: 4 }
    move(true)
    const lost = party.world.tick
    receiver!.line = { ...CLEAR, patience: 4 }
    for (let tick = 0; tick < 3; tick++) move(true)
    // Moving objects are sent again before any loss was noticed.
    expect(receiver!.sink.tick).toBeGreaterThan(lost)
    for (const ship of [...party.world.each(Ship)].slice(0, 2))
      expect(receiver!.timeline.changedAt(ship.id)).toBeGreaterThan(lost)
  })
})

/** Plays one game twice; the second differs in what the receiver may not see. */
function playHidden(seed: number, isOther: boolean): string {
  const party = new Party(seed, [Ship, Rock], WINDOW)
  const dice = new Prng(seed)
  const hidden = new Prng(seed + (isOther ? 1000 : 0))
  const receiver = party.join(1, seesOf(party, 1, 20), { bytesPerSecond: 3000, tickRate: 60 })
  receiver.line = drawLine(dice)
  receiver.log = []
  for (let tick = 0; tick < 300; tick++) {
    party.tick(() => {
      for (const ship of party.world.each(Ship)) {
        const isMate = ship.owner === 1 || ship.owner === 2
        ship.secret = hidden.nextInt(0, 9)
        if (ship.owner !== 1) ship.ammo = hidden.nextInt(0, isOther ? 3 : 9)
        if (!isMate && hidden.nextInt(0, 1) === 0) ship.plan = hidden.nextInt(0, 9)
        if (dice.nextInt(0, 99) < 30) ship.at.x += 1
        if (isMate && dice.nextInt(0, 9) === 0) ship.plan = dice.nextInt(0, 9)
        if (ship.owner === 1 && dice.nextInt(0, 9) === 0) ship.ammo = dice.nextInt(0, 9)
      }
      if (party.world.count(Ship) < 20 && dice.nextInt(0, 9) < 3)
        party.world.spawn(Ship, { hull: dice.nextInt(0, 9) }, dice.nextInt(0, PEERS))
      if (dice.nextInt(0, 9) === 0)
        for (const ship of party.world.each(Ship)) if (dice.nextInt(0, 9) === 0) party.world.despawn(ship)
    })
  }
  return receiver.log.map((bytes) => Buffer.from(bytes).toString('hex')).join('\n')
}

test('[REPL8] games that differ only in what a receiver may not see send it the same bytes', () => {
  for (let seed = 1; seed <= form(4, 10); seed++) {
    const log = playHidden(seed, false)
    expect(log.length).toBeGreaterThan(5000)
    expect(playHidden(seed, true) === log, `seed ${seed}`).toBe(true)
  }
})
