/**
 * The enumerations of the R-Type protocol, those that it leaves open, and the units of its numbers.
 *
 * The protocol names end reasons, effects, weapons, AI states, variants and difficulties without values. The values
 * here are our own; unknown ones are passed on as they are.
 */

/** The version of the protocol that CLIENT_CONNECT names. */
export const RTYPE_VERSION = 1

/** Enumerations of the protocol, by name. */
export const RTYPE = {
  /** `rejectCode` of SERVER_REJECT. */
  REJECT: {
    SERVER_FULL: 0x00,
    INCOMPATIBLE_PROTOCOL_VERSION: 0x01,
    INVALID_PLAYER_NAME: 0x02,
    BANNED_CLIENT: 0x03,
    GENERIC_ERROR: 0xff,
  },
  /** `reason` of CLIENT_DISCONNECT. */
  DISCONNECT: { NORMAL: 0x00, TIMEOUT: 0x01, KICKED_BY_SERVER: 0x02, CLIENT_ERROR: 0x03, GENERIC_ERROR: 0xff },
  /** Bits of `inputState`. */
  INPUT: {
    MOVE_UP: 0x0001,
    MOVE_DOWN: 0x0002,
    MOVE_LEFT: 0x0004,
    MOVE_RIGHT: 0x0008,
    FIRE_PRIMARY: 0x0010,
    FIRE_SECONDARY: 0x0020,
    ACTION_SPECIAL: 0x0040,
  },
  /** `entityType`. */
  ENTITY: {
    PLAYER: 0x01,
    ENEMY: 0x02,
    ENEMY_BOSS: 0x03,
    PROJECTILE_PLAYER: 0x04,
    PROJECTILE_ENEMY: 0x05,
    POWERUP: 0x06,
    OBSTACLE: 0x07,
    BG_ELEMENT: 0x08,
  },
  /** `destroyReason`. */
  DESTROY: {
    KILLED_BY_PLAYER: 0x00,
    KILLED_BY_ENEMY: 0x01,
    OUT_OF_BOUNDS: 0x02,
    TIMEOUT_DESPAWN: 0x03,
    LEVEL_TRANSITION: 0x04,
  },
  /** `reason` of SCORE_UPDATE. */
  SCORE: {
    ENEMY_KILL: 0x00,
    BOSS_KILL: 0x01,
    POWERUP_COLLECTED: 0x02,
    LEVEL_COMPLETED: 0x03,
    BONUS_SURVIVAL: 0x04,
    TOOK_DAMAGE: 0x05,
  },
  /** `powerupType`. */
  POWERUP: {
    SPEED_BOOST: 0x00,
    WEAPON_UPGRADE: 0x01,
    FORCE: 0x02,
    SHIELD: 0x03,
    EXTRA_LIFE: 0x04,
    INVINCIBILITY: 0x05,
  },
  /** `attachmentPoint`. */
  FORCE: { DETACHED: 0x00, FRONT: 0x01, BACK: 0x02, ORBITING: 0x03 },
  /** `behaviorType`. */
  AI: {
    IDLE: 0x00,
    PATROL: 0x01,
    CHASE: 0x02,
    FLEE: 0x03,
    ATTACK_PATTERN_1: 0x04,
    ATTACK_PATTERN_2: 0x05,
    ATTACK_PATTERN_3: 0x06,
    BOSS_PHASE_1: 0x07,
    BOSS_PHASE_2: 0x08,
    BOSS_PHASE_3: 0x09,
    KAMIKAZE: 0x0a,
  },
  /** `endReason` of GAME_END; our own values. */
  END: { VICTORY: 0x00, DEFEAT: 0x01, ABANDONED: 0x02 },
  /** `nextLevel` of LEVEL_COMPLETE after the last level. */
  NO_NEXT_LEVEL: 0xff,
  /** `winnerIndex` of GAME_END without a winner. */
  NO_WINNER: 0xff,
} as const

/** The number on the wire for a direction's part, -1 to 1, or any other number in thousandths. */
export function toThousandths(value: number): number {
  return Math.round(value * 1000)
}

/** The number that `toThousandths` made a wire number from. */
export function fromThousandths(wire: number): number {
  return wire / 1000
}

/** The rotation on the wire for an angle in radians: 65,536 is a whole turn. */
export function toRotation(radians: number): number {
  return Math.round((radians / (2 * Math.PI)) * 65_536) & 0xffff
}

/** The angle of a rotation on the wire, in radians, 0 to 2π. */
export function fromRotation(wire: number): number {
  return (wire / 65_536) * 2 * Math.PI
}

/** The scale of an effect on the wire: 100 is the natural size. (That of a transform is in thousandths.) */
export function toEffectScale(scale: number): number {
  return Math.round(scale * 100)
}
