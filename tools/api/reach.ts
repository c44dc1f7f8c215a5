/**
 * What a user of a door reaches without importing its name: the base interfaces of exported interfaces, and the option
 * interfaces that exported signatures name. Classes are not followed: through them everything is reached.
 */

import type { Declaration } from './declarations.ts'
import type { Declarations, Door } from './doors.ts'

/** Interfaces with such a name hold options of a call. */
const OPTIONS = /Options$/

const WORD = /[A-Za-z_$][\w$]*/g
const STRING = /'[^']*'/g

/** Declarations that are reached through a door and that it does not export. */
export function reachedFrom(door: Door, declarations: Declarations): Declaration[] {
  const exported = door.exports.map(({ declaration }) => declaration)
  const known = new Set(exported)
  const open = [...exported]
  const reached: Declaration[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const found of namedBy(next, declarations)) {
      if (known.has(found)) continue
      known.add(found)
      open.push(found)
      reached.push(found)
    }
  }
  return reached
}

function namedBy(declaration: Declaration, declarations: Declarations): Declaration[] {
  const { path, kind, signature, members } = declaration
  const bases = kind === 'interface' ? words(signature) : []
  const options = words([signature, ...members.map((member) => member.signature)].join(' '))
    .filter((word) => OPTIONS.test(word))
  return [...new Set([...bases, ...options])].flatMap((word) => {
    const found = declarations.find(path, word)
    return found?.kind === 'interface' ? [found] : []
  })
}

function words(text: string): readonly string[] {
  return text.replace(STRING, '').match(WORD) ?? []
}
