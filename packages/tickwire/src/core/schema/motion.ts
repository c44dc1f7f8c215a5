/**
 * Which field is the rate of change of which: dead reckoning and the snapshot codec use it for prediction.
 *
 * This file only finds the pairs and refuses wrong ones. It moves nothing.
 */

import { ConfigError } from '../base/assert.ts'
import type { Field, FieldSpec, Role } from './field.ts'
import type { Member } from './layout.ts'
import { check } from './leaf.ts'

/** A rate of change and the field that it changes, as members of the layout. */
export interface Motion {
  readonly role: Role
  readonly rate: Member
  readonly of: Member
}

/** What each rate may be the rate of: a role, or (for angular velocity) a kind; and its name for the user. */
const RATES: { readonly [R in Role]?: { readonly call: string; readonly fits: (field: Field<unknown>) => boolean } } = {
  'velocity': { call: 'velocity', fits: (field) => field.options.role === 'position' },
  'acceleration': { call: 'acceleration', fits: (field) => field.options.role === 'velocity' },
  'angular-velocity': { call: 'angularVelocity', fits: ({ spec }) => spec.kind === 'angle' || spec.kind === 'quat' },
}

const MOVING: readonly FieldSpec['kind'][] = ['fixed', 'vector', 'float', 'double', 'int', 'word', 'varint']

/** The motions of a definition's members, or a ConfigError that names the path and the fix. */
export function motionsOf(name: string, members: readonly Member[]): readonly Motion[] {
  return members.flatMap((rate) => {
    const { role } = rate.field.options
    if (role === undefined) return []
    const { kind } = rate.field.spec
    check(
      MOVING.includes(kind),
      rate.path,
      `${role} on a field of kind ${kind}`,
      'use fixed, float, whole-number and vector fields for roles',
    )
    return RATES[role] === undefined ? [] : [motionOf(name, members, rate, role)]
  })
}

function motionOf(name: string, members: readonly Member[], rate: Member, role: Role): Motion {
  const { roleOf } = rate.field.options
  const { call, fits } = RATES[role] ?? { call: role, fits: () => false }
  const candidates = members.filter((member) => roleOf === undefined ? fits(member.field) : member.name === roleOf)
  if (candidates.length !== 1) {
    const problem =
      roleOf === undefined
        ? `${role} of ${candidates.length} fields`
        : `${role} of "${roleOf}", which is not a field of ${name}`
    throw new ConfigError(rate.path, problem, `name the field: .${call}('...').`)
  }
  const [of] = candidates
  check(
    fits(of.field),
    rate.path,
    `${role} of ${of.path}, which cannot have one`,
    'mark that field .position(), .velocity(), or make it an angle or a quaternion',
  )
  const needed = of.field.spec.kind === 'quat' ? 3 : of.leafCount
  check(
    rate.leafCount === needed,
    rate.path,
    `wrong number of components (expected ${needed} as ${of.path} has, got ${rate.leafCount})`,
    'give as many as it has (a quaternion turns by a vec3)',
  )
  return { role, rate, of }
}
