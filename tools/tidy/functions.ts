/**
 * Finds functions in a source file: where each begins and ends, and its name. Brackets are matched, grammar is guessed:
 * a parameter list followed by a body, where what stands before it is not `if` and its kin.
 *
 * Arrow functions whose body is an expression are not listed: they have no length worth a rule.
 */

import { lineAt, type SourceFile } from './source-file.ts'

/** One function with a braced body. Offsets are into the file's text. */
export interface FoundFunction {
  /** The best name there is: its own, or that of what it is assigned or passed to. */
  readonly name: string
  readonly start: number
  readonly bodyStart: number
  readonly bodyEnd: number
  readonly lineCount: number
  /**
   * The callback of a `describe`, or a suite named so: a heading with tests under it, not a thing to hold in the head.
   */
  readonly isGrouping: boolean
}

/** A word, number, string, operator or bracket. */
export interface Token {
  readonly text: string
  readonly start: number
}

const TOKEN = /'[^'\n]*'|"[^"\n]*"|[A-Za-z_$][\w$]*|\d[\w.]*|=>|\.\.\.|\*\*=?|\?\.|\?\?|&&|\|\||[^\s]/g

/** Splits blanked code. */
export function tokensOf(code: string): Token[] {
  return Array.from(code.matchAll(TOKEN), (match) => ({ text: match[0], start: match.index }))
}

/** A parenthesis after one of these is not a parameter list. */
const NOT_FUNCTIONS = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await', 'return'])

/** Before a parameter list, these are no name. */
const NAMELESS = new Set(['function', 'async', 'return'])

/** A return type does not run over one of these: a declaration without a body ended before it. */
const STATEMENT_WORDS = new Set([
  'function', 'export', 'const', 'let', 'class', 'interface', 'import', 'return', 'async', 'declare', 'if', 'for',
])

/** All functions with a braced body, in the order they begin. */
export function findFunctions(file: SourceFile): FoundFunction[] {
  const tokens = tokensOf(file.code)
  const { partner, parent } = matchBrackets(tokens)
  const text = (at: number): string => tokens[at]?.text ?? ''
  const found: FoundFunction[] = []
  const add = (head: number, body: number): void => {
    const start = tokens[head]!.start
    const bodyStart = tokens[body]!.start
    const bodyEnd = tokens[partner.get(body) ?? body]!.start + 1
    const lineCount = lineAt(file.text, bodyEnd - 1) - lineAt(file.text, start) + 1
    const caller = parent[head] === undefined ? '' : text(parent[head] - 1)
    const name = nameOf(tokens, head)
    const isSuite = /^describe[A-Z]/.test(name) && /\.(?:test|contract)\.ts$/.test(file.path)
    found.push({ name, start, bodyStart, bodyEnd, lineCount, isGrouping: isSuite || caller === 'describe' })
  }
  for (let at = 0; at < tokens.length; at++) {
    if (text(at) === '=>' && text(at + 1) === '{' && /^[\w$]+$/.test(text(at - 1)) && text(at - 2) !== ':') {
      if (text(at - 2) !== ')' && !isReturnType(tokens, at)) add(at - 1, at + 1)
      continue
    }
    const close = text(at) === '(' ? partner.get(at) : undefined
    if (close === undefined) continue
    const after = text(close + 1) === ':' ? skipType(tokens, partner, close + 2) : close + 1
    if (text(after) === '=>' && text(after + 1) === '{') add(at, after + 1)
    else if (text(after) === '{' && isNamed(tokens, at)) add(at, after)
  }
  return found.sort((a, b) => a.start - b.start)
}

/** `(x): Type => {`: the name before the arrow is a type, and the parameter list was already seen. */
function isReturnType(tokens: readonly Token[], arrow: number): boolean {
  for (let at = arrow - 1; at >= 0 && !/^[;,={(]$/.test(tokens[at]!.text); at--) {
    if (tokens[at]!.text === ':' && tokens[at - 1]?.text === ')') return true
  }
  return false
}

function isNamed(tokens: readonly Token[], paren: number): boolean {
  const before = tokens[paren - 1]?.text ?? ''
  return before === '>' || before === ']' || (/^[\w$'"]/.test(before) && !NOT_FUNCTIONS.has(before))
}

/** Walks over a return type; stops at the body's brace, at an arrow with one, or where no function can be. */
function skipType(tokens: readonly Token[], partner: ReadonlyMap<number, number>, from: number): number {
  let at = from
  let angles = 0
  while (at < tokens.length) {
    const { text } = tokens[at]!
    angles += text === '<' ? 1 : text === '>' ? -1 : 0
    if (text === '{') {
      const isTypeLiteral = at === from || /^(?:[|&<,]|=>)$/.test(tokens[at - 1]!.text)
      if (!isTypeLiteral) return at
      at = (partner.get(at) ?? at) + 1
    } else if (text === '(' || text === '[') {
      at = (partner.get(at) ?? at) + 1
    } else if (text === '=>' && tokens[at + 1]?.text === '{') {
      return at
    } else if ((text === ',' && angles <= 0) || /^[;)}\]=]$/.test(text) || STATEMENT_WORDS.has(text)) {
      return -1
    } else {
      at++
    }
  }
  return -1
}

function nameOf(tokens: readonly Token[], head: number): string {
  let at = head - 1
  const text = (): string => tokens[at]?.text ?? ''
  if (text() === '>') {
    for (let depth = 0; at >= 0; at--) {
      depth += text() === '>' ? 1 : text() === '<' ? -1 : 0
      if (depth === 0) break
    }
    at--
  }
  if (/^[A-Za-z_$]/.test(text()) && !NAMELESS.has(text())) return text()
  while (at >= 0 && !/^(?:const|let|[;,{}(])$/.test(text())) {
    if (/^[=:]$/.test(text()) && /^[\w$]+$/.test(tokens[at - 1]?.text ?? '')) {
      const isAnnotated = /^(?:const|let)$/.test(tokens[at - 2]?.text ?? '') || text() === ':'
      if (isAnnotated) return tokens[at - 1]!.text
    }
    at--
  }
  return 'a callback'
}

interface Brackets {
  /** From each bracket to the one that closes or opens it. */
  readonly partner: ReadonlyMap<number, number>
  /** For each token, the innermost bracket that is open around it. */
  readonly parent: readonly (number | undefined)[]
}

function matchBrackets(tokens: readonly Token[]): Brackets {
  const partner = new Map<number, number>()
  const parent: (number | undefined)[] = []
  const open: number[] = []
  for (const [at, { text }] of tokens.entries()) {
    if (/^[)\]}]$/.test(text)) {
      const opener = open.pop()
      if (opener !== undefined) partner.set(at, opener).set(opener, at)
    }
    parent.push(open.at(-1))
    if (/^[([{]$/.test(text)) open.push(at)
  }
  return { partner, parent }
}
