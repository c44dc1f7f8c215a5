/** The game of the end-to-end bench, for nengi 2. */

import { Binary, Context, defineSchema } from 'nengi'

export const KIND = { player: 1, input: 2 } as const

export const context = new Context()
context.register(
  KIND.player,
  defineSchema({ x: Binary.Float32, y: Binary.Float32, angle: Binary.UInt8, fired: Binary.UInt8 }),
)
context.register(KIND.input, defineSchema({ dx: Binary.Int8, dy: Binary.Int8, fire: Binary.Boolean }))
