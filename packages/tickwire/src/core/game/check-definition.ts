/**
 * Checks at run time that the argument of `defineGame` is a game definition: for callers without a type checker, and
 * for values of type `any`.
 *
 * Each error names the path and the fix. Only the kinds of values are checked here. The modules that use the numbers
 * and names check their meaning.
 */

import { check } from '../schema/leaf.ts'
import { NET_SETTINGS } from './settings.ts'

/** The fields of a definition, and the required kind of each. */
const KINDS: { readonly [name: string]: readonly [kind: string, fix: string] } = {
  tickRate: ['number', 'write a whole number of ticks a second: tickRate: 60'],
  input: ['object', 'write fields by name: input: { left: bool }, or {} for a game without'],
  join: ['object?', 'write fields by name: join: { name: text(16) }'],
  roomOptions: ['object?', 'write fields by name: roomOptions: { map: u8 }'],
  entities: ['list', 'write a list: entities: [Player]'],
  step: ['function', 'write step(world, inputs) { … }'],
  messages: ['list?', 'write a list: messages: [Chat]'],
  rpcs: ['list?', 'write a list: rpcs: [Open]'],
  hitboxes: ['list?', 'write a list: hitboxes: [[Player, [sphere(1)]]]'],
  drawAhead: ['boolean?', 'write true or false'],
  codec: ['object?', 'write packed, entropy() or entropy(priors)'],
  net: ['object?', 'write settings by name: net: { snapshotRate: 30 }'],
  onJoin: ['function?', 'write onJoin(world, peer, data) { … }'],
  onLeave: ['function?', 'write onLeave(world, peer) { … }'],
  onAuthorityRequest: ['function?', 'write onAuthorityRequest(world, peer, object) { … }'],
  external: ['function?', 'write external() { … }'],
}
const PREDICTS: readonly unknown[] = ['owned', 'all', 'none', undefined]

/** Throws a ConfigError for the first mistake. */
export function checkDefinition(definition: object): void {
  check(
    kindOf(definition) === 'object',
    'game',
    `not a definition (got ${shown(definition)})`,
    'pass defineGame({ tickRate, input, entities, step })',
  )
  for (const name of Object.keys(definition)) {
    const meant = Object.keys(KINDS).find((known) => known !== name && known.toLowerCase() === name.toLowerCase())
    check(meant === undefined, 'game', `unknown option "${name}"`, `Did you mean ${meant ?? ''}?`)
    check(!(name in NET_SETTINGS), name, 'a netcode setting outside of `net`', `write net: { ${name} }`)
  }
  for (const [name, [kind, fix]] of Object.entries(KINDS)) {
    const value: unknown = Reflect.get(definition, name)
    const isLeftOut = kind.endsWith('?') && value === undefined
    check(isLeftOut || kindOf(value) === kind.replace('?', ''), name, `wrong type (got ${shown(value)})`, fix)
  }
  checkList(definition, 'entities', 'schema', 'entity({ … })')
  checkList(definition, 'messages', 'schema', 'message({ … })')
  checkList(definition, 'rpcs', 'args', 'rpc({ … }, { to })')
  const predict: unknown = Reflect.get(definition, 'predict')
  check(
    PREDICTS.includes(predict),
    'predict',
    `unknown value (expected 'owned', 'all' or 'none', got ${shown(predict)})`,
    "write 'owned', 'all' or 'none'",
  )
}

function checkList(definition: object, name: string, part: string, maker: string): void {
  const items: readonly unknown[] = Reflect.get(definition, name) ?? []
  // Not `instanceof`: that would pull the RPC code into pages that do not use it.
  items.forEach((item, at) =>
    check(
      typeof item === 'object' && item !== null && part in item,
      `${name}[${at}]`,
      `wrong type (got ${shown(item)})`,
      `pass the result of ${maker}`,
    ),
  )
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value
}

/** A value as it is shown in an error. */
function shown(value: unknown): string {
  const kind = kindOf(value)
  if (kind === 'string') return JSON.stringify(value)
  if (kind === 'object') return 'an object'
  return kind === 'list' || kind === 'function' ? `a ${kind}` : value === undefined ? 'nothing' : String(value)
}
