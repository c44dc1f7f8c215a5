/**
 * The doors of the package as their files declare them: which names each exports, and where each name is declared.
 */

import { posix } from 'node:path'
import type { Repository } from '../tidy/repository.ts'
import { lineAt, type SourceFile } from '../tidy/source-file.ts'
import { declarationsOf, type Declaration } from './declarations.ts'

/** The manifest whose `exports` are the doors. */
export const MANIFEST_PATH = 'packages/tickwire/package.json'

/** One name that a door exports. */
export interface DoorExport {
  /** The name on the outside; `math.sin` for a function of a namespace. */
  readonly name: string
  /** The line of the door's file. */
  readonly line: number
  readonly declaration: Declaration
}

/** One door. */
export interface Door {
  /** As it is imported: `tickwire`, `tickwire/node`. */
  readonly specifier: string
  /** Its file, relative to the repository. */
  readonly path: string
  /** The names that can be imported from it. A namespace is one name. */
  readonly names: readonly string[]
  /** The declarations behind the names; each function of a namespace is one. */
  readonly exports: readonly DoorExport[]
}

/** Finds declarations by file and name, through re-exports, and reads each file once. */
export class Declarations {
  readonly #repository: Repository
  readonly #read = new Map<string, ReadonlyMap<string, Declaration>>()

  constructor(repository: Repository) {
    this.#repository = repository
  }

  /** The declarations of one file. */
  in(path: string): ReadonlyMap<string, Declaration> {
    const before = this.#read.get(path)
    if (before !== undefined) return before
    const file = this.#repository.sources.get(path)
    const found = file === undefined ? new Map<string, Declaration>() : declarationsOf(file)
    this.#read.set(path, found)
    return found
  }

  /** The declaration that `name` means inside a file: its own, or an imported or re-exported one. */
  find(path: string, name: string): Declaration | undefined {
    const own = this.in(path).get(name)
    if (own !== undefined) return own
    const file = this.#repository.sources.get(path)
    const site = file === undefined ? undefined : namesFrom(file).get(name)
    if (site === undefined || site.original === '*') return undefined
    return this.find(posix.join(posix.dirname(path), site.specifier), site.original)
  }
}

/** The public surface of a repository. */
export interface Api {
  readonly declarations: Declarations
  /** All doors of the manifest, in its order. */
  readonly doors: readonly Door[]
}

const known = new WeakMap<Repository, Api>()

/** The public surface, read once per repository. */
export function apiOf(repository: Repository): Api {
  const declarations = new Declarations(repository)
  const api = known.get(repository) ?? { declarations, doors: doorsOf(repository, declarations) }
  known.set(repository, api)
  return api
}

function doorsOf(repository: Repository, declarations: Declarations): Door[] {
  const manifest = JSON.parse(repository.texts.get(MANIFEST_PATH) ?? '{}') as {
    readonly exports?: Readonly<Record<string, string | { readonly 'tickwire-source'?: string }>>
  }
  return Object.entries(manifest.exports ?? {}).flatMap(([key, target]) => {
    const source = typeof target === 'string' ? undefined : target['tickwire-source']
    if (source === undefined) return []
    const path = posix.join(posix.dirname(MANIFEST_PATH), source)
    const file = repository.sources.get(path)
    const sites = file === undefined ? new Map<string, NameSite>() : namesFrom(file, 'export')
    const exports = exportsOf(declarations, path, sites)
    return [{ specifier: `tickwire${key.slice(1)}`, path, names: [...sites.keys()], exports }]
  })
}

function exportsOf(declarations: Declarations, path: string, sites: ReadonlyMap<string, NameSite>): DoorExport[] {
  return [...sites].flatMap(([name, { specifier, original, line }]) => {
    const target = posix.join(posix.dirname(path), specifier)
    if (original === '*') {
      return [...declarations.in(target).values()].filter(({ isExported }) => isExported)
        .map((declaration) => ({ name: `${name}.${declaration.name}`, line, declaration }))
    }
    const declaration = declarations.find(target, original)
    return declaration === undefined ? [] : [{ name, line, declaration }]
  })
}

interface NameSite {
  readonly specifier: string
  /** The name in the file it comes from; `*` for a whole module. */
  readonly original: string
  readonly line: number
}

const NAME_LISTS = /^(import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'/gm
const WHOLE_MODULES = /^(import|export)\s+\*\s+as\s+([\w$]+)\s+from\s*'/gm

/** The names that a file imports or re-exports, by the name that they have there. */
function namesFrom(file: SourceFile, only?: 'export'): ReadonlyMap<string, NameSite> {
  const sites = new Map<string, NameSite>()
  const add = (match: RegExpExecArray, name: string, original: string): void => {
    const start = match.index + match[0].length
    const specifier = file.text.slice(start, file.text.indexOf("'", start))
    if (only === undefined || match[1] === only) {
      sites.set(name, { specifier, original, line: lineAt(file.text, match.index) })
    }
  }
  for (const match of file.code.matchAll(NAME_LISTS)) {
    for (const each of match[2]!.split(',')) {
      const [original = '', name = original] = each.trim().replace(/^type\s+/, '').split(/\s+as\s+/)
      if (original !== '') add(match, name, original)
    }
  }
  for (const match of file.code.matchAll(WHOLE_MODULES)) add(match, match[2]!, '*')
  return sites
}
