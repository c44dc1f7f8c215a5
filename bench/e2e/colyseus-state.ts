/** The state of the end-to-end bench, for Colyseus: the types that its documentation uses for such fields. */

import { MapSchema, schema, t } from '@colyseus/schema'

export const Player = schema({ x: t.float32(), y: t.float32(), angle: t.uint8(), fired: t.uint8() }, 'Player')
export const State = schema({ players: t.map(Player) }, 'State')

export type Players = MapSchema<InstanceType<typeof Player>>
