/**
 * The 15 component types of the R-Type protocol, each with its fields.
 *
 * The protocol defines the fields of six. It states the size of ANIMATION (7 bytes) and nothing about the last eight:
 * those nine have fields of our own. A component of the first seven with another size is refused; one of the last
 * eight, and a type that is not known, is read as its bytes.
 */

import { fieldListBytes, type RtypeFieldKind, type RtypeFieldList, type RtypeFieldValue } from './fields.ts'

/** Every component type: code, whether the size is part of the protocol, and fields in the order of the wire. */
export const RTYPE_COMPONENTS = {
  /** Pixels; a rotation of 65,536 is a whole turn; a scale of 1000 is the natural size. */
  TRANSFORM: { code: 0x01, isFixed: true, fields: { posX: 'i16', posY: 'i16', rotation: 'u16', scale: 'u16' } },
  /** Pixels a second, and pixels a second squared. */
  VELOCITY: {
    code: 0x02,
    isFixed: true,
    fields: { velX: 'i16', velY: 'i16', accelerationX: 'i16', accelerationY: 'i16' },
  },
  HEALTH: {
    code: 0x03,
    isFixed: true,
    fields: { currentHealth: 'u8', maxHealth: 'u8', currentShield: 'u8', maxShield: 'u8' },
  },
  WEAPON: {
    code: 0x04,
    isFixed: true,
    fields: { weaponType: 'u8', ammoCount: 'u8', cooldownRemainingMs: 'u16', powerLevel: 'level' },
  },
  /** `elapsedMs` is the time in the state. The target 0 is none. */
  AI: {
    code: 0x05,
    isFixed: true,
    fields: { aiState: 'u8', behaviorType: 'u8', targetEntityId: 'u32', elapsedMs: 'u16' },
  },
  FORCE: {
    code: 0x06,
    isFixed: true,
    fields: { parentShipId: 'u32', attachmentPoint: 'point', forceLevel: 'u8', chargeState: 'u8' },
  },
  COLLISION: { code: 0x07, isFixed: false, fields: { halfWidth: 'u16', halfHeight: 'u16', layer: 'u8' } },
  SPRITE: { code: 0x08, isFixed: false, fields: { spriteId: 'u16', layer: 'u8', tint: 'u8' } },
  ANIMATION: {
    code: 0x09,
    isFixed: true,
    fields: { animationId: 'u16', frame: 'u16', elapsedMs: 'u16', flags: 'u8' },
  },
  POWERUP: { code: 0x0a, isFixed: false, fields: { powerupType: 'u8', powerLevel: 'u8', remainingMs: 'u16' } },
  SCORE: { code: 0x0b, isFixed: false, fields: { score: 'u32' } },
  INPUT: { code: 0x0c, isFixed: false, fields: { inputState: 'inputs', aimX: 'i16', aimY: 'i16' } },
  PHYSICS: { code: 0x0d, isFixed: false, fields: { mass: 'u16', drag: 'u16', flags: 'u8' } },
  LIFETIME: { code: 0x0e, isFixed: false, fields: { remainingMs: 'u16' } },
  PARENT: { code: 0x0f, isFixed: false, fields: { parentId: 'u32', offsetX: 'i16', offsetY: 'i16' } },
} as const

/** The name of a component type. */
export type RtypeComponentName = keyof typeof RTYPE_COMPONENTS

/** The values of a component, by field. */
export type RtypeComponentValues<Name extends RtypeComponentName> = {
  readonly [Field in keyof (typeof RTYPE_COMPONENTS)[Name]['fields']]: RtypeFieldValue<
    (typeof RTYPE_COMPONENTS)[Name]['fields'][Field]
  >
}

/** A component whose fields are not known: its type and its bytes. */
export interface RtypeOpaque {
  /** Always `OPAQUE`. */
  readonly component: 'OPAQUE'
  /** The code of the component's type. */
  readonly code: number
  /** At most 255 bytes. */
  readonly bytes: Uint8Array
}

/** A component of COMPONENT_ADD and ENTITY_FULL_STATE. */
export type RtypeComponent =
  | RtypeOpaque
  | { [Name in RtypeComponentName]: { readonly component: Name } & RtypeComponentValues<Name> }[RtypeComponentName]

/** A component type, as the codec uses it. */
export interface RtypeLayout {
  /** The name of the type. */
  readonly name: RtypeComponentName
  /** The code of the type. */
  readonly code: number
  /** Whether another size is refused. */
  readonly isFixed: boolean
  /** Bytes of all fields. */
  readonly bytes: number
  /** Names of the fields. */
  readonly names: readonly string[]
  /** Kinds of the fields. */
  readonly kinds: readonly RtypeFieldKind[]
}

const LAYOUTS: readonly RtypeLayout[] = Object.entries(RTYPE_COMPONENTS).map(([name, { code, isFixed, fields }]) => {
  const list: RtypeFieldList = fields
  const kinds = Object.values(list)
  const bytes = fieldListBytes(list)
  // reason: Object.entries types its keys as any text; these are the names of the table.
  return { name: name as RtypeComponentName, code, isFixed, bytes, names: Object.keys(list), kinds }
})

/** The layout of a component type by its code; undefined for codes outside of 1 to 15. */
export function layoutOf(code: number): RtypeLayout | undefined {
  return LAYOUTS[code - 1]
}

/** The layout of a component type by its name. */
export function layoutNamed(name: RtypeComponentName): RtypeLayout {
  return LAYOUTS[RTYPE_COMPONENTS[name].code - 1]
}
