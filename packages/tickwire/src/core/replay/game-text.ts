/**
 * Parses the text of a game (`Game.text`, in the head of every recording) into its definitions, so that tools can read
 * a recording without the game:
 *
 *   tickRate 30
 *   input {left:bool;right:bool}
 *   entity 0 {x:fixed(0,640,0.1)}
 *   message 0 {text:text(140)} unordered
 *
 * Lines of other kinds are ignored. The result is checked: its own text must equal the text that was read, otherwise
 * the parse fails.
 */

import { ConfigError } from '../base/assert.ts'
import { ENTITY_TYPES_MAX, MESSAGE_TYPES_MAX, TICK_RATE_MAX } from '../base/limits.ts'
import { Entity, Message } from '../schema/definition.ts'
import { compileSchema, type Schema } from '../schema/schema.ts'
import { parseShape, TextError } from './shape-text.ts'

/** A game as its text describes it: enough to read a recording, not to play. */
export interface GameText {
  /** Ticks per second. */
  readonly tickRate: number
  /** Ticks from one snapshot to the next. */
  readonly snapshotTicks: number
  /** The fields of an input. */
  readonly inputSchema: Schema
  /** The entities, in the order of the game. */
  readonly entities: readonly Entity[]
  /** The messages, in the order of the game. */
  readonly messages: readonly Message[]
}

/** The definitions in a text, or a sentence that says why it is invalid. `names` are the names of the entities. */
export function readGameText(text: string, names: readonly string[] = []): GameText | string {
  try {
    return parse(text, names)
  } catch (error) {
    if (error instanceof TextError || error instanceof ConfigError || error instanceof RangeError) return error.message
    throw error
  }
}

function parse(text: string, names: readonly string[]): GameText {
  let tickRate = 0
  let snapshotTicks = 1
  let inputSchema: Schema | undefined
  const entities: Entity[] = []
  const messages: Message[] = []
  for (const line of text.split('\n')) {
    const [, kind = '', rest = ''] = /^(\w+) (.*)$/.exec(line) ?? []
    if (kind === 'tickRate') tickRate = Number(rest)
    else if (kind === 'codec') snapshotTicks = strideIn(rest)
    else if (kind === 'input') inputSchema = agreed(rest, compileSchema('input', parseShape(rest)))
    else if (kind === 'entity') entities.push(entityOf(rest, entities.length, names))
    else if (kind === 'message') messages.push(messageOf(rest, messages.length))
    if (entities.length > ENTITY_TYPES_MAX || messages.length > MESSAGE_TYPES_MAX)
      throw new TextError('more definitions than a game can have')
  }
  if (inputSchema === undefined) throw new TextError('it has no input')
  return { tickRate, snapshotTicks, inputSchema, entities, messages }
}

/** Parses `packed`, or `entropy(2) every 2`. */
function strideIn(rest: string): number {
  const ticks = Number(/ every (\d+)$/.exec(rest)?.[1] ?? 1)
  if (ticks < 1 || ticks > TICK_RATE_MAX) throw new TextError(`a snapshot every ${ticks} ticks`)
  return ticks
}

function entityOf(rest: string, type: number, names: readonly string[]): Entity {
  const said = numbered(rest, type)
  const isShared = said.endsWith(' shared')
  const text = isShared ? said.slice(0, -' shared'.length) : said
  const entity = new Entity(parseShape(text), {
    name: names[type] ?? `entity ${type}`,
    ...(isShared && { authority: 'shared' }),
  })
  agreed(text, entity.schema)
  return entity
}

function messageOf(rest: string, type: number): Message {
  const text = numbered(rest, type).replace(/ (?:unordered|latest|unreliable)$/, '')
  const message = new Message(parseShape(text), `message ${type}`)
  agreed(text, message.schema)
  return message
}

/** The text after the number of a definition, which must be `type`. */
function numbered(rest: string, type: number): string {
  const front = `${type} `
  if (!rest.startsWith(front)) throw new TextError(`definition ${type} is missing, or in the wrong place`)
  return rest.slice(front.length)
}

function agreed(text: string, schema: Schema): Schema {
  if (schema.text !== text) throw new TextError('a definition does not read back as the same text')
  return schema
}
