/**
 * The text of a game again, from the grammar in docs/wire/STATE.md alone: read into a plain description, and written
 * from one. Imports nothing from src but types.
 */

import { referenceHash } from './hash-reference.ts'
import { encodeField, type Plain, type PlainShape } from './schema-reference.ts'
import { parseSchemaText, type Manuals } from './schema-text.ts'

/** An entity as the text has it. */
export interface PlainEntity {
  readonly shape: PlainShape
  readonly isShared: boolean
}

/** A message, and how it is delivered. */
export interface PlainMessage {
  readonly shape: PlainShape
  readonly delivery: string
}

/** A call. */
export interface PlainCall extends PlainMessage {
  readonly to: string
  readonly byOwner: boolean
  readonly reply: PlainShape | undefined
}

/** Everything that the text of a game says. */
export interface PlainGame {
  readonly tickRate: number
  readonly predictsAll: boolean
  /** `packed`, or `entropy(...)` with what is inside. */
  readonly codec: string
  /** Ticks from one snapshot to the next. */
  readonly every: number
  readonly input: PlainShape
  readonly entities: readonly PlainEntity[]
  readonly messages: readonly PlainMessage[]
  readonly calls: readonly PlainCall[]
}

const RELIABLE = 'reliable'

/** The text of a game. */
export function writeGameText(game: PlainGame): string {
  const delivered = (delivery: string): string => (delivery === RELIABLE ? '' : ` ${delivery}`)
  return [
    `tickRate ${game.tickRate}`,
    ...(game.predictsAll ? ['predict all'] : []),
    `codec ${game.codec}${game.every > 1 ? ` every ${game.every}` : ''}`,
    `input ${shapeText(Object.keys(game.input).length === 0 ? NO_INPUT : game.input)}`,
    ...game.entities.map(
      ({ shape, isShared }, number) => `entity ${number} ${shapeText(shape)}${isShared ? ' shared' : ''}`,
    ),
    ...game.messages.map(
      ({ shape, delivery }, number) => `message ${number} ${shapeText(shape)}${delivered(delivery)}`,
    ),
    ...game.calls.map(
      ({ shape, to, delivery, byOwner, reply }, number) =>
        `rpc ${number} ${shapeText(shape)} to ${to} ${delivery}${byOwner ? ' by owner' : ''}`
        + (reply === undefined ? '' : ` reply ${shapeText(reply)}`),
    ),
  ].join('\n')
}

const NO_INPUT: PlainShape = parseSchemaText('{nothing:bool}')

/** The codec of trained tables: the form, then each entity's name and the hash of its priors' text. */
export function codecText(priors: { readonly [entity: string]: PriorsParts }): string {
  const names = Object.keys(priors).sort()
  return `entropy(2${names.map((name) => `;${JSON.stringify(name)}:${hashText(priorsText(priors[name]!))}`).join('')})`
}

/** The parts of priors in the order of their text. */
export interface PriorsParts {
  readonly form: number
  readonly version: number
  readonly ticksPerSecond: number
  readonly items: readonly string[]
  readonly tables: readonly (readonly number[])[]
  readonly masks: readonly { readonly masks: readonly number[]; readonly counts: readonly number[] }[]
  readonly ages: readonly (AgeParts | null)[]
}

interface AgeParts {
  readonly weights: readonly number[]
  readonly bends: readonly number[]
  readonly tokens: readonly number[]
  readonly dropped: readonly (readonly number[])[]
  readonly activities: readonly (readonly number[])[]
  readonly masks: readonly number[]
}

function priorsText({ form, version, ticksPerSecond, items, tables, masks, ages }: PriorsParts): string {
  return JSON.stringify([
    form,
    version,
    ticksPerSecond,
    items,
    tables,
    masks.map((each) => [each.masks, each.counts]),
    ages.map((age) => age && [age.weights, age.bends, age.tokens, age.dropped, age.activities, age.masks]),
  ])
}

function hashText(text: string): string {
  return referenceHash(new TextEncoder().encode(text), 1).toString(16).padStart(16, '0')
}

/** The eight bytes of a text, as hexadecimal: its 64-bit hash, low byte first. */
export function fingerprintOf(text: string): string {
  return hashText(text).match(/../g)!.reverse().join('')
}

/** Reads the text of a game. `manuals`: the codecs of manual fields, by format. */
export function readGameText(text: string, manuals: Manuals = {}): PlainGame {
  const lines = text.split('\n')
  const shapeOf = (part: string): PlainShape => parseSchemaText(part, manuals)
  const rest = (pattern: RegExp): string[][] =>
    lines.flatMap((line) => {
      const found = pattern.exec(line)
      return found === null ? [] : [found.slice(1)]
    })
  const [[tickRate = ''] = []] = rest(/^tickRate (\d+)$/)
  const [[codec = '', every = '1'] = []] = rest(/^codec (packed|entropy\(.*\))(?: every (\d+))?$/)
  const [[input = ''] = []] = rest(/^input (.*)$/)
  return {
    tickRate: Number(tickRate),
    predictsAll: lines.includes('predict all'),
    codec,
    every: Number(every),
    input: shapeOf(input),
    entities: rest(/^entity \d+ (\{.*\})( shared)?$/).map(([shape = '', shared]) => ({
      shape: shapeOf(shape),
      isShared: shared !== undefined,
    })),
    messages: rest(/^message \d+ (\{.*\})(?: (\w+))?$/).map(([shape = '', delivery = RELIABLE]) => ({
      shape: shapeOf(shape),
      delivery,
    })),
    calls: rest(/^rpc \d+ (\{.*?\}) to (\w+) (\w+)( by owner)?(?: reply (\{.*\}))?$/).map(
      ([shape = '', to = '', delivery = '', owner, reply]) => ({
        shape: shapeOf(shape),
        to,
        delivery,
        byOwner: owner !== undefined,
        reply: reply === undefined ? undefined : shapeOf(reply),
      }),
    ),
  }
}

/** A shape as its canonical text. */
export function shapeText(shape: PlainShape): string {
  return `{${Object.entries(shape)
    .map(([name, field]) => `${name}:${fieldText(field)}`)
    .join(';')}}`
}

function fieldText(field: Plain): string {
  const {
    spec,
    options: { audience, role, roleOf, initial },
  } = field
  const said =
    initial === undefined
      ? ''
      : `=${spec.kind === 'manual' ? bitsText(encodeField(field, initial)) : valueText(initial)}`
  const motion = role === undefined ? '' : `~${role}${roleOf === undefined ? '' : `(${roleOf})`}`
  return `${kindText(field)}${audience === 'all' ? '' : `@${audience}`}${motion}${said}`
}

function kindText(field: Plain): string {
  const { spec } = field
  switch (spec.kind) {
    case 'int':
    case 'ranged-long':
      return `${spec.kind}(${spec.min},${spec.max})`
    case 'word':
      return `${spec.signed ? 'i' : 'u'}${spec.bits}`
    case 'long':
      return spec.form === 'word' ? 'i64-word' : 'i64'
    case 'float':
    case 'double':
      return `${spec.kind}${spec.finite ? '' : '-any'}`
    case 'fixed':
      return `fixed(${spec.min},${spec.max},${spec.precision})`
    case 'angle':
    case 'quat':
      return `${spec.kind}(${spec.bits})`
    case 'vector': {
      const components = spec.components.map(({ min, max, precision }) => `${min},${max},${precision}`)
      return `vec${spec.arity}(${components.join('|')})`
    }
    case 'enum':
      return `oneOf(${spec.names.map((name) => JSON.stringify(name)).join(',')})`
    case 'text':
    case 'bytes':
      return `${spec.kind}(${spec.maxBytes})`
    case 'fixed-text':
      return `fixed-text(${spec.bytes})`
    case 'struct':
      return `${spec.perMember ? 'delta-' : ''}struct${shapeText(spec.shape)}`
    case 'group':
      return `group${shapeText(spec.shape)}`
    case 'list':
      return `list(${fieldText(spec.item)},${spec.maxItems})`
    case 'manual':
      return `manual(${JSON.stringify(spec.codec.format ?? '')},${bitsText(encodeField(field, spec.codec.create()))})`
    default:
      return spec.kind
  }
}

/** Bits as their count and their bytes. */
function bitsText(bits: string): string {
  const digits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0').match(/.{4}/g) ?? []
  return `${bits.length}:${digits.map((digit) => Number.parseInt(digit, 2).toString(16)).join('')}`
}

function valueText(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes[${value.join(',')}]`
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${valueText((value as Record<string, unknown>)[key])}`)
    .join(',')}}`
}
