/**
 * What is allowed in a definition but probably not intended: notes for people, one sentence each.
 *
 * Mistakes are not here: those throw when the definition is compiled.
 */

import { dequantizeFloat, quantizeFloat } from '../bits/quantize.ts'
import type { Audience } from './field.ts'
import type { Layout } from './layout.ts'
import { LEAF } from './leaf.ts'
import { kindName } from './explain.ts'

/** The use of a schema: an entity is in every snapshot, a message is sent once. */
export type SchemaUse = 'entity' | 'message'

/** Notes on a schema; empty when there are none. */
export function lintSchema(schema: Layout, use: SchemaUse = 'entity'): readonly string[] {
  return [
    ...topNotes(schema),
    ...(use === 'entity' ? [...sizeNotes(schema), ...maskNotes(schema), ...motionNotes(schema)] : []),
  ]
}

/** The bits of a range count steps, not values: the maximum may not fit, or not be a step. */
function topNotes({ leaves }: Layout): string[] {
  return leaves.flatMap(({ kind, path, quant }) => {
    if (kind !== LEAF.fixed) return []
    const { min, max, precision, clampsTop } = quant
    const top = dequantizeFloat(quant, quantizeFloat(quant, max))
    if (max - top <= (precision / 2) * (1 + 1e-9)) return []
    const fix = clampsTop
      ? `End the range at ${max - precision}, or begin it at ${min - precision} for one bit more`
      : 'Make the range a whole number of steps'
    return [`${path}: ${max} is read back as ${top}. ${fix}.`]
  })
}

/**
 * A value of variable size is sent whole whenever a bit of it changes, and stays in memory while any row refers to it.
 */
function sizeNotes({ heapLeaves }: Layout): string[] {
  return heapLeaves.map(
    ({ path, field }) =>
      `${path}: a ${kindName(field.spec)} in an object is sent whole at every change. `
      + 'Fix: if it changes often, send a message or use objects.',
  )
}

function maskNotes({ members }: Layout): string[] {
  return members.filter(({ kind, inner }) => kind === 'masked' && inner.width === 1).map(({ path }) =>
    `${path}: the mask of a deltaStruct with one member is useless. Fix: make it a struct.`)
}

/** Ordered from the largest audience to the smallest. */
const REACH: readonly Audience[] = ['all', 'team', 'owner', 'local', 'server']

function motionNotes({ motions }: Layout): string[] {
  return motions
    .filter(({ rate, of }) => REACH.indexOf(rate.audience) > REACH.indexOf(of.audience))
    .map(
      ({ role, rate, of }) =>
        `${rate.path}: smaller audience than ${of.path} (${rate.audience}, not ${of.audience}). `
        + `A client without the ${role} cannot extrapolate ${of.path}.`,
    )
}
