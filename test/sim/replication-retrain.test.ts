/**
 * Tables that change in the middle of a match, below the network: each receiver changes at any time, forth and back,
 * and rows sent with one version are baselines for the next. Every row is compared with the truth, every frame with
 * that of a twin.
 */

import { expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { TrainedTables, type EntityPriors } from '../../packages/tickwire/src/core/codec/priors.ts'
import { RowPair, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { train } from '../../packages/tickwire/src/core/codec/training.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed, u16, u8, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { CLEAR, Party, type Line } from './replication-party.ts'

const TICK_RATE = 60
const Kite = entity(
  { at: vec2(-1000, 1000, 0.1).position(), heading: fixed(0, 360, 1), tail: u8, ammo: u16.owner() },
  { name: 'Kite' },
)
const KITES = 70
const PEERS = 4

/** Trains on a world whose kites fly like this. */
function learn(version: number, speed: number): EntityPriors {
  const { schema } = Kite
  const dice = new Prng(version)
  const rows = Array.from({ length: 600 }, () => new Int32Array(schema.laneCount))
  for (let tick = 1; tick < rows.length; tick++) {
    rows[tick]!.set(rows[tick - 1]!)
    rows[tick]![0]! += speed
    if (dice.nextInt(0, 9) === 0) rows[tick]![2] = dice.nextInt(0, 200)
  }
  return train(schema, TICK_RATE, version, (see) => {
    const pair = new RowPair()
    for (const age of [1, 3, 6, 10]) {
      for (let tick = 12; tick < rows.length; tick++) {
        see(
          Object.assign(pair, {
            rows: rows[tick],
            at: 0,
            baseRows: rows[tick - age],
            baseAt: 0,
            age,
            olderRows: rows[tick - age - 1],
            olderAt: 0,
          }),
        )
      }
    }
  })
}

const PRIORS = [learn(1, 3), learn(2, 40), learn(3, 0)]
/** Coders of a version, made separately for each side, as on two machines. */
const codersOf = (version: number): readonly RowCoder[] => [
  new EntropyCoder(
    Kite.schema,
    TICK_RATE,
    version === 0 ? {} : { tables: (plan) => new TrainedTables(plan, PRIORS[version - 1]!) },
  ),
]

/**
 * Kites that fly, turn, and are replaced now and then, all visible to every client; `change` is called after every
 * tick.
 */
function fly(
  seed: number,
  ticks: number,
  lineOf: (dice: Prng) => Line,
  change: (party: Party, dice: Prng, tick: number) => void,
  strideTicks = 1,
): Party {
  const dice = new Prng(seed)
  const party = new Party(seed, [Kite], 32, () => codersOf(0), strideTicks)
  for (let peer = 1; peer <= PEERS; peer++)
    party.join(peer, (index) => (lineOf !== clear && index % 9 === peer ? 2 : 0)).line = lineOf(dice)
  for (let tick = 0; tick < ticks; tick++) {
    party.tick(() => {
      let count = 0
      for (const kite of [...party.world.each(Kite)]) {
        count++
        const fate = dice.nextInt(0, 999)
        if (fate < 2) party.world.despawn(kite)
        else if (fate < 100) kite.heading = dice.nextInt(0, 359)
        else if (fate < 110) kite.ammo = fate
        if (fate >= 2 && kite.id % 3 !== 0) kite.at.x = kite.at.x > 900 ? -900 : kite.at.x + 0.3
      }
      for (; count < KITES; count++) party.world.spawn(Kite, { tail: count })
    }, dice.nextInt(0, 19) === 0)
    change(party, dice, tick)
  }
  for (const receiver of party.receivers) receiver.line = { ...CLEAR }
  for (let tick = 0; tick < 60 || party.world.tick % strideTicks !== 0; tick++) party.tick(() => {})
  return party
}

const foul = (dice: Prng): Line => ({
  loss: dice.nextInt(0, 3) * 0.1,
  ackLoss: dice.nextInt(0, 2) * 0.15,
  twice: 0.05,
  delay: dice.nextInt(0, 8),
  jitter: dice.nextInt(0, 2) * 4,
  patience: dice.nextInt(3, 45),
  packetBytes: dice.nextInt(0, 2) === 0 ? 90 : dice.nextInt(200, 1150),
  packetsPerTick: dice.nextInt(1, 12),
})
const clear = (): Line => ({ ...CLEAR, packetsPerTick: 64 })

for (const strideTicks of [1, 2]) {
  test(
    `[REPL21] receivers that change tables at any time get correct rows: sent every ${strideTicks}`,
    { timeout: 120_000 },
    () => {
      const seeds = Number(process.env['TICKWIRE_SEEDS'] ?? 2)
      for (let seed = 1; seed <= seeds; seed++) {
        const { receivers } = fly(
          seed,
          120,
          seed % 2 === 0 ? clear : foul,
          (party, dice) => {
            if (dice.nextInt(0, 11) !== 0) return
            const version = dice.nextInt(1, 3)
            party.receivers[dice.nextInt(0, PEERS - 1)]!.retrain(
              replicatorOf(party, version),
              version,
              codersOf(version),
            )
          },
          strideTicks,
        )
        for (const receiver of receivers) expect(receiver.whyNotCurrent(), `seed ${seed}`).toBeUndefined()
      }
    },
  )
}

test('[REPL21] clients that hold the same version share its deltas', { timeout: 120_000 }, () => {
  let [made, moved] = [0, 0]
  const party = fly(9, 140, clear, (party, _dice, tick) => {
    const receiver = party.receivers[tick - 60]
    if (tick >= 60 && receiver !== undefined) receiver.retrain(replicatorOf(party, 1), 1, codersOf(1))
    if (tick < 100) return
    const { cache, marks } = replicatorOf(party, 1)
    made += cache.count
    for (let index = 0; index < marks.ids.length; index++) if (marks.changed[index << 2] === marks.tick) moved++
  })
  expect(replicatorOf(party, 1).marks).toBe(party.replicator.marks)
  // All clients have equal links, and so the same baselines: one delta serves all of them.
  expect(made).toBeGreaterThan(100)
  expect(made / moved).toBeLessThan(1.5)
})

const replicators = new WeakMap<Party, Map<number, Party['replicator']>>()

/** One Replicator per version, as in a match. */
function replicatorOf(party: Party, version: number): Party['replicator'] {
  const known = replicators.get(party) ?? new Map<number, Party['replicator']>()
  replicators.set(party, known)
  const found = known.get(version) ?? party.replicator.retrained(codersOf(version))
  known.set(version, found)
  return found
}
