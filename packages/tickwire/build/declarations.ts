/**
 * Reads one .d.ts file that the compiler emitted: its imports, its exports, and the statements that declare names.
 *
 * It relies on the form of such files: every statement begins in the first column, and its later lines do not, except
 * for closing brackets and comments.
 */

/** A name that a module takes from another one. `*` is the whole module. */
export interface Taken {
  readonly from: string
  readonly name: string
}

/** A statement that declares a name, with its comment, without `export` and `declare`. */
export interface Declaration {
  readonly name: string
  readonly text: string
  readonly isValue: boolean
}

/** What a file says. */
export interface Declarations {
  /** Indexed by the local name. */
  readonly imports: ReadonlyMap<string, Taken>
  readonly declared: readonly Declaration[]
  /** Indexed by the exported name: a local name, or a name of another module. */
  readonly exports: ReadonlyMap<string, string | Taken>
  /** Names that are exported as types only, also those of classes. */
  readonly onlyTypes: ReadonlySet<string>
  /** Modules whose exports are all exported. */
  readonly exportsAll: readonly string[]
}

const DECLARED = /^(?:export )?(?:declare )?(?:abstract )?(class|function|const|let|interface|type|enum) ([\w$]+)/
const LISTED = /^(?:import|export)(?: type)? \{([\s\S]*?)\}(?: from '([^']+)')?;?$/
const WHOLE = /^import(?: type)? \* as ([\w$]+) from '([^']+)';?$/
const EXPORTED_ALL = /^export \*(?: as ([\w$]+))? from '([^']+)';?$/

export function parseDeclarations(text: string, path: string): Declarations {
  const imports = new Map<string, Taken>()
  const declared: Declaration[] = []
  const exports = new Map<string, string | Taken>()
  const onlyTypes = new Set<string>()
  const exportsAll: string[] = []
  for (const { comment, code } of statementsOf(text)) {
    const [, kind, name] = DECLARED.exec(code) ?? []
    const listed = LISTED.exec(code)
    const [, alias, whole] = WHOLE.exec(code) ?? []
    const [, namespace, all] = EXPORTED_ALL.exec(code) ?? []
    if (kind !== undefined && name !== undefined) {
      const isValue = kind !== 'interface' && kind !== 'type'
      const stated = comment + code.replace(/^export /, '').replace(/^declare /, '')
      const before = kind === 'function' ? declared.findIndex((each) => each.name === name) : -1
      // Overloads of a function are one declaration.
      if (before < 0) declared.push({ name, isValue, text: stated })
      else declared[before] = { name, isValue, text: `${declared[before]?.text}\n${stated}` }
      if (code.startsWith('export ')) exports.set(name, name)
    } else if (listed !== null) {
      takeList(code, listed[1] ?? '', listed[2], { imports, exports, onlyTypes })
    } else if (alias !== undefined && whole !== undefined) {
      imports.set(alias, { from: whole, name: '*' })
    } else if (all !== undefined) {
      if (namespace === undefined) exportsAll.push(all)
      else exports.set(namespace, { from: all, name: '*' })
    } else {
      throw new Error(`${path}: a statement that cannot be rolled up: ${code.slice(0, 80)}`)
    }
  }
  return { imports, declared, exports, onlyTypes, exportsAll }
}

/** `A, type B, C as D`, with or without a module that they come from. */
function takeList(
  code: string,
  list: string,
  from: string | undefined,
  into: {
    readonly imports: Map<string, Taken>
    readonly exports: Map<string, string | Taken>
    readonly onlyTypes: Set<string>
  },
): void {
  for (const part of list.split(',').map((each) => each.trim()).filter((each) => each !== '')) {
    const bare = part.replace(/^type /, '')
    const [name = bare, local = name] = bare.split(' as ')
    if (code.startsWith('import')) {
      into.imports.set(local, { from: from ?? '', name })
      continue
    }
    into.exports.set(local, from === undefined ? name : { from, name })
    if (bare !== part || code.startsWith('export type')) into.onlyTypes.add(local)
  }
}

/** Top-level statements, each with the comment before it. The comment at the head of a file stays with no statement. */
function statementsOf(text: string): { readonly comment: string; readonly code: string }[] {
  const statements: { comment: string; code: string }[] = []
  let comment = ''
  let isComment = false
  for (const line of text.split('\n')) {
    if (line.startsWith('//#')) continue
    const last = statements.at(-1)
    if (isComment || line.startsWith('/**')) {
      comment = isComment ? `${comment}${line}\n` : `${line}\n`
      isComment = !line.includes('*/')
    } else if (/^[a-z]/.test(line)) {
      statements.push({ comment: statements.length === 0 && line.startsWith('import') ? '' : comment, code: line })
      comment = ''
    } else if (line !== '' && last !== undefined) {
      last.code += `\n${line}`
    }
  }
  return statements.filter(({ code }) => code !== 'export {};')
}
