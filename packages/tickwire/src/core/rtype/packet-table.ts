/**
 * The 36 packets of the R-Type protocol: code, sender, whether it is sent as reliable, and fields in the order of the
 * wire.
 *
 * `tail` says what follows the fields. A list of entities is preceded by its count (16 bits), and each entry is an
 * entity id (32 bits) and the named component. ADD is one component with its type and size, FULL_STATE a count (8 bits)
 * and that many of them. Where the protocol's stated size and its fields differ, the fields win (`isLoose`).
 */

import type { RtypeComponent, RtypeComponentName, RtypeComponentValues } from './components.ts'
import type { RtypeFieldValue } from './fields.ts'

/** Every packet. */
export const RTYPE_PACKETS = {
  // Connection.
  CLIENT_CONNECT: {
    code: 0x01, from: 'client', isReliable: false, tail: 'none',
    fields: { protocolVersion: 'u8', playerName: 'name32', clientId: 'u32' },
  },
  SERVER_ACCEPT: {
    code: 0x02, from: 'server', isReliable: false, tail: 'none',
    fields: { assignedPlayerId: 'u32', maxPlayers: 'players', gameInstanceId: 'u32', serverTickrate: 'u16' },
  },
  SERVER_REJECT: {
    code: 0x03, from: 'server', isReliable: false, tail: 'none',
    fields: { rejectCode: 'u8', reasonMessage: 'text64' },
  },
  CLIENT_DISCONNECT: {
    code: 0x04, from: 'both', isReliable: true, tail: 'none', fields: { clientId: 'u32', reason: 'u8' },
  },
  HEARTBEAT: { code: 0x05, from: 'client', isReliable: false, tail: 'none', fields: { playerId: 'u32' } },

  // Input. The aim is a direction in thousandths.
  PLAYER_INPUT: {
    code: 0x10, from: 'client', isReliable: false, tail: 'none', isLoose: true,
    fields: { playerId: 'u32', inputState: 'inputs', aimX: 'i16', aimY: 'i16' },
  },

  // Entities.
  ENTITY_SPAWN: {
    code: 0x21, from: 'server', isReliable: true, tail: 'none',
    fields: {
      entityId: 'u32', entityType: 'entity', posX: 'i16', posY: 'i16', mobVariant: 'u8', initialHealth: 'u8',
      velX: 'i16', velY: 'i16', isPlayable: 'flag',
    },
  },
  ENTITY_DESTROY: {
    code: 0x22, from: 'server', isReliable: true, tail: 'none',
    fields: { entityId: 'u32', destroyReason: 'u8', posX: 'i16', posY: 'i16' },
  },

  // Snapshots.
  TRANSFORM_SNAPSHOT: {
    code: 0x24, from: 'server', isReliable: false, tail: 'TRANSFORM', fields: { worldTick: 'u32' },
  },
  VELOCITY_SNAPSHOT: {
    code: 0x25, from: 'server', isReliable: false, tail: 'VELOCITY', fields: { worldTick: 'u32' },
  },
  HEALTH_SNAPSHOT: { code: 0x26, from: 'server', isReliable: false, tail: 'HEALTH', fields: { worldTick: 'u32' } },
  WEAPON_SNAPSHOT: { code: 0x27, from: 'server', isReliable: false, tail: 'WEAPON', fields: { worldTick: 'u32' } },
  AI_SNAPSHOT: { code: 0x28, from: 'server', isReliable: false, tail: 'AI', fields: { worldTick: 'u32' } },
  ANIMATION_SNAPSHOT: {
    code: 0x29, from: 'server', isReliable: false, tail: 'ANIMATION', fields: { worldTick: 'u32' },
  },
  COMPONENT_ADD: { code: 0x2a, from: 'server', isReliable: true, tail: 'ADD', fields: { entityId: 'u32' } },
  COMPONENT_REMOVE: {
    code: 0x2b, from: 'server', isReliable: true, tail: 'none', fields: { entityId: 'u32', componentType: 'u8' },
  },
  TRANSFORM_SNAPSHOT_DELTA: {
    code: 0x2c, from: 'server', isReliable: false, tail: 'TRANSFORM', isLoose: true,
    fields: { worldTick: 'u32', baseTick: 'u32' },
  },
  HEALTH_SNAPSHOT_DELTA: {
    code: 0x2d, from: 'server', isReliable: false, tail: 'HEALTH', fields: { worldTick: 'u32', baseTick: 'u32' },
  },
  ENTITY_FULL_STATE: {
    code: 0x2e, from: 'server', isReliable: true, tail: 'FULL_STATE',
    fields: { entityId: 'u32', entityType: 'entity' },
  },

  // Game events.
  PLAYER_HIT: {
    code: 0x40, from: 'server', isReliable: true, tail: 'none',
    fields: {
      playerId: 'u32', attackerId: 'u32', damage: 'u8', remainingHealth: 'u8', remainingShield: 'u8', posX: 'i16',
      posY: 'i16',
    },
  },
  PLAYER_DEATH: {
    code: 0x41, from: 'server', isReliable: true, tail: 'none',
    fields: { playerId: 'u32', killerId: 'u32', scoreBeforeDeath: 'u32', posX: 'i16', posY: 'i16' },
  },
  SCORE_UPDATE: {
    code: 0x42, from: 'server', isReliable: false, tail: 'none',
    fields: { playerId: 'u32', newScore: 'u32', scoreDelta: 'i16', reason: 'u8' },
  },
  POWERUP_PICKUP: {
    code: 0x43, from: 'server', isReliable: true, tail: 'none',
    fields: { playerId: 'u32', powerupId: 'u32', powerupType: 'u8', durationS: 'u8' },
  },
  WEAPON_FIRE: {
    code: 0x44, from: 'server', isReliable: false, tail: 'none',
    fields: {
      shooterId: 'u32', projectileId: 'u32', originX: 'i16', originY: 'i16', directionX: 'i16', directionY: 'i16',
      weaponType: 'u8',
    },
  },

  // Effects.
  VISUAL_EFFECT: {
    code: 0x50, from: 'server', isReliable: false, tail: 'none',
    fields: {
      effectType: 'u8', posX: 'i16', posY: 'i16', durationMs: 'u16', scale: 'u8', tintR: 'u8', tintG: 'u8', tintB: 'u8',
    },
  },
  AUDIO_EFFECT: {
    code: 0x51, from: 'server', isReliable: false, tail: 'none',
    fields: { effectType: 'u8', posX: 'i16', posY: 'i16', volume: 'u8', pitch: 'u8' },
  },
  PARTICLE_SPAWN: {
    code: 0x52, from: 'server', isReliable: false, tail: 'none',
    fields: {
      particleSystemId: 'u16', posX: 'i16', posY: 'i16', velX: 'i16', velY: 'i16', particleCount: 'u16',
      lifetimeMs: 'u16', startR: 'u8', startG: 'u8', startB: 'u8', endR: 'u8', endG: 'u8', endB: 'u8',
    },
  },

  // Game control.
  GAME_START: {
    code: 0x60, from: 'server', isReliable: true, tail: 'none',
    fields: { gameInstanceId: 'u32', playerCount: 'players', playerIds: 'u32x4', levelId: 'u8', difficulty: 'u8' },
  },
  GAME_END: {
    code: 0x61, from: 'server', isReliable: true, tail: 'none',
    fields: { endReason: 'u8', finalScores: 'u32x4', winnerIndex: 'winner', playTimeS: 'u32' },
  },
  LEVEL_COMPLETE: {
    code: 0x62, from: 'server', isReliable: true, tail: 'none',
    fields: { completedLevel: 'u8', nextLevel: 'u8', bonusScore: 'u32', completionTimeS: 'u16' },
  },
  LEVEL_START: {
    code: 0x63, from: 'server', isReliable: true, tail: 'none',
    fields: { levelId: 'u8', levelName: 'text32', estimatedDurationS: 'u16' },
  },
  FORCE_STATE: {
    code: 0x64, from: 'server', isReliable: false, tail: 'none',
    fields: {
      forceEntityId: 'u32', parentShipId: 'u32', attachmentPoint: 'point', powerLevel: 'level',
      chargePercentage: 'percent', isFiring: 'flag',
    },
  },
  AI_STATE: {
    code: 0x65, from: 'server', isReliable: false, tail: 'none', isLoose: true,
    fields: {
      entityId: 'u32', currentState: 'u8', behaviorType: 'u8', targetEntityId: 'u32', waypointX: 'i16',
      waypointY: 'i16', remainingMs: 'u16',
    },
  },

  // Protocol control.
  ACKNOWLEDGMENT: {
    code: 0x70, from: 'both', isReliable: false, tail: 'none',
    fields: { ackedSequence: 'u32', receivedTimestamp: 'u32', clientId: 'u32' },
  },
  PING: {
    code: 0x71, from: 'client', isReliable: false, tail: 'none', fields: { clientTimestamp: 'u32', clientId: 'u32' },
  },
  PONG: {
    code: 0x72, from: 'server', isReliable: false, tail: 'none',
    fields: { clientTimestamp: 'u32', serverTimestamp: 'u32' },
  },
} as const

/** The name of a packet. */
export type RtypePacketName = keyof typeof RTYPE_PACKETS

/** The values of a packet, by field. */
type RtypePacketValues<Name extends RtypePacketName> = {
  readonly [Field in keyof (typeof RTYPE_PACKETS)[Name]['fields']]: RtypeFieldValue<
    (typeof RTYPE_PACKETS)[Name]['fields'][Field]
  >
}

/** The value of a component of one entity, in a snapshot. */
export interface RtypeEntityValue<Name extends RtypeComponentName> {
  /** The id of the entity. */
  readonly entityId: number
  /** The values of the component. */
  readonly value: RtypeComponentValues<Name>
}

type RtypeTail<Tail> = Tail extends RtypeComponentName
  ? { readonly entities: readonly RtypeEntityValue<Tail>[] }
  : Tail extends 'ADD'
    ? { readonly added: RtypeComponent }
    : Tail extends 'FULL_STATE'
      ? { readonly components: readonly RtypeComponent[] }
      : object

/** The packet with this name: its fields, and `entities`, `added` or `components` where it has them. */
export type RtypePacketOf<Name extends RtypePacketName> = { readonly type: Name } & RtypePacketValues<Name>
  & RtypeTail<(typeof RTYPE_PACKETS)[Name]['tail']>

/** Any packet. */
export type RtypePacket = { [Name in RtypePacketName]: RtypePacketOf<Name> }[RtypePacketName]
