/** The code of docs/guide/schema.md. It is compiled with the tests and run by test/reference/schema-docs.test.ts. */

import {
  angle, bool, bytes, deltaStruct, entity, explain, f32, f64, fixed, fixedText, floatQuant, group, i16, i32, i32Word,
  i64, i64Word, i8, int, lintSchema, list, long, manual, message, oneOf, quat, ref, struct, text, u16, u32, u8, vec2,
  vec3, vec4, type BitBuffer, type Field, type Writable, type World,
} from 'tickwire'

// #region player
export const Player = entity({
  at: vec2(0, 640, 0.1),
  hue: u8,
  stance: oneOf('stand', 'run', 'duck'),
  alive: bool.initially(true),
}, { name: 'Player' })
// #endregion

// #region message
export const Chat = message({ text: text(140), whisper: bool }, 'Chat')
// #endregion

// #region struct
const Item = struct({ kind: oneOf('ore', 'wood', 'gem'), count: int(0, 99) })

export const Miner = entity({
  // One bit in the mask; whenever x or y changes both are sent.
  at: struct({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1) }),
  // One bit in the mask, four more when a member changes, then the changed members only.
  gear: deltaStruct({ pick: u8, lamp: u8, boots: u8, rope: bool }),
  // Null until it is assigned; while it is null it costs one bit, the one in the mask.
  shield: group({ hp: u8.initially(100), colour: u32 }),
  // Replaced as a whole: miner.bag = [...miner.bag, { kind: 'ore', count: 1 }]
  bag: list(Item, 8),
}, { name: 'Miner' })
// #endregion

// #region ref
export const Missile = entity({ at: vec2(0, 640, 0.1), target: ref() }, { name: 'Missile' })

export function chase(world: World): void {
  for (const missile of world.each(Missile)) {
    const target = world.get(Player, missile.target)
    // The object was despawned, or it is out of sight.
    if (target === null) continue
    missile.at.x += Math.sign(target.at.x - missile.at.x)
    missile.at.y += Math.sign(target.at.y - missile.at.y)
  }
}
// #endregion

// #region audience
export const Soldier = entity({
  at: vec3(-512, 512, 0.01),
  order: oneOf('hold', 'attack', 'retreat').team(),
  ammo: int(0, 255).owner(),
  recoil: f32.local(),
  suspicion: u8.server(),
}, { name: 'Soldier' })
// #endregion

// #region motion
export const Car = entity({
  at: vec3(-4096, 4096, 0.01).position(),
  speed: vec3(-128, 128, 0.01).velocity(),
  heading: quat(12),
  spin: vec3(-16, 16, 0.01).angularVelocity(),
  gear: int(-1, 6),
  odometer: fixed(0, 1_000_000, 1).snap(),
}, { name: 'Car' })
// #endregion

// #region manual
interface Sound { name: number; volume: number }

const VOLUME = floatQuant(0, 1, 0.01)

export const Speaker = entity({
  on: bool,
  sound: manual<Sound>({
    format: 'sound 1',
    create: () => ({ name: 0, volume: 0 }),
    serialize(buffer: BitBuffer, sound: Sound): Sound {
      const name = buffer.rangedInt(sound.name, 0, 511)
      // Silence has no volume: one bit instead of eight. A volume that rounds to 0 is silence.
      const isLoud = buffer.bool(sound.volume >= 0.005)
      return { name, volume: isLoud ? buffer.compressedFloat(sound.volume, VOLUME) : 0 }
    },
  }),
}, { name: 'Speaker' })
// #endregion

// #region twins
export const Seeds = entity({
  three: manual<readonly number[]>({
    format: 'three nibbles',
    create: () => [0, 0, 0],
    write(writer, value) {
      for (const each of value) writer.writeBits(each, 4)
    },
    read: (reader) => [reader.readBits(4), reader.readBits(4), reader.readBits(4)],
  }),
}, { name: 'Seeds' })
// #endregion

// #region explain
export function report(): string[] {
  const { costs, maskBits, bitsMax } = explain(Player.schema)
  const lines = costs.map(({ path, bitsMin, bitsMax: most }) => `${path}: ${bitsMin} to ${most} bits`)
  return [
    ...lines,
    `nothing changed: ${maskBits} bits`,
    `everything changed: ${bitsMax} bits at most`,
    ...lintSchema(Player.schema),
  ]
}
// #endregion

/** What `step` may write to. */
export type PlayerObject = Writable<typeof Player>

/** Every line of the table of costs in the guide, as code. */
export const costs: { readonly [code: string]: Field<unknown> } = {
  'bool': bool,
  'u8': u8,
  'i8': i8,
  'int(0, 9)': int(0, 9),
  'int(0, 1023)': int(0, 1023),
  'u16': u16,
  'i16': i16,
  'u32': u32,
  'i32': i32,
  'i32Word': i32Word,
  'i64': i64,
  'i64Word': i64Word,
  'long(0n, 1_000_000_000_000n)': long(0n, 1_000_000_000_000n),
  'f32': f32,
  'f64': f64,
  'fixed(0, 640, 0.1)': fixed(0, 640, 0.1),
  'fixed(-4096, 4096, 0.001)': fixed(-4096, 4096, 0.001),
  'angle()': angle(),
  'angle(8)': angle(8),
  'vec2(0, 640, 0.1)': vec2(0, 640, 0.1),
  'vec3(-4096, 4096, 0.001)': vec3(-4096, 4096, 0.001),
  'vec3(-256, 256, 0.01)': vec3(-256, 256, 0.01),
  'vec4(0, 1, 0.01)': vec4(0, 1, 0.01),
  'quat()': quat(),
  'quat(15)': quat(15),
  'oneOf(\'stand\', \'run\', \'duck\')': oneOf('stand', 'run', 'duck'),
  'text(16)': text(16),
  'fixedText(16)': fixedText(16),
  'bytes(64)': bytes(64),
  'ref()': ref(),
  'list(u8, 7)': list(u8, 7),
  'struct({ a: u8, b: bool })': struct({ a: u8, b: bool }),
  'deltaStruct({ a: u8, b: u16, c: bool })': deltaStruct({ a: u8, b: u16, c: bool }),
  'group({ a: u8, b: bool })': group({ a: u8, b: bool }),
}
