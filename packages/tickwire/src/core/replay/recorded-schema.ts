/**
 * A schema as a recording uses it. Coders know three field sets; a recording may use a fourth, with every field. For
 * its coders, fields that only the server or only a client has belong to the owner's set.
 */

import type { FieldSet } from '../codec/row-coder.ts'
import type { Member } from '../schema/layout.ts'
import { makeMask } from '../schema/mask.ts'
import type { Schema } from '../schema/schema.ts'
import type { RecordedFields } from './recording-head.ts'

/** The schema to make a coder for. If everything is recorded, the owner's set has every field. */
export function recordedSchema(schema: Schema, fields: RecordedFields): Schema {
  if (fields !== 'everything') return schema
  const {
    masks: [all, team],
    leaves,
  } = schema
  const held = new Map(
    schema.members.map((member) => [member, isHeld(member) ? member : { ...member, audience: 'owner' as const }]),
  )
  const recorded = (member: Member): Member => held.get(member) ?? member
  const members = [...held.values()]
  const motions = schema.motions.map((motion) => ({ ...motion, rate: recorded(motion.rate), of: recorded(motion.of) }))
  return { ...schema, members, motions, masks: [all, team, makeMask(members, leaves)] }
}

function isHeld({ audience }: Member): boolean {
  return audience !== 'server' && audience !== 'local'
}

/** The field set to pass to that coder. */
export function fieldSetOf(fields: RecordedFields): FieldSet {
  return fields === 'all' ? 0 : fields === 'team' ? 1 : 2
}
