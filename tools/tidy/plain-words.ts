/**
 * Words that made sentences hard to read: a pronoun where a client, an object or a packet was meant, and private words
 * where the field has one. Counted in every text of the folders below, names in code included.
 */

import { type Limit } from './ratchet.ts'
import { type Repository } from './repository.ts'

// Written in halves, so that this file does not count itself.
const BANNED = ['h' + 'e', 'h' + 'im', 'h' + 'is', 'h' + 'imself', 'who' + 'ever', 'some' + 'body', 'no' + 'body']
const PRIVATE = ['to' + 'ld', 'hea' + 'rd', 'de' + 'ar', 'on' + 'looker', 'on' + 'lookers']
const WORDS = new RegExp(`(?<![\\w$])(?:${[...BANNED, ...PRIVATE].join('|')})(?![\\w$])`, 'gi')
/** Two of them as parts of a name in camel case. */
const NAME_PARTS = /[a-z](?:T[o]ld|H[e]ard)(?![a-z])|(?<![A-Za-z])(?:t[o]ld|h[e]ard)(?=[A-Z])/g
/** A sentence that begins with a pronoun and has no noun. A question may. */
const HEADLESS = /(?:^|[.:;!?]\s+|['"`]|\/\/ |\* |\] |\| |- )W[h]om?\b(?![^.\n]*\?)/gm

const FOLDERS = /^(?:packages|games|tools|test|docs|bench)\//
/** Decisions are history, and the API reports are written from the code, which is counted itself. */
const NOT_HELD = /^docs\/(?:adr|api)\//
/** STYLE.md shows sentences with banned words, between these two marks. */
const EXAMPLES = /<!-- words: examples -->[\s\S]*?<!-- words: end -->/g

/** The list at the end of the glossary names the words that it bans. */
const RETIRED = /^## Retired words$[\s\S]*/m

/** Banned words per file. */
export const WORD_LIMITS: readonly Limit[] = [
  {
    group: 'words',
    rule: 'plain-words',
    max: 0,
    measure: bannedWords,
    describe: (_, size) => `${size} banned words`,
    advice: 'name the noun (client, object, packet), use the field\'s words; see STYLE.md, Words',
  },
]

/** Every banned word of a text. */
export function bannedWordsOf(text: string): string[] {
  return [WORDS, NAME_PARTS, HEADLESS].flatMap((pattern) => [...text.matchAll(pattern)].map(([word]) => word.trim()))
}

function bannedWords({ texts }: Repository): ReadonlyMap<string, number> {
  const isHeld = (path: string): boolean => (FOLDERS.test(path) && !NOT_HELD.test(path)) || /^[A-Z]+\.md$/.test(path)
  return new Map([...texts].filter(([path]) => isHeld(path)).map(([path, text]) => {
    const own = path === 'STYLE.md' ? text.replace(EXAMPLES, '') : text.replace(RETIRED, '')
    return [path, bannedWordsOf(own).length]
  }))
}
