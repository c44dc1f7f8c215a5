/**
 * Join codes: `IRON-7K3M`, a word and four characters, easy to say and to type.
 *
 * ```
 * IRON-7K3M                       11 bits of word, 20 bits of characters
 * IRON-WOLF-7K3M                  42 bits, for sessions that ask for it
 * IRON-7K3M-9F0KQ2W8ZC1T4XNB      in links and QR codes: the code, and a key of 80 bits
 * ```
 *
 * The words are those of BIP-39, which differ in their first four letters. The characters are the digits and letters
 * without I, L, O and U. Case, spaces and dashes do not matter when a code is read.
 */

import { wordlist } from '@scure/bip39/wordlists/english.js'
import { randomInt } from 'node:crypto'

const CHARACTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const SUFFIX_CHARS = 4
const KEY_CHARS = 16
const WORDS: ReadonlySet<string> = new Set(wordlist.map((word) => word.toUpperCase()))
const WORD_LIST: readonly string[] = [...WORDS]
/** Longer texts are not codes. */
const CODE_CHARS_MAX = 48

/** A new code. `isStrong`: two words that can be separated without a dash too. */
export function makeCode(isStrong: boolean): string {
  const draw = (): string => WORD_LIST[randomInt(WORD_LIST.length)] ?? ''
  let words = [draw()]
  if (isStrong) do words = [draw(), draw()]; while (splitWords(words.join(''))?.join() !== words.join())
  return [...words, characters(SUFFIX_CHARS)].join('-')
}

/** A new key for links. */
export function makeKey(): string {
  return characters(KEY_CHARS)
}

/** Reads a typed code or a link: the code as it was made, and the key of a link. Undefined when it is not a code. */
export function readCode(text: string): { readonly code: string; readonly key: string | undefined } | undefined {
  if (text.length > CODE_CHARS_MAX) return undefined
  const [plain = '', key] = splitKey(text.toUpperCase().replaceAll(/[\s_]/g, '-').replaceAll(/-+/g, '-'))
  const letters = plain.replaceAll('-', '')
  const suffix = readCharacters(letters.slice(-SUFFIX_CHARS), SUFFIX_CHARS)
  const words = splitWords(letters.slice(0, -SUFFIX_CHARS))
  if (suffix === undefined || words === undefined) return undefined
  return { code: [...words, suffix].join('-'), key }
}

/** The text before the key of a link, and the key. */
function splitKey(text: string): [string, string | undefined] {
  const at = text.lastIndexOf('-')
  const key = at < 0 ? undefined : readCharacters(text.slice(at + 1), KEY_CHARS)
  return key === undefined ? [text, undefined] : [text.slice(0, at), key]
}

/** One word or two, whatever the separators were. */
function splitWords(letters: string): string[] | undefined {
  if (WORDS.has(letters)) return [letters]
  for (let at = 3; at <= letters.length - 3; at++) {
    const [first, second] = [letters.slice(0, at), letters.slice(at)]
    if (WORDS.has(first) && WORDS.has(second)) return [first, second]
  }
  return undefined
}

/** Characters as they were made: people write O for 0, and I or L for 1. */
function readCharacters(text: string, size: number): string | undefined {
  const read = text.replaceAll('O', '0').replaceAll(/[IL]/g, '1').replaceAll('U', 'V')
  return read.length === size && [...read].every((each) => CHARACTERS.includes(each)) ? read : undefined
}

function characters(count: number): string {
  return Array.from({ length: count }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('')
}
