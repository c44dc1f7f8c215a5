/**
 * What a function marked `@hot` may not do: allocate. The checker sees words, not types; it finds literals, closures,
 * spreads, templates, copies, `new` and `for … of`. A line that must is given a reason: `// reason: …`.
 */

import { findFunctions, tokensOf } from './functions.ts'
import { type Finding, type Repository } from './repository.ts'
import { lineAt, type SourceFile } from './source-file.ts'
import { hasReason } from './style-rules.ts'

/** A bracket after one of these begins a value: before it stands an operator, not something that could be indexed. */
const BEFORE_LITERAL = /^(?:[=(,?[:+\-*/<>!|&]|=>|\?\?|&&|\|\||return|of|in)$/

const COPIES = new Set(['subarray', 'slice', 'map', 'filter', 'concat', 'flatMap', 'entries', 'keys', 'values', 'bind'])

/** Allocations inside functions marked `@hot`. */
export function* hotFindings(repository: Repository): Generator<Finding> {
  for (const file of repository.sources.values()) {
    const marks = file.comments.filter(({ text }) => text.startsWith('/**') && /(?<![`\w])@hot\b(?!`)/.test(text))
    if (marks.length === 0) continue
    const functions = findFunctions(file)
    for (const mark of marks) {
      const marked = functions.find(({ start }) => start >= mark.end)
      const line = lineAt(file.text, mark.end)
      const between = marked === undefined ? '' : file.code.slice(mark.end, marked.start)
      if (marked === undefined || /[;{}]|\n\s*\n/.test(between)) {
        yield { rule: 'hot', path: file.path, line, problem: '@hot stands before no function with a braced body' }
      } else {
        yield* bodyFindings(file, marked.bodyStart + 1, marked.bodyEnd - 1)
      }
    }
  }
}

function* bodyFindings(file: SourceFile, start: number, end: number): Generator<Finding> {
  const tokens = tokensOf(file.code.slice(start, end))
  for (const [at, token] of tokens.entries()) {
    const previous = tokens[at - 1]?.text ?? '{'
    const what = allocation(token.text, previous, tokens[at + 1]?.text ?? '', isCaseLabel(tokens, at))
    const line = lineAt(file.text, start + token.start)
    if (what === undefined || hasReason(file, line)) continue
    yield { rule: 'hot', path: file.path, line, problem: `${what} in a @hot function: it allocates` }
  }
}

function allocation(token: string, previous: string, next: string, isAfterLabel: boolean): string | undefined {
  if (token === '=>' || token === 'function') return 'a closure'
  if (token === '...') return 'a spread'
  if (token === '`') return 'a template string'
  if (token === 'new') return '`new`'
  if (token === 'of' && previous !== '.' && next !== ':') return '`for … of`'
  if (COPIES.has(token) && previous === '.' && next === '(') return `.${token}()`
  if (token === '[' && /^(?:const|let)$/.test(previous)) return 'a destructured array'
  if (isAfterLabel || !BEFORE_LITERAL.test(previous)) return undefined
  if (token === '{') return 'an object literal'
  if (token === '[') return 'an array literal'
  return undefined
}

/** `case 3: {` and `default: {` open a block. */
function isCaseLabel(tokens: readonly { readonly text: string }[], at: number): boolean {
  if (tokens[at - 1]?.text !== ':') return false
  for (let back = at - 2; back >= 0 && back > at - 12; back--) {
    if (tokens[back]!.text === 'case' || tokens[back]!.text === 'default') return true
    if (/^[;{}]$/.test(tokens[back]!.text)) return false
  }
  return false
}
