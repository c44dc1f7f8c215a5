/**
 * Reads the declarations of a source file: names, signatures, members and doc comments, without bodies.
 *
 * Not a parser: it relies on the layout of this repository. A statement begins in the first column, a member of a class
 * or an interface is indented by two spaces, and every export has an explicit type (`isolatedDeclarations`).
 */

import { tokensOf, type Token } from '../tidy/functions.ts'
import { lineAt, type SourceFile } from '../tidy/source-file.ts'

/** The kinds of declaration that a door can export. */
export type DeclarationKind = 'class' | 'interface' | 'type' | 'function' | 'const'

/** A member of a class or an interface. */
export interface Member {
  readonly name: string
  /** Its text on one line, without body, initialiser and comments. */
  readonly signature: string
  readonly line: number
  /** The doc comment directly before it. Undefined if there is none. */
  readonly doc: string | undefined
}

/** A declaration at the top level of a file. */
export interface Declaration {
  readonly path: string
  readonly name: string
  readonly kind: DeclarationKind
  /** Its text on one line, without body, initialiser, comments and members. */
  readonly signature: string
  readonly line: number
  /** The doc comment directly before it. Undefined if there is none. */
  readonly doc: string | undefined
  readonly isExported: boolean
  /** Of a function with several signatures: each with its doc comment, if it has one of its own. Otherwise empty. */
  readonly overloads: readonly Pick<Declaration, 'signature' | 'doc'>[]
  /** Public members of a class or an interface, in the order of the file. */
  readonly members: readonly Member[]
}

const HEAD =
  /^(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(class|interface|type|function|const)\b\*?\s*([\w$]+)/
const MODIFIERS = new Set(['static', 'readonly', 'get', 'set', 'async', 'override', 'abstract', 'declare', '*'])
const CONTINUES = /^[)\]}>|&?:.=]/

/** All declarations of a file by name. Overloads of a function are one declaration with several signatures. */
export function declarationsOf(file: SourceFile): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>()
  const bare = withoutComments(file)
  for (const { start, end } of pieces(file.code, 0, file.code.length, '')) {
    const [, kind, name] = HEAD.exec(file.code.slice(start, end)) ?? []
    if (kind === undefined || name === undefined) continue
    const declaration = readDeclaration(file, bare, { start, end }, kind as DeclarationKind, name)
    const before = found.get(name)
    if (before === undefined || before.kind !== 'function') found.set(name, before ?? declaration)
    else if (!file.code.slice(0, end).trimEnd().endsWith('}')) {
      const overloads = [...(before.overloads.length === 0 ? [before] : before.overloads), declaration]
      found.set(name, { ...before, signature: `${before.signature}\n${declaration.signature}`, overloads })
    }
  }
  return found
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Splits code into pieces: each begins at a line with exactly this indent that does not continue the line before. */
function pieces(code: string, from: number, to: number, indent: string): Span[] {
  const starts: number[] = []
  for (const match of code.slice(from, to).matchAll(new RegExp(`^${indent}(?=\\S)`, 'gm'))) {
    const start = from + match.index + indent.length
    if (!CONTINUES.test(code.slice(start, start + 1))) starts.push(start)
  }
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? to }))
}

function readDeclaration(
  file: SourceFile, bare: string, { start, end }: Span, kind: DeclarationKind, name: string,
): Declaration {
  const tokens = tokensOf(file.code.slice(start, end)).map((token) => ({ ...token, start: token.start + start }))
  const isExported = file.code.startsWith('export', start)
  const at = { path: file.path, line: lineAt(file.text, start) }
  const common = { ...at, name, kind, doc: docBefore(file, start), isExported, overloads: [] }
  if (kind === 'class' || kind === 'interface') {
    const open = bodyOf(tokens)
    const close = file.code.lastIndexOf('}', end)
    const members = membersOf(file, bare, { start: open + 1, end: close }, kind === 'class')
    return { ...common, signature: oneLine(bare.slice(start, open)), members }
  }
  const stop = endOf(file.code, tokens, kind, end)
  const table = kind === 'const' && stop === end ? /\{\n/.exec(file.code.slice(start, end)) : null
  if (table === null) return { ...common, signature: oneLine(bare.slice(start, stop)), members: [] }
  const open = start + table.index
  const entries = membersOf(file, bare, { start: open + 1, end: file.code.lastIndexOf('}', end) }, false)
  return { ...common, signature: oneLine(bare.slice(start, open)), members: entries }
}

function endOf(code: string, tokens: readonly Token[], kind: DeclarationKind, end: number): number {
  if (kind === 'type') return end
  return kind === 'function' ? functionEnd(code, tokens, end) : valueStart(tokens, end)
}

/** The offset of the brace that opens the body of a class or an interface. */
function bodyOf(tokens: readonly Token[]): number {
  let angles = 0
  for (const { text, start } of tokens) {
    angles += text === '<' ? 1 : text === '>' ? -1 : 0
    if (text === '{' && angles === 0) return start
  }
  return tokens.at(-1)?.start ?? 0
}

/** Where the signature of a function or a method ends: before its body, if it has one. */
function functionEnd(code: string, tokens: readonly Token[], end: number): number {
  const last = code.slice(0, end).trimEnd().length - 1
  if (code[last] !== '}') return end
  const open: number[] = []
  let body = end
  for (const { text, start } of tokens) {
    if (text === '{') open.push(start)
    if (text === '}') body = open.pop() ?? body
  }
  return body
}

/** Where the initialiser of an annotated constant or property begins. One without a type keeps its initialiser. */
function valueStart(tokens: readonly Token[], end: number): number {
  let depth = 0
  let isTyped = false
  for (const { text, start } of tokens) {
    if (/^[([{<]$/.test(text)) depth++
    else if (/^[)\]}>]$/.test(text)) depth--
    else if (depth === 0 && text === ':') isTyped = true
    else if (depth === 0 && text === '=') return isTyped ? start : end
  }
  return end
}

function membersOf(file: SourceFile, bare: string, { start: from, end: to }: Span, isClass: boolean): Member[] {
  const isOnOneLine = !file.code.slice(from, to).includes('\n')
  const spans = isOnOneLine ? statements(file.code, from, to) : pieces(file.code, from, to, '  ')
  return spans.flatMap(({ start, end }) => {
    const tokens = tokensOf(file.code.slice(start, end)).map((token) => ({ ...token, start: token.start + start }))
    const isName = (at: number): boolean => /^[(?:=<]$/.test(tokens[at + 1]?.text ?? '')
    const at = tokens.findIndex(({ text }, index) => !MODIFIERS.has(text) || isName(index))
    const head = tokens[at]
    const name = head === undefined ? '' : file.text.slice(head.start, head.start + head.text.length)
    if (!/^[\w$[('"]/.test(name) || name === 'private' || name === 'protected') return []
    const isMethod = /^[(<]$/.test(tokens[at + 1]?.text ?? '')
    const stop = !isClass ? end : isMethod ? functionEnd(file.code, tokens, end) : valueStart(tokens, end)
    const signature = oneLine(bare.slice(start, stop))
    return [{ name, signature, line: lineAt(file.text, start), doc: docBefore(file, start) }]
  })
}

/** Members on one line, between semicolons. */
function statements(code: string, from: number, to: number): Span[] {
  const spans: Span[] = []
  let start = from
  let depth = 0
  for (let at = from; at <= to; at++) {
    if (at < to && /[([{]/.test(code[at]!)) depth++
    if (at < to && /[)\]}]/.test(code[at]!)) depth--
    if (at < to && (code[at] !== ';' || depth > 0)) continue
    const skipped = code.slice(start, at).search(/\S/)
    if (skipped !== -1) spans.push({ start: start + skipped, end: at })
    start = at + 1
  }
  return spans
}

/** The doc comment with nothing but space between it and `start`. */
function docBefore(file: SourceFile, start: number): string | undefined {
  const comment = file.comments.findLast((each) => each.end <= start)
  if (comment === undefined || !comment.text.startsWith('/**')) return undefined
  return file.text.slice(comment.end, start).trim() === '' ? comment.text : undefined
}

function withoutComments({ text, comments }: SourceFile): string {
  let bare = ''
  let at = 0
  for (const { start, end } of comments) {
    bare += text.slice(at, start) + text.slice(start, end).replace(/[^\n]/g, ' ')
    at = end
  }
  return bare + text.slice(at)
}

/** A signature on one line. Members of an object type get the semicolons that their lines stood for. */
function oneLine(text: string): string {
  return text
    .replace(/^export\s+/, '')
    .replace(/([\w)\]}>'])\n\s+(?=(?:readonly )?[\w$]+\??[:(])/g, '$1; ')
    .replace(/\s+/g, ' ')
    .replace(/([([<]) /g, '$1')
    .replace(/,? ([)\]>](?!=))/g, '$1')
    .replace(/= \| /, '= ')
    .replace(/[;, ]+$/, '')
    .trim()
}
