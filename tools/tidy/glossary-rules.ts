/**
 * The glossary holds the code to its words: every word of docs/glossary.md names a file that exists and contains it,
 * and no retired word of it is used in code or documents.
 *
 * A word is found in any spelling of a name: "ack block" in `AckBlock`, `ackBlock` or `ack-block`. A retired word is
 * matched exactly, as a whole name.
 */

import { type Finding, type Repository } from './repository.ts'

export const GLOSSARY_PATH = 'docs/glossary.md'
const ENGINE = 'packages/tickwire/src/'
const WORD_HEAD = '| word | meaning | where |'
const RETIRED_HEAD = '| word | use instead |'

const FOLDERS = /^(?:packages|games|tools|test|docs|bench)\//
/** Decisions are history. The rule's own test plants violations. */
const EXEMPT = /^docs\/adr\/|^docs\/glossary\.md$|^test\/repo\/glossary-rules\.test\.ts$/

interface Row {
  readonly line: number
  readonly cells: readonly string[]
}

/** Words without their file, and uses of retired words. */
export function* glossaryFindings({ texts }: Repository): Generator<Finding> {
  const glossary = texts.get(GLOSSARY_PATH)
  if (glossary === undefined) return
  const report = (line: number, problem: string, path = GLOSSARY_PATH): Finding =>
    ({ rule: 'glossary', path, line, problem })
  for (const { line, cells: [word = '', , where = ''] } of rowsUnder(glossary, WORD_HEAD)) {
    const text = texts.get(ENGINE + where) ?? texts.get(where)
    if (text === undefined) yield report(line, `there is no file ${where}: name one that uses "${word}"`)
    else if (!plain(text).includes(plain(word))) yield report(line, `${where} does not contain "${word}"`)
  }
  const retired = rowsUnder(glossary, RETIRED_HEAD).flatMap(({ cells: [words = '', use = ''] }) =>
    words.split(', ').map((word) => ({ pattern: new RegExp(`(?<![\\w$])${word}(?![\\w$])`), word, use })),
  )
  for (const [path, text] of texts) {
    if (!FOLDERS.test(path) || EXEMPT.test(path)) continue
    for (const { pattern, word, use } of retired) {
      const at = text.search(pattern)
      if (at >= 0) yield report(text.slice(0, at).split('\n').length, `${word} is retired: ${use}`, path)
    }
  }
}

/** The rows of all tables with this head. */
function rowsUnder(text: string, head: string): Row[] {
  const rows: Row[] = []
  let isInside = false
  text.split('\n').forEach((content, at) => {
    if (content === head) isInside = true
    else if (!content.startsWith('|')) isInside = false
    else if (isInside && !content.startsWith('|---'))
      rows.push({ line: at + 1, cells: content.slice(1, -1).split('|').map((cell) => cell.trim()) })
  })
  return rows
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}
