/**
 * The engine's packets in the words of the protocol's document, for comparison with the checker.
 */

import { decodeRtype, encodeRtype, type RtypeCodecOptions } from '../../packages/tickwire/src/core/rtype/codec.ts'
import { layoutNamed, type RtypeComponent } from '../../packages/tickwire/src/core/rtype/components.ts'
import type { RtypePacket } from '../../packages/tickwire/src/core/rtype/packet-table.ts'
import type { JsonObject, JsonValue, RtypeMeaning } from './rtype-checker.ts'

/** Names of the engine that are not the document's in another spelling. `PACKET.field` goes before `field`. */
const NAMES: { readonly [name: string]: string } = {
  'PLAYER_INPUT.aimX': 'aim_direction_x',
  'PLAYER_INPUT.aimY': 'aim_direction_y',
  'ENTITY_SPAWN.posX': 'position_x',
  'ENTITY_SPAWN.posY': 'position_y',
  'ENTITY_SPAWN.velX': 'initial_velocity_x',
  'ENTITY_SPAWN.velY': 'initial_velocity_y',
  'ENTITY_DESTROY.posX': 'final_position_x',
  'ENTITY_DESTROY.posY': 'final_position_y',
  'PLAYER_HIT.posX': 'hit_pos_x',
  'PLAYER_HIT.posY': 'hit_pos_y',
  'PLAYER_DEATH.posX': 'death_pos_x',
  'PLAYER_DEATH.posY': 'death_pos_y',
  'PARTICLE_SPAWN.velX': 'velocity_x',
  'PARTICLE_SPAWN.velY': 'velocity_y',
  'AI_STATE.remainingMs': 'state_timer',
  'AI.elapsedMs': 'state_timer',
  cooldownRemainingMs: 'cooldown_remaining',
  durationS: 'duration',
  playTimeS: 'play_time',
  completionTimeS: 'completion_time',
  estimatedDurationS: 'estimated_duration',
  winnerIndex: 'winner_id',
  tintR: 'color_tint_r',
  tintG: 'color_tint_g',
  tintB: 'color_tint_b',
  startR: 'color_start_r',
  startG: 'color_start_g',
  startB: 'color_start_b',
  endR: 'color_end_r',
  endG: 'color_end_g',
  endB: 'color_end_b',
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function renamed(owner: string, values: object): JsonObject {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => !['type', 'component', 'entities', 'added', 'components'].includes(name))
      .map(([name, value]: [string, JsonValue | boolean]) => [
        NAMES[`${owner}.${name}`] ?? NAMES[name] ?? snake(name),
        typeof value === 'boolean' ? Number(value) : value,
      ]),
  )
}

function componentMeaning(component: RtypeComponent): JsonObject {
  if (component.component === 'OPAQUE') {
    return { component_type: component.code, data: Buffer.from(component.bytes).toString('hex') }
  }
  return { component_type: layoutNamed(component.component).code, ...renamed(component.component, component) }
}

/** The fields of a packet, in the document's words. */
export function fieldsOf(packet: RtypePacket): JsonObject {
  const fields = renamed(packet.type, packet)
  if ('added' in packet) return { ...fields, ...componentMeaning(packet.added) }
  if ('components' in packet) {
    return { ...fields, component_count: packet.components.length, components: packet.components.map(componentMeaning) }
  }
  if (!('entities' in packet)) return fields
  const owner = packet.type.split('_')[0]!
  const entries = packet.entities.map(({ entityId, value }) => ({ entity_id: entityId, ...renamed(owner, value) }))
  return { ...fields, entity_count: entries.length, entries }
}

/** The engine's bytes of a packet. */
export function engineWritesRtype(
  packet: RtypePacket,
  sequence: number,
  timestamp: number,
  options: RtypeCodecOptions & { readonly flags?: number } = {},
): Uint8Array {
  const out = new Uint8Array(1200)
  return out.slice(0, encodeRtype(packet, sequence, timestamp, out, options))
}

/** The engine's reading of a datagram, in the document's words; undefined if it refuses. */
export function engineReadsRtype(bytes: Uint8Array, options: RtypeCodecOptions = {}): RtypeMeaning | undefined {
  const read = decodeRtype(bytes, bytes.length, options)
  if (typeof read === 'string') return undefined
  const { flags, sequence, timestamp } = read.header
  return { name: read.packet.type, flags, sequence, timestamp, fields: fieldsOf(read.packet) }
}
