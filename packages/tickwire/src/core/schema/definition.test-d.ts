/** Code that must not compile: the types that follow from a definition, for spawns, steps, views and messages. */

import { expectTypeOf } from 'vitest'
import type { ObjectId } from '../base/time.ts'
import { entity, message, type Init, type Viewed, type Writable } from './definition.ts'
import {
  bool, bytes, deltaStruct, f32, fixed, group, i64, int, list, long, manual, oneOf, quat, ref, struct, text, u8, vec2,
  vec3,
} from './field-kinds.ts'
import { compileSchema } from './schema.ts'
import type { Vec2, Vec3, Vec4 } from './value-types.ts'

const Player = entity({
  at: vec3(-1, 1, 0.1),
  look: quat(),
  alive: bool,
  hp: int(0, 9),
  stance: oneOf('stand', 'crouch'),
  money: i64,
  range: long(0n, 5n),
  name: text(16),
  raw: bytes(4),
  target: ref(),
  shield: group({ hp: u8, from: vec2(0, 1, 0.1) }),
  gear: struct({ ammo: u8, deep: deltaStruct({ on: bool }) }),
  bag: list(struct({ item: oneOf('a', 'b'), count: u8 }), 8),
  speed: f32.velocity().owner().initially(1),
  own: manual<{ n: number }>({
    create: () => ({ n: 0 }),
    write: (writer, value) => writer.writeBits(value.n, 4),
    read: (reader) => ({ n: reader.readBits(4) }),
  }),
})

declare const player: Writable<typeof Player>
declare const view: Viewed<typeof Player>
declare function spawn(init: Init<typeof Player>): void

// [SCHEMA7] every kind has its type
expectTypeOf(player).toEqualTypeOf<{
  at: Vec3
  look: Readonly<Vec4>
  alive: boolean
  hp: number
  stance: 'stand' | 'crouch'
  money: bigint
  range: bigint
  name: string
  raw: Uint8Array
  target: ObjectId | null
  shield: { hp: number; from: Vec2 } | null
  gear: { ammo: number; deep: { on: boolean } }
  bag: readonly { readonly item: 'a' | 'b'; readonly count: number }[]
  speed: number
  own: { n: number }
}>()
expectTypeOf(view.at).toEqualTypeOf<Readonly<Vec3>>()
expectTypeOf(view.shield).toEqualTypeOf<{ readonly hp: number; readonly from: Readonly<Vec2> } | null>()

// [SCHEMA7] correct code compiles
player.at.x += 1
player.stance = 'crouch'
player.shield = null
player.shield = { hp: 1, from: { x: 0, y: 0 } }
player.gear.deep.on = true
player.bag = [...player.bag, { item: 'a', count: 1 }]
spawn({ at: { x: 0, y: 0, z: 0 }, stance: 'stand', bag: [] })
spawn({})

// [SCHEMA7] a misspelt field
// @ts-expect-error reason: there is no `aat`
player.aat = { x: 0, y: 0, z: 0 }
// @ts-expect-error reason: there is no `xx` in a vec3
player.at.xx = 1
// @ts-expect-error reason: a spawn may not name unknown fields
spawn({ helth: 5 })
// @ts-expect-error reason: a vec2 has no z
player.shield = { hp: 1, from: { x: 0, y: 0, z: 0 } }

// [SCHEMA7] a value of the wrong type
// @ts-expect-error reason: hp is a number
player.hp = '5'
// @ts-expect-error reason: money is a bigint
player.money = 5
// @ts-expect-error reason: an id or null, not undefined
player.target = undefined
// @ts-expect-error reason: a struct comes with all its fields
player.gear = { ammo: 5 }
// @ts-expect-error reason: only a group can be absent
player.gear = null

// [SCHEMA7] a name that the choice does not have
// @ts-expect-error reason: 'run' is not one of its names
player.stance = 'run'
// @ts-expect-error reason: 'c' is not an item
player.bag = [{ item: 'c', count: 1 }]

// [SCHEMA7] a wrong spawn
// @ts-expect-error reason: alive is a boolean
spawn({ alive: 1 })
// @ts-expect-error reason: `at` needs z
spawn({ at: { x: 0, y: 0 } })

// [SCHEMA7] a view can only be read, down to its leaves
// @ts-expect-error reason: a view is read-only
view.hp = 5
// @ts-expect-error reason: the parts of a view are read-only too
view.at.x = 5
// @ts-expect-error reason: parts at any depth are read-only
view.gear.deep.on = true

// [SCHEMA7] a value that is one unit is replaced, not changed in place
// @ts-expect-error reason: a rotation is one value
player.look.w = 1
// @ts-expect-error reason: a list is one value
player.bag.push({ item: 'a', count: 1 })
// @ts-expect-error reason: the items of a list are part of that value
player.bag[0]!.count = 2

// [SCHEMA7] a wrong definition, where types can show it
// @ts-expect-error reason: bounds are numbers
fixed('0', 1, 0.1)
// @ts-expect-error reason: a list needs its maximum
list(u8)
// @ts-expect-error reason: a field is not a number
entity({ x: 5 })
// @ts-expect-error reason: an initial value has the field's type
u8.initially('5')
// @ts-expect-error reason: an initial name is one of the names
oneOf('a', 'b').initially('c')

// [SCHEMA7] messages and schemas infer the same way
const Chat = message({ text: text(140), to: ref() }, 'Chat')
expectTypeOf<Writable<typeof Chat>>().toEqualTypeOf<{ text: string; to: ObjectId | null }>()
expectTypeOf(compileSchema('T', { a: u8 }).shape.a['~value']).toEqualTypeOf<number>()
