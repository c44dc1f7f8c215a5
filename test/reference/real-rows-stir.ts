/** Changes of the fields of `Everything` in `real-rows-game.ts`: one for each kind of field. */

import type { ObjectId, ObjectOf } from 'tickwire'
import { dice, turned } from './real-rows-dice.ts'
import type { Everything } from './real-rows-game.ts'

type Change = (each: ObjectOf<typeof Everything>, draw: (purpose: number) => number) => void

const NAMES = ['', 'Ada', 'Bo', 'Åke', 'Ωmega 🎲', 'a rather long name, of forty bytes, yes'] as const

const CHANGES: readonly Change[] = [
  (each) => {
    each.flag = !each.flag
  },
  (each, draw) => {
    each.level = (draw(1) % 1006) - 5
  },
  (each) => {
    each.tiny += 1
  },
  (each, draw) => {
    each.sign = (draw(3) % 256) - 128
  },
  (each, draw) => {
    each.word = draw(4) % 65_536
  },
  (each, draw) => {
    each.short = (draw(5) % 65_536) - 32_768
  },
  (each, draw) => {
    each.wide = draw(6)
  },
  (each, draw) => {
    each.small = (draw(7) % 2001) - 1000
  },
  (each, draw) => {
    each.big = draw(8) | 0
  },
  (each, draw) => {
    each.range = draw(9) % 4_000_000_001
  },
  (each, draw) => {
    each.huge = BigInt(draw(10)) * -977n
  },
  (each, draw) => {
    each.hugeWord = BigInt(draw(11)) ** 2n / 4n
  },
  (each, draw) => {
    each.span = BigInt(draw(12)) * 1000n - 5n
  },
  (each, draw) => {
    each.single = Math.fround(draw(13) / 1000 - 5000)
  },
  (each, draw) => {
    each.double = draw(14) / 7
  },
  (each, draw) => {
    each.singleAny = [NaN, Infinity, -Infinity, -0, 1.5][draw(15) % 5]!
  },
  (each, draw) => {
    each.doubleAny = [NaN, Infinity, -Infinity, -0, 2.5][draw(16) % 5]!
  },
  (each, draw) => {
    each.part = (draw(17) % 1000) / 100 - 3
  },
  (each) => {
    each.bearing += 0.1
  },
  (each, draw) => {
    each.flat = { x: each.flat.x + 0.37, y: (draw(19) % 200) - 100 }
  },
  (each, draw) => {
    each.place = { x: (draw(20) % 200) / 10 - 10, y: each.place.y, z: (draw(21) % 9) / 4 - 1 }
  },
  (each, draw) => {
    each.four = { x: 0.5, y: (draw(22) % 1000) / 1000, z: 0.25, w: 1 }
  },
  (each, draw) => {
    each.turn = turned(each.turn, (draw(23) % 100) / 20, 'z')
  },
  (each, draw) => {
    each.stance = (['idle', 'run', 'jump'] as const)[draw(24) % 3]!
  },
  (each, draw) => {
    each.name = NAMES[draw(25) % 6]!
  },
  (each, draw) => {
    each.tag = ['', 'abc', 'ß'][draw(26) % 3]!
  },
  (each, draw) => {
    each.blob = Uint8Array.from({ length: draw(27) % 25 }, (_, at) => draw(at))
  },
  (each, draw) => {
    each.kit = {
      n: draw(28) % 256,
      ok: draw(29) % 2 === 0,
      q: turned(each.kit.q, 0.7, 'x'),
      t: NAMES[draw(30) % 4]!,
      v: { x: draw(31) % 9, y: 1 },
    }
  },
  (each, draw) => {
    each.gear.a = draw(32) % 256
  },
  (each) => {
    each.gear.b = !each.gear.b
  },
  (each, draw) => {
    each.gear.c = (draw(33) % 100) / 100
  },
  (each, draw) => {
    each.gear.d = NAMES[draw(34) % 3]!
  },
  (each, draw) => {
    each.gear.e = { f: draw(35) | 0, g: each.gear.e.g + 0.3 }
  },
  (each, draw) => {
    each.shield =
      each.shield === null
        ? {
            hp: draw(36) % 256,
            aim: turned({ x: 0, y: 0, z: 0, w: 1 }, 1, 'y'),
            note: NAMES[draw(37) % 4]!,
            on: true,
            drift: 1,
          }
        : null
  },
  (each, draw) => {
    if (each.shield !== null) each.shield.drift = (draw(38) % 800) / 100 - 4
  },
  (each) => {
    if (each.shield !== null) each.shield.aim = turned(each.shield.aim, 0.2, 'x')
  },
  (each, draw) => {
    each.items = Array.from({ length: draw(39) % 5 }, (_, at) => ({
      k: draw(40 + at) % 256,
      s: NAMES[draw(45 + at) % 4]!,
    }))
  },
  (each, draw) => {
    each.target = draw(50) % 2 === 0 ? null : (each.id as ObjectId)
  },
  (each, draw) => {
    each.own = Array.from({ length: draw(51) % 8 }, (_, at) => draw(52 + at) % 32)
  },
  (each, draw) => {
    each.plan = { x: (draw(60) % 500) / 10, y: each.plan.y + 0.1 }
  },
  (each, draw) => {
    each.calm = draw(61) % 256
  },
  (each) => {
    each.ammo += 1
  },
  (each, draw) => {
    each.secret = NAMES[draw(62) % 4]!
  },
  (each) => {
    each.heading += 0.05
  },
  (each, draw) => {
    each.memo = draw(63) % 1000
  },
  (each, draw) => {
    each.trap = draw(64) % 256
  },
]

/** Changes some fields of an object, each kind in a different way. */
export function stir(tick: number, each: ObjectOf<typeof Everything>): void {
  const draw = (purpose: number): number => dice(tick, each.id, purpose)
  each.slow = (each.slow + 3) % 65_536
  CHANGES.forEach((change, purpose) => { if (draw(purpose + 1000) % 12 === 0) change(each, draw) })
}
