/** What `tickwire inspect` prints for people: names of objects and players, values, and the fields of an entity. */

import { LOCAL_PEERS_FROM } from '../core/game/authority.ts'

const INDEX_SHIFT = 16

/** `Ship 3`: the entity and the object index. The rest of an id counts how often the index was used. */
export function objectText(entity: string, id: number): string {
  return `${entity} ${id >>> INDEX_SHIFT}`
}

/** `player 7` or `bot 1`. */
export function peerText(peer: number): string {
  return peer >= LOCAL_PEERS_FROM ? `bot ${peer - LOCAL_PEERS_FROM}` : `player ${peer}`
}

/** A value as text: numbers with at most three decimals, and `(x, y, z)` for a vector. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return '–'
  if (typeof value === 'number') return String(Number(value.toFixed(3)))
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value !== 'object') return typeof value === 'string' ? JSON.stringify(value) : String(value)
  if ('toJSON' in value && typeof value.toJSON === 'function') return valueText(value.toJSON())
  const names = Object.keys(value).join('')
  if (/^xyz?w?$/.test(names)) return `(${Object.values(value).map(valueText).join(', ')})`
  return `{${Object.entries(value).map(([name, each]) => `${name} ${valueText(each)}`).join(', ')}}`
}

/** One field per entry: `['at', 'vec3, -32 to 32 in steps of 0.002, position']`, from the text of an entity. */
export function fieldTexts(text: string): (readonly [name: string, meaning: string])[] {
  return membersOf(text.slice(1, text.lastIndexOf('}'))).map((member) => {
    const colon = member.indexOf(':')
    return [member.slice(0, colon), meaningOf(member.slice(colon + 1))] as const
  })
}

function meaningOf(kind: string): string {
  return kind
    .replace(/\(([^()|]+(?:\|[^()|]+)*)\)/g, (all, axes: string) => {
      const ranges = [...new Set(axes.split('|'))].map(rangeText)
      return ranges.every((range) => range !== undefined) ? `, ${ranges.join(' and ')}` : all
    })
    .replace(/~(\w+)/g, ', $1')
    .replace(/@(\w+)/g, ', for $1')
    .replace(/=(?=[^=]*$)/, ', initially ')
}

/** `-32,32,0.001953125` as `-32 to 32 in steps of 0.002`. Undefined for something else. */
function rangeText(axis: string): string | undefined {
  const [min, max, step, ...rest] = axis.split(',').map(Number)
  if (min === undefined || max === undefined || rest.length > 0 || ![min, max, step ?? 0].every(Number.isFinite))
    return undefined
  return `${min} to ${max}${step === undefined ? '' : ` in steps of ${Number(step.toPrecision(2))}`}`
}

/** Splits at semicolons that are in no string and in no nested brackets. */
function membersOf(text: string): readonly string[] {
  const members: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? ''
    if (letter === '"') at = endOfString(text, at)
    else if ('({['.includes(letter)) depth++
    else if (')}]'.includes(letter)) depth--
    else if (letter === ';' && depth === 0) {
      members.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...members, text.slice(from)].filter((member) => member !== '')
}

function endOfString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
