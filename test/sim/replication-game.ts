/**
 * Games for replication alone, with walkers and crates that spawn and despawn, have owners, and are in view or not. The
 * test decides how wild the game is, and over which links it is sent.
 */

import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import type { RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, fixed, i32, u16, u8, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { CLEAR, Party, type Line, type Sees } from './replication-party.ts'

const Walker = entity(
  {
    at: vec2(-1000, 1000, 0.1).position(),
    speed: vec2(-60, 60, 0.1).velocity(),
    heading: fixed(0, 360, 1),
    ammo: u16.owner(),
    plan: i32.team(),
    secret: i32.server(),
  },
  { name: 'Walker' },
)
/** It has no velocity: a coder that uses the row before a baseline needs more bits for it. */
const Crate = entity({ at: vec2(0, 100, 0.5).position(), isOpen: bool, paint: u8 }, { name: 'Crate' })

const ENTITIES = [Walker, Crate]
const PEERS = 4
export const OBJECTS = 110

/** How a game and its links behave. */
export interface Mood {
  /** Per thousand ticks and object: it despawns, changes its owner, starts or stops walking. */
  readonly churn: number
  readonly handover: number
  readonly whim: number
  /** Ticks that an object stays in view or out of it; 0: every client always sees all. */
  readonly blink: number
  /** One tick in this many is skipped by a stall; 0: none. */
  readonly sleep: number
  /** Whether no object has an owner, so that all clients are sent the same. */
  readonly isOwnerless?: boolean
  /** One object in this many has an owner, and one in this many is out of a view. */
  readonly rarity?: number
}

export const CALM: Mood = { churn: 0, handover: 0, whim: 8, blink: 0, sleep: 0 }
export const EQUAL: Mood = { ...CALM, isOwnerless: true }
export const WILD: Mood = { churn: 4, handover: 4, whim: 30, blink: 40, sleep: 9 }

export class Game {
  readonly party: Party
  readonly #dice: Prng
  readonly #mood: Mood
  readonly #walking = new Set<number>()
  readonly #hasBulk: boolean
  #frozenAt = Infinity

  /** `hasBulk`: common blocks are sent in bulk, which is turned off and on now and then. */
  constructor(
    seed: number, coder: (schema: Schema) => RowCoder, mood: Mood, windowTicks: number, drawLine: (dice: Prng) => Line,
    hasBulk = false,
  ) {
    this.#hasBulk = hasBulk
    this.#dice = new Prng(seed)
    this.#mood = mood
    this.party = new Party(seed, ENTITIES, windowTicks, () => ENTITIES.map(({ schema }) => coder(schema)))
    if (hasBulk) this.party.replicator.schedule.fix(true)
    for (let peer = 1; peer <= PEERS; peer++) {
      const isCapped = mood !== CALM && mood !== EQUAL && this.#dice.nextInt(0, 2) === 0
      const receiver = this.party.join(
        peer,
        this.#seesOf(peer),
        isCapped ? { bytesPerSecond: this.#dice.nextInt(2000, 60_000), tickRate: 60 } : {},
      )
      receiver.line = drawLine(this.#dice)
    }
  }

  run(ticks: number, drawLine: (dice: Prng) => Line): void {
    const dice = this.#dice
    for (let tick = 0; tick < ticks; tick++) {
      this.party.tick(() => this.#step(), this.#mood.sleep > 0 && dice.nextInt(1, this.#mood.sleep) === 1)
      if (this.#hasBulk && dice.nextInt(0, 40) === 0) this.party.replicator.schedule.fix(dice.nextInt(0, 3) > 0)
      if (tick % 50 === 49) this.party.receivers[dice.nextInt(0, PEERS - 1)]!.line = drawLine(dice)
    }
  }

  /** From now on objects that are in view stay in view. */
  freeze(): void {
    this.#frozenAt = this.party.world.tick
  }

  #step(): void {
    const { world } = this.party
    const dice = this.#dice
    const { churn, handover, whim } = this.#mood
    const chance = (perThousand: number): boolean => dice.nextInt(0, 999) < perThousand
    let count = 0
    for (const walker of [...world.each(Walker)]) {
      count++
      if (chance(churn)) {
        world.despawn(walker)
        continue
      }
      if (chance(handover))
        world.setOwner(
          walker,
          this.#mood.rarity !== undefined && dice.nextInt(1, this.#mood.rarity) > 1 ? 0 : dice.nextInt(0, PEERS),
        )
      if (chance(whim)) this.#walking.has(walker.id) ? this.#walking.delete(walker.id) : this.#walking.add(walker.id)
      if (chance(20)) walker.secret++
      if (chance(20)) walker.ammo = dice.nextInt(0, 9)
      if (chance(10)) walker.plan = dice.nextInt(0, 9)
      if (!this.#walking.has(walker.id)) continue
      if (chance(100)) walker.speed.x = dice.nextInt(-5, 5)
      walker.at.x += walker.speed.x / 60 + 0.1
      if (chance(300)) walker.heading = dice.nextInt(0, 360)
    }
    for (const crate of [...world.each(Crate)]) {
      count++
      if (chance(churn)) { world.despawn(crate); continue }
      if (chance(60)) crate.at.x = dice.nextInt(0, 100)
      if (chance(10)) crate.paint = dice.nextInt(0, 255)
    }
    for (; count < OBJECTS && (churn === 0 || chance(300)); count++) {
      if (chance(700))
        this.#walking.add(
          world.spawn(
            Walker,
            {},
            this.#mood.isOwnerless !== true && chance(300 / (this.#mood.rarity ?? 1)) ? dice.nextInt(0, PEERS) : 0,
          ).id,
        )
      else world.spawn(Crate, {})
    }
  }

  #seesOf(peer: number): Sees {
    const { blink, rarity = 1 } = this.#mood
    return (index, id, tick) => {
      if (
        blink > 0
        && ((index * 2654435761 + Math.floor((Math.min(tick, this.#frozenAt) + 7 * index) / blink) * 40503 + peer * 977)
          >>> 7)
          % (5 * rarity)
          === 0
      )
        return -1
      const owner = this.party.world.objects.ownerAt(id >>> 16)
      return owner === peer ? 2 : owner > 0 && owner <= 2 && peer <= 2 ? 1 : 0
    }
  }
}

export const CODERS: { readonly [name: string]: (schema: Schema) => RowCoder } = {
  packed: (schema) => new PackedCoder(schema),
  entropy: (schema) => new EntropyCoder(schema, 60),
}

/** A good path whose packets are small enough for blocks to be cut in two. */
export const fair = (dice: Prng): Line => ({
  ...CLEAR,
  delay: dice.nextInt(0, 4),
  patience: 12,
  packetBytes: dice.nextInt(0, 1) === 0 ? 1150 : dice.nextInt(60, 400),
})

export const foul = (dice: Prng): Line => ({
  loss: dice.nextInt(0, 3) * 0.1,
  ackLoss: dice.nextInt(0, 2) * 0.15,
  twice: 0.05,
  delay: dice.nextInt(0, 8),
  jitter: dice.nextInt(0, 2) * 4,
  patience: dice.nextInt(3, 45),
  packetBytes: dice.nextInt(0, 2) === 0 ? 90 : dice.nextInt(200, 1150),
  packetsPerTick: dice.nextInt(1, 12),
})

/** Few packets are in flight, and now and then one overtakes another. */
export const hasty = (dice: Prng): Line => ({
  ...CLEAR,
  loss: dice.nextInt(0, 2) * 0.1,
  ackLoss: 0.1,
  twice: 0.05,
  delay: dice.nextInt(0, 2),
  jitter: dice.nextInt(0, 2) * 3,
  packetBytes: dice.nextInt(100, 1150),
})
