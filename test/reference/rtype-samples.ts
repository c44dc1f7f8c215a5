/** One packet of each kind of the R-Type protocol, and some more. */

import type { RtypePacket } from '../../packages/tickwire/src/core/rtype/packet-table.ts'

/** A transform at this place. */
export const transform = (posX: number): { posX: number; posY: number; rotation: number; scale: number } => (
  { posX, posY: -posX, rotation: 16_384, scale: 1000 }
)
const TWO = [7, 0x8000_0001]

/** At least one of each packet, in the order of their codes. */
export const RTYPE_SAMPLES: readonly RtypePacket[] = [
  { type: 'CLIENT_CONNECT', protocolVersion: 1, playerName: 'Ada', clientId: 0xdead_beef },
  { type: 'CLIENT_CONNECT', protocolVersion: 1, playerName: 'é'.repeat(15), clientId: 1 },
  { type: 'SERVER_ACCEPT', assignedPlayerId: 3_000_000_001, maxPlayers: 4, gameInstanceId: 77, serverTickrate: 60 },
  { type: 'SERVER_REJECT', rejectCode: 0, reasonMessage: 'The server is full (4 of 4 players).' },
  { type: 'CLIENT_DISCONNECT', clientId: 0xdead_beef, reason: 1 },
  { type: 'HEARTBEAT', playerId: 3_000_000_001 },
  { type: 'PLAYER_INPUT', playerId: 3_000_000_001, inputState: 0x55, aimX: 1000, aimY: -707 },
  {
    type: 'ENTITY_SPAWN', entityId: 9, entityType: 2, posX: 1920, posY: -16, mobVariant: 3, initialHealth: 40,
    velX: -300, velY: 12, isPlayable: false,
  },
  {
    type: 'ENTITY_SPAWN', entityId: 10, entityType: 1, posX: 100, posY: 500, mobVariant: 0, initialHealth: 100,
    velX: 0, velY: 0, isPlayable: true,
  },
  { type: 'ENTITY_DESTROY', entityId: 9, destroyReason: 2, posX: -40, posY: 300 },
  {
    type: 'TRANSFORM_SNAPSHOT', worldTick: 600,
    entities: TWO.map((entityId, index) => ({ entityId, value: transform(index * 100 - 50) })),
  },
  {
    type: 'VELOCITY_SNAPSHOT', worldTick: 600,
    entities: TWO.map((entityId) => ({
      entityId, value: { velX: -300, velY: 20, accelerationX: 0, accelerationY: -9 },
    })),
  },
  {
    type: 'HEALTH_SNAPSHOT', worldTick: 601,
    entities: TWO.map((entityId) => ({
      entityId, value: { currentHealth: 80, maxHealth: 100, currentShield: 0, maxShield: 50 },
    })),
  },
  {
    type: 'WEAPON_SNAPSHOT', worldTick: 602,
    entities: TWO.map((entityId) => ({
      entityId, value: { weaponType: 2, ammoCount: 255, cooldownRemainingMs: 250, powerLevel: 5 },
    })),
  },
  {
    type: 'AI_SNAPSHOT', worldTick: 603,
    entities: TWO.map((entityId) => ({
      entityId, value: { aiState: 1, behaviorType: 10, targetEntityId: 10, elapsedMs: 1500 },
    })),
  },
  {
    type: 'ANIMATION_SNAPSHOT', worldTick: 604,
    entities: TWO.map((entityId) => ({ entityId, value: { animationId: 12, frame: 3, elapsedMs: 48, flags: 1 } })),
  },
  {
    type: 'COMPONENT_ADD', entityId: 10,
    added: { component: 'POWERUP', powerupType: 3, powerLevel: 1, remainingMs: 10_000 },
  },
  { type: 'COMPONENT_ADD', entityId: 10, added: { component: 'OPAQUE', code: 0x0d, bytes: Uint8Array.of(1, 2, 3) } },
  { type: 'COMPONENT_ADD', entityId: 10, added: { component: 'OPAQUE', code: 0x99, bytes: new Uint8Array(0) } },
  { type: 'COMPONENT_REMOVE', entityId: 10, componentType: 0x0a },
  {
    type: 'TRANSFORM_SNAPSHOT_DELTA', worldTick: 605, baseTick: 600,
    entities: [{ entityId: 7, value: transform(-49) }],
  },
  {
    type: 'HEALTH_SNAPSHOT_DELTA', worldTick: 605, baseTick: 601,
    entities: [{ entityId: 7, value: { currentHealth: 70, maxHealth: 100, currentShield: 0, maxShield: 50 } }],
  },
  {
    type: 'ENTITY_FULL_STATE', entityId: 10, entityType: 1,
    components: [
      { component: 'TRANSFORM', ...transform(100) },
      { component: 'VELOCITY', velX: 1, velY: -1, accelerationX: 2, accelerationY: -2 },
      { component: 'HEALTH', currentHealth: 1, maxHealth: 2, currentShield: 3, maxShield: 4 },
      { component: 'WEAPON', weaponType: 1, ammoCount: 0, cooldownRemainingMs: 0, powerLevel: 1 },
      { component: 'AI', aiState: 0, behaviorType: 0, targetEntityId: 0, elapsedMs: 0 },
      { component: 'FORCE', parentShipId: 10, attachmentPoint: 1, forceLevel: 2, chargeState: 50 },
      { component: 'COLLISION', halfWidth: 16, halfHeight: 8, layer: 1 },
      { component: 'SPRITE', spriteId: 500, layer: 2, tint: 255 },
      { component: 'ANIMATION', animationId: 1, frame: 2, elapsedMs: 3, flags: 4 },
      { component: 'SCORE', score: 123_456 },
      { component: 'INPUT', inputState: 0x11, aimX: 1000, aimY: 0 },
      { component: 'PHYSICS', mass: 100, drag: 5, flags: 0 },
      { component: 'LIFETIME', remainingMs: 900 },
      { component: 'PARENT', parentId: 7, offsetX: -8, offsetY: 8 },
    ],
  },
  {
    type: 'PLAYER_HIT', playerId: 3_000_000_001, attackerId: 9, damage: 20, remainingHealth: 80, remainingShield: 0,
    posX: 104, posY: 498,
  },
  { type: 'PLAYER_DEATH', playerId: 3_000_000_001, killerId: 9, scoreBeforeDeath: 12_300, posX: 104, posY: 498 },
  { type: 'SCORE_UPDATE', playerId: 3_000_000_001, newScore: 12_200, scoreDelta: -100, reason: 5 },
  { type: 'POWERUP_PICKUP', playerId: 3_000_000_001, powerupId: 44, powerupType: 2, durationS: 0 },
  {
    type: 'WEAPON_FIRE', shooterId: 10, projectileId: 300, originX: 120, originY: 500, directionX: 1000, directionY: 0,
    weaponType: 1,
  },
  {
    type: 'VISUAL_EFFECT', effectType: 1, posX: 104, posY: -498, durationMs: 600, scale: 150, tintR: 255, tintG: 180,
    tintB: 0,
  },
  { type: 'AUDIO_EFFECT', effectType: 2, posX: -1, posY: 1, volume: 255, pitch: 100 },
  {
    type: 'PARTICLE_SPAWN', particleSystemId: 258, posX: 1, posY: 2, velX: -3, velY: -4, particleCount: 40,
    lifetimeMs: 800, startR: 255, startG: 255, startB: 128, endR: 64, endG: 0, endB: 0,
  },
  {
    type: 'GAME_START', gameInstanceId: 77, playerCount: 2, playerIds: [3_000_000_001, 12, 0, 0], levelId: 1,
    difficulty: 1,
  },
  { type: 'GAME_END', endReason: 0, finalScores: [99_000, 88_000, 0, 0], winnerIndex: 0, playTimeS: 421 },
  { type: 'GAME_END', endReason: 1, finalScores: [0, 0, 0, 0], winnerIndex: 255, playTimeS: 3 },
  { type: 'LEVEL_COMPLETE', completedLevel: 3, nextLevel: 0xff, bonusScore: 5000, completionTimeS: 140 },
  { type: 'LEVEL_START', levelId: 1, levelName: 'The Drift', estimatedDurationS: 120 },
  {
    type: 'FORCE_STATE', forceEntityId: 20, parentShipId: 10, attachmentPoint: 2, powerLevel: 3, chargePercentage: 100,
    isFiring: true,
  },
  {
    type: 'AI_STATE', entityId: 9, currentState: 1, behaviorType: 7, targetEntityId: 10, waypointX: 1500,
    waypointY: -20, remainingMs: 2500,
  },
  { type: 'ACKNOWLEDGMENT', ackedSequence: 0xffff_ffff, receivedTimestamp: 9001, clientId: 0xdead_beef },
  { type: 'PING', clientTimestamp: 1234, clientId: 0xdead_beef },
  { type: 'PONG', clientTimestamp: 1234, serverTimestamp: 1250 },
]
