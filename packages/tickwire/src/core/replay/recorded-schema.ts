/**
 * A schema as a recording sees it: coders know three audiences, and a recording may be for a fourth, which holds every
 * field there is.
 */

import type { FieldSet } from '../codec/row-coder.ts'
import { makeMask } from '../schema/mask.ts'
import type { Schema } from '../schema/schema.ts'
import type { RecordedFields } from './recording-head.ts'

/** The schema to make a coder for. Where everything is recorded, the owner's mask has everything. */
export function recordedSchema(schema: Schema, fields: RecordedFields): Schema {
  if (fields !== 'everything') return schema
  const { masks: [all, team], members, leaves } = schema
  return { ...schema, masks: [all, team, makeMask(members, leaves)] }
}

/** The field set that such a coder is asked for. */
export function fieldSetOf(fields: RecordedFields): FieldSet {
  return fields === 'all' ? 0 : fields === 'team' ? 1 : 2
}
