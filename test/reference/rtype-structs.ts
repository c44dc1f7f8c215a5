/**
 * The packets of the R-Type protocol as its document declares them, in its own notation, and a reader of that notation.
 *
 * Nothing here comes from the engine. `[]` is a list of entries; its count is the field before it. Sizes are the sums
 * of the fields.
 */

/** `code name | flags that must be set | fields | list`. */
const PACKETS = `
0x01 CLIENT_CONNECT | | u8 protocol_version, name32 player_name, u32 client_id
0x02 SERVER_ACCEPT | | u32 assigned_player_id, u8<=4 max_players, u32 game_instance_id, u16 server_tickrate
0x03 SERVER_REJECT | | u8 reject_code, text64 reason_message
0x04 CLIENT_DISCONNECT | RELIABLE | u32 client_id, u8 reason
0x05 HEARTBEAT | | u32 player_id
0x10 PLAYER_INPUT +2 | | u32 player_id, input input_state, i16 aim_direction_x, i16 aim_direction_y
0x21 ENTITY_SPAWN | | u32 entity_id, u8=1-8 entity_type, i16 position_x, i16 position_y, u8 mob_variant, u8
  initial_health, i16 initial_velocity_x, i16 initial_velocity_y, u8<=1 is_playable
0x22 ENTITY_DESTROY | | u32 entity_id, u8 destroy_reason, i16 final_position_x, i16 final_position_y
0x24 TRANSFORM_SNAPSHOT | | u32 world_tick, u16 entity_count | 0x01
0x25 VELOCITY_SNAPSHOT | | u32 world_tick, u16 entity_count | 0x02
0x26 HEALTH_SNAPSHOT | | u32 world_tick, u16 entity_count | 0x03
0x27 WEAPON_SNAPSHOT | | u32 world_tick, u16 entity_count | 0x04
0x28 AI_SNAPSHOT | | u32 world_tick, u16 entity_count | 0x05
0x29 ANIMATION_SNAPSHOT | | u32 world_tick, u16 entity_count | 0x09
0x2a COMPONENT_ADD | | u32 entity_id | one
0x2b COMPONENT_REMOVE | | u32 entity_id, u8 component_type
0x2c TRANSFORM_SNAPSHOT_DELTA +2 | | u32 world_tick, u32 base_tick, u16 entity_count | 0x01
0x2d HEALTH_SNAPSHOT_DELTA | | u32 world_tick, u32 base_tick, u16 entity_count | 0x03
0x2e ENTITY_FULL_STATE | | u32 entity_id, u8=1-8 entity_type, u8 component_count | many
0x40 PLAYER_HIT | | u32 player_id, u32 attacker_id, u8 damage, u8 remaining_health, u8 remaining_shield, i16
  hit_pos_x, i16 hit_pos_y
0x41 PLAYER_DEATH | | u32 player_id, u32 killer_id, u32 score_before_death, i16 death_pos_x, i16 death_pos_y
0x42 SCORE_UPDATE | | u32 player_id, u32 new_score, i16 score_delta, u8 reason
0x43 POWERUP_PICKUP | | u32 player_id, u32 powerup_id, u8 powerup_type, u8 duration
0x44 WEAPON_FIRE | | u32 shooter_id, u32 projectile_id, i16 origin_x, i16 origin_y, i16 direction_x, i16 direction_y,
  u8 weapon_type
0x50 VISUAL_EFFECT | | u8 effect_type, i16 pos_x, i16 pos_y, u16 duration_ms, u8 scale, u8 color_tint_r, u8
  color_tint_g, u8 color_tint_b
0x51 AUDIO_EFFECT | | u8 effect_type, i16 pos_x, i16 pos_y, u8 volume, u8 pitch
0x52 PARTICLE_SPAWN | | u16 particle_system_id, i16 pos_x, i16 pos_y, i16 velocity_x, i16 velocity_y, u16
  particle_count, u16 lifetime_ms, u8 color_start_r, u8 color_start_g, u8 color_start_b, u8 color_end_r, u8
  color_end_g, u8 color_end_b
0x60 GAME_START | | u32 game_instance_id, u8<=4 player_count, u32[4] player_ids, u8 level_id, u8 difficulty
0x61 GAME_END | | u8 end_reason, u32[4] final_scores, winner winner_id, u32 play_time
0x62 LEVEL_COMPLETE | | u8 completed_level, u8 next_level, u32 bonus_score, u16 completion_time
0x63 LEVEL_START | | u8 level_id, text32 level_name, u16 estimated_duration
0x64 FORCE_STATE | | u32 force_entity_id, u32 parent_ship_id, u8<=3 attachment_point, u8=1-5 power_level, u8<=100
  charge_percentage, u8<=1 is_firing
0x65 AI_STATE +2 | | u32 entity_id, u8 current_state, u8 behavior_type, u32 target_entity_id, i16 waypoint_x, i16
  waypoint_y, u16 state_timer
0x70 ACKNOWLEDGMENT | | u32 acked_sequence, u32 received_timestamp, u32 client_id
0x71 PING | | u32 client_timestamp, u32 client_id
0x72 PONG | | u32 client_timestamp, u32 server_timestamp`

/** The first six are the document's, and so is the size of ANIMATION. The fields of the others are the wire page's. */
const COMPONENTS = `
0x01 TRANSFORM fixed | | i16 pos_x, i16 pos_y, u16 rotation, u16 scale
0x02 VELOCITY fixed | | i16 vel_x, i16 vel_y, i16 acceleration_x, i16 acceleration_y
0x03 HEALTH fixed | | u8 current_health, u8 max_health, u8 current_shield, u8 max_shield
0x04 WEAPON fixed | | u8 weapon_type, u8 ammo_count, u16 cooldown_remaining, u8=1-5 power_level
0x05 AI fixed | | u8 ai_state, u8 behavior_type, u32 target_entity_id, u16 state_timer
0x06 FORCE fixed | | u32 parent_ship_id, u8<=3 attachment_point, u8 force_level, u8 charge_state
0x07 COLLISION | | u16 half_width, u16 half_height, u8 layer
0x08 SPRITE | | u16 sprite_id, u8 layer, u8 tint
0x09 ANIMATION fixed | | u16 animation_id, u16 frame, u16 elapsed_ms, u8 flags
0x0a POWERUP | | u8 powerup_type, u8 power_level, u16 remaining_ms
0x0b SCORE | | u32 score
0x0c INPUT | | input input_state, i16 aim_x, i16 aim_y
0x0d PHYSICS | | u16 mass, u16 drag, u8 flags
0x0e LIFETIME | | u16 remaining_ms
0x0f PARENT | | u32 parent_id, i16 offset_x, i16 offset_y`

/** One field of a struct. */
export interface StructField {
  readonly type: string
  readonly name: string
  readonly bytes: number
  readonly min: number
  readonly max: number
}

/** A packet or a component. */
export interface Struct {
  readonly code: number
  readonly name: string
  /** Two more bytes are accepted if sizes are read leniently. */
  readonly isLoose: boolean
  readonly isFixed: boolean
  readonly mustBeReliable: boolean
  readonly fields: readonly StructField[]
  /** The component of a list, `one`, `many`, or nothing. */
  readonly list: string
  /** Bytes of the fields. */
  readonly bytes: number
}

const SIZES: { readonly [type: string]: number } = {
  u8: 1, u16: 2, i16: 2, input: 2, u32: 4, 'u32[4]': 16, winner: 1, name32: 32, text32: 32, text64: 64,
}

function fieldOf(text: string): StructField {
  const [typed = '', name = ''] = text.trim().split(' ')
  const [, type = '', most, low, high] = /^([a-z]\w*(?:\[4\])?)(?:<=(\d+)|=(\d+)-(\d+))?$/.exec(typed) ?? []
  return { type, name, bytes: SIZES[type] ?? 0, min: Number(low ?? -Infinity), max: Number(most ?? high ?? Infinity) }
}

function structsOf(text: string): Struct[] {
  return text.trim().replaceAll('\n  ', ' ').split('\n').map((line) => {
    const [head = '', flags = '', fields = '', list = ''] = line.split('|').map((part) => part.trim())
    const [code = '', name = '', mark] = head.split(' ')
    const parsed = fields.split(',').map(fieldOf)
    return {
      code: Number(code), name, isLoose: mark === '+2', isFixed: mark === 'fixed', mustBeReliable: flags === 'RELIABLE',
      fields: parsed, list, bytes: parsed.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  })
}

export const PACKET_STRUCTS: readonly Struct[] = structsOf(PACKETS)
export const COMPONENT_STRUCTS: readonly Struct[] = structsOf(COMPONENTS)
