/**
 * Whether what `defineGame` was given is a game at all: for those whom no compiler told, and for those who told it `any`.
 *
 * Each mistake has its path and its fix. It looks at kinds of values; what numbers and names mean is checked by who uses them.
 */

import { check } from '../schema/leaf.ts'
import { NET_SETTINGS } from './settings.ts'

/** What a game may say, and what each of it must be. */
const KINDS: { readonly [name: string]: readonly [kind: string, fix: string] } = {
  tickRate: ['number', 'Give a whole number of ticks a second: tickRate: 60'],
  input: ['object', 'Give fields by name: input: { left: bool }, or {} for a game without'],
  entities: ['list', 'Give a list: entities: [Player]'],
  step: ['function', 'Give step(world, inputs) { … }'],
  messages: ['list?', 'Give a list: messages: [Chat]'],
  rpcs: ['list?', 'Give a list: rpcs: [Open]'],
  hitboxes: ['list?', 'Give a list: hitboxes: [[Player, [sphere(1)]]]'],
  drawAhead: ['boolean?', 'Give true or false'],
  codec: ['object?', 'Say packed, entropy() or entropy(priors)'],
  net: ['object?', 'Give settings by name: net: { snapshotRate: 30 }'],
  onJoin: ['function?', 'Give onJoin(world, peer) { … }'],
  onLeave: ['function?', 'Give onLeave(world, peer) { … }'],
  onAuthorityRequest: ['function?', 'Give onAuthorityRequest(world, peer, object) { … }'],
  external: ['function?', 'Give external() { … }'],
}
const PREDICTS: readonly unknown[] = ['owned', 'all', 'none', undefined]

/** Throws the ConfigError of the first mistake. */
export function checkDefinition(definition: object): void {
  check(kindOf(definition) === 'object', 'game', shown(definition), 'Give defineGame({ tickRate, input, entities, step })')
  for (const name of Object.keys(definition)) {
    const meant = Object.keys(KINDS).find((known) => known !== name && known.toLowerCase() === name.toLowerCase())
    check(meant === undefined, name, 'nothing that a game has', `Write ${meant ?? ''}`)
    check(!(name in NET_SETTINGS), name, 'a number of the netcode', `Write net: { ${name} }`)
  }
  for (const [name, [kind, fix]] of Object.entries(KINDS)) {
    const value: unknown = Reflect.get(definition, name)
    const isLeftOut = kind.endsWith('?') && value === undefined
    check(isLeftOut || kindOf(value) === kind.replace('?', ''), name, shown(value), fix)
  }
  checkList(definition, 'entities', 'schema', 'entity({ … })')
  checkList(definition, 'messages', 'schema', 'message({ … })')
  checkList(definition, 'rpcs', 'args', 'rpc({ … }, { to })')
  const predict: unknown = Reflect.get(definition, 'predict')
  check(PREDICTS.includes(predict), 'predict', shown(predict), "Give 'owned', 'all' or 'none'")
}

function checkList(definition: object, name: string, part: string, maker: string): void {
  const items: readonly unknown[] = Reflect.get(definition, name) ?? []
  // Not by class: calls need not be in a page for this.
  items.forEach((item, at) => check(typeof item === 'object' && item !== null && part in item, `${name}[${at}]`, shown(item), `Give what ${maker} returned`))
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value
}

/** A value as it is said in an error. */
function shown(value: unknown): string {
  const kind = kindOf(value)
  if (kind === 'string') return JSON.stringify(value)
  if (kind === 'object') return 'an object'
  return kind === 'list' || kind === 'function' ? `a ${kind}` : value === undefined ? 'missing' : String(value)
}
