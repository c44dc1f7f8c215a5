/**
 * A schema as a recording sees it: coders know three audiences, and a recording may be for a fourth, which holds every
 * field there is. To its coders what only the server or only a client holds is the owner's.
 */

import type { FieldSet } from '../codec/row-coder.ts'
import type { Member } from '../schema/layout.ts'
import { makeMask } from '../schema/mask.ts'
import type { Schema } from '../schema/schema.ts'
import type { RecordedFields } from './recording-head.ts'

/** The schema to make a coder for. Where everything is recorded, the owner holds everything. */
export function recordedSchema(schema: Schema, fields: RecordedFields): Schema {
  if (fields !== 'everything') return schema
  const { masks: [all, team], leaves } = schema
  const held = new Map(schema.members.map((member) => [member, isHeld(member) ? member : { ...member, audience: 'owner' as const }]))
  const recorded = (member: Member): Member => held.get(member) ?? member
  const members = [...held.values()]
  const motions = schema.motions.map((motion) => ({ ...motion, rate: recorded(motion.rate), of: recorded(motion.of) }))
  return { ...schema, members, motions, masks: [all, team, makeMask(members, leaves)] }
}

function isHeld({ audience }: Member): boolean {
  return audience !== 'server' && audience !== 'local'
}

/** The field set that such a coder is asked for. */
export function fieldSetOf(fields: RecordedFields): FieldSet {
  return fields === 'all' ? 0 : fields === 'team' ? 1 : 2
}
