/**
 * A TypeScript file as tidy sees it: its text, and the same text with comments, strings and regular expressions blanked
 * out, so that a rule that looks for a word finds code and not prose.
 *
 * A small scanner, not a parser: it knows where strings, templates, comments and regular expressions begin and end, and
 * nothing of grammar. Offsets and lines in `code` are those in `text`.
 */

/** A comment, its delimiters included. */
export interface Comment {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** One import, re-export, `import()` or `new URL('./…')` of another file or package. */
export interface ImportSite {
  readonly specifier: string
  readonly line: number
  /** `import type`: gone at run time. */
  readonly isType: boolean
}

/** One source file. `path` is relative to the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  /** `text` with the inside of comments, strings and regular expressions replaced by spaces. */
  readonly code: string
  readonly comments: readonly Comment[]
  readonly imports: readonly ImportSite[]
}

/** Scans one file. */
export function sourceFile(path: string, text: string): SourceFile {
  const { code, comments } = blank(text)
  return { path, text, code, comments, imports: findImports(text, code) }
}

/** The line of an offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** After these words a slash begins a regular expression, though they look like names. */
const BEFORE_REGEX = /(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/

interface Blanked {
  code: string
  comments: Comment[]
}

function blank(text: string): Blanked {
  const comments: Comment[] = []
  /** Of each template literal we are inside of: how many braces are open within its `${`. */
  const templates: number[] = []
  let code = ''
  let at = 0
  /** Keeps line breaks, so that lines stay lines. */
  const blankTo = (end: number): void => {
    code += text.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  const keep = (): void => { code += text[at++] ?? '' }
  while (at < text.length) {
    const char = text[at]
    const next = text[at + 1]
    const depth = templates.length - 1
    if (char === '/' && (next === '/' || next === '*')) {
      const start = at
      blankTo(commentEnd(text, at))
      comments.push({ start, end: at, text: text.slice(start, at) })
    } else if (char === "'" || char === '"') {
      const end = stringEnd(text, at)
      keep()
      blankTo(end - 1)
      keep()
    } else if (char === '/' && isRegexStart(code)) {
      // Shown as an empty string: a value, and nothing in it.
      const end = regexEnd(text, at)
      const width = end - at
      at = end
      code += `'${' '.repeat(width - 2)}'`
    } else if (char === '`' || (char === '}' && templates[depth] === 0)) {
      if (char === '}') templates.pop()
      keep()
      const end = templateEnd(text, at)
      blankTo(end.at)
      if (end.opens) templates.push(0)
      keep()
    } else {
      if (depth >= 0 && char === '{') templates[depth]! += 1
      if (depth >= 0 && char === '}') templates[depth]! -= 1
      keep()
    }
  }
  return { code, comments }
}

function commentEnd(text: string, at: number): number {
  const isLine = text[at + 1] === '/'
  const end = text.indexOf(isLine ? '\n' : '*/', at + 2)
  return end === -1 ? text.length : isLine ? end : end + 2
}

function stringEnd(text: string, at: number): number {
  const quote = text[at]
  let end = at + 1
  while (end < text.length && text[end] !== quote && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1
  return Math.min(end + 1, text.length)
}

/** Up to the closing backtick, or to the brace of `${`: the dollar is blanked, the brace is code. */
function templateEnd(text: string, at: number): { at: number; opens: boolean } {
  let end = at
  while (end < text.length && text[end] !== '`') {
    if (text[end] === '$' && text[end + 1] === '{') return { at: end + 1, opens: true }
    end += text[end] === '\\' ? 2 : 1
  }
  return { at: end, opens: false }
}

/** A slash divides after a value and begins a regular expression everywhere else. */
function isRegexStart(codeBefore: string): boolean {
  const before = codeBefore.trimEnd()
  const last = before.at(-1) ?? ''
  if (/[\w$]/.test(last)) return BEFORE_REGEX.test(before.slice(-12))
  return !/[)\]}'"`]/.test(last)
}

function regexEnd(text: string, at: number): number {
  let end = at + 1
  let isInClass = false
  while (end < text.length && text[end] !== '\n' && (isInClass || text[end] !== '/')) {
    if (text[end] === '[') isInClass = true
    if (text[end] === ']') isInClass = false
    end += text[end] === '\\' ? 2 : 1
  }
  end++
  while (/[a-z]/.test(text[end] ?? '')) end++
  return end
}

const IMPORT_FORMS = [
  /\b(?:import|export)\b(?:[^'"`;()=]*?\bfrom)?\s*(['"])/g,
  /\bimport\s*\(\s*(['"])/g,
  /\bnew\s+URL\s*\(\s*(['"])/g,
]

function findImports(text: string, code: string): ImportSite[] {
  const sites: ImportSite[] = []
  for (const form of IMPORT_FORMS) {
    for (const match of code.matchAll(form)) {
      const start = match.index + match[0].length
      const end = code.indexOf(match[1]!, start)
      const specifier = text.slice(start, end)
      const isType = /^(?:import|export)\s+type\b/.test(match[0])
      if (specifier !== '') sites.push({ specifier, line: lineAt(text, start), isType })
    }
  }
  return sites
}
