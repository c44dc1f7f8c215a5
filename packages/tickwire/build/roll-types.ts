/**
 * Rolls the declarations of the package up: one file for each folder of the sources (`types/core.d.ts`), and one for
 * each door, which names what it exports of those files.
 *
 * Doors share the files of the folders. A class with private members is one type only if it is declared once, so a copy
 * for each door would make a game of `tickwire` a stranger to `connect` of `tickwire/browser`.
 *
 * A name that two modules of a folder declare gets a number in the second one.
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { parseDeclarations, type Declaration, type Declarations, type Taken } from './declarations.ts'

/** A declaration, and the name that it has in the file of its folder. */
interface Unique {
  readonly module: string
  readonly declaration: Declaration
  readonly name: string
}

/** What a name stands for: a declaration, a whole module, or a name of another package. */
type Meaning =
  | { readonly unique: Unique }
  | { readonly module: string }
  | { readonly package: string; readonly name: string }

/** The files that were made, indexed by their path below `dist`. */
export type RolledTypes = ReadonlyMap<string, string>

/** `tree` is the folder of emitted declarations; `doors` are paths in it (`core/index.d.ts`), indexed by file name. */
export function rollTypes(tree: string, doors: ReadonlyMap<string, string>): RolledTypes {
  return new Roll(tree).run(doors)
}

class Roll {
  readonly #tree: string
  readonly #modules = new Map<string, Declarations>()
  readonly #uniques = new Map<string, Unique>()
  readonly #needed: Unique[] = []
  /** Names in use, indexed by folder. */
  readonly #names = new Map<string, Set<string>>()

  constructor(tree: string) {
    this.#tree = tree
  }

  run(doors: ReadonlyMap<string, string>): RolledTypes {
    const files = new Map<string, string>()
    for (const [file, path] of doors) files.set(file, this.#writeDoor(path))
    const bodies = new Map<string, string[]>()
    const imports = new Map<string, Set<string>>()
    // Writing a declaration may add others to the list.
    for (const unique of this.#needed) {
      const folder = folderOf(unique.module)
      const lines = imports.get(folder) ?? new Set()
      imports.set(folder, lines)
      const { isValue, text } = unique.declaration
      const body = this.#rename(unique, text, lines)
      const at = body.search(/^[a-z]/m)
      const head = isValue ? 'export declare ' : 'export '
      const stated = (body.slice(0, at) + head + body.slice(at)).replace(/^function /gm, `${head}function `)
      bodies.set(folder, [...(bodies.get(folder) ?? []), stated])
    }
    for (const [folder, parts] of bodies)
      files.set(`types/${folder}.d.ts`, `${[...(imports.get(folder) ?? [])].sort().join('\n')}\n${parts.join('\n')}\n`)
    return files
  }

  #writeDoor(path: string): string {
    const lines = { values: new Map<string, string[]>(), types: new Map<string, string[]>() }
    const spaces: string[] = []
    for (const name of this.#exportsOf(path)) {
      const meaning = this.#find(path, name)
      if ('package' in meaning) throw new Error(`${path}: ${name} belongs to ${meaning.package}`)
      if ('module' in meaning) {
        spaces.push(this.#writeNamespace(name, meaning.module))
        continue
      }
      const { unique } = meaning
      const folder = folderOf(unique.module)
      const isValue = unique.declaration.isValue && !this.#module(path).onlyTypes.has(name)
      const kind = isValue ? lines.values : lines.types
      kind.set(folder, [...(kind.get(folder) ?? []), spell(unique.name, name)])
    }
    const list = (head: string, by: Map<string, string[]>): string[] =>
      [...by].map(([folder, names]) => `${head} { ${names.sort().join(', ')} } from './types/${folder}.js'`)
    return `${[...list('export', lines.values), ...list('export type', lines.types), ...spaces].join('\n')}\n`
  }

  /** `export * as math`: the names of one module, in a namespace. */
  #writeNamespace(name: string, module: string): string {
    const found = this.#exportsOf(module).map((each) => ({ each, meaning: this.#find(module, each) }))
    const lines = found.flatMap(({ each, meaning }) => ('unique' in meaning ? [{ each, unique: meaning.unique }] : []))
    const folder = folderOf(module)
    const local = lines.map(({ unique }) => spell(unique.name, `${name}_${unique.name}`))
    const inside = lines.map(({ each, unique }) => spell(`${name}_${unique.name}`, each))
    return [
      `import { ${local.join(', ')} } from './types/${folder}.js'`,
      `declare namespace ${name} {\n  export { ${inside.join(', ')} }\n}`,
      `export { ${name} }`,
    ].join('\n')
  }

  /** A declaration with every name of another module as it is called in the files that are made. */
  #rename({ module, declaration, name }: Unique, text: string, imports: Set<string>): string {
    const { imports: taken, declared } = this.#module(module)
    const own = new Set(declared.map((each) => each.name))
    const folder = folderOf(module)
    const tokens = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w$.#])[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)?/g
    return text.replace(tokens, (token: string, member: string | undefined, at: number) => {
      if (/^[/'"]/.test(token)) return token
      const [local = token] = token.split('.')
      if (/^(?:const|let) $/m.test(text.slice(0, at)) && local === declaration.name) return name
      if (isKey(text, at + token.length, member)) return token
      if (local === declaration.name) return name + (member ?? '')
      if (!taken.has(local) && !own.has(local)) return token
      const meaning = this.#find(module, local, true)
      if ('package' in meaning) {
        imports.add(`import type { ${spell(meaning.name, local)} } from '${meaning.package}'`)
        return token
      }
      if ('unique' in meaning) return this.#use(meaning.unique, folder, imports) + (member ?? '')
      const found = this.#find(meaning.module, (member ?? '.').slice(1))
      if (!('unique' in found)) throw new Error(`${module}: ${token} names nothing`)
      return this.#use(found.unique, folder, imports)
    })
  }

  /** The name of a declaration in the file of a folder, imported if it belongs to another one. */
  #use({ module, name }: Unique, folder: string, imports: Set<string>): string {
    const other = folderOf(module)
    if (other === folder) return name
    const local = `${other}_${name}`
    imports.add(`import type { ${spell(name, local)} } from './${other}.js'`)
    return local
  }

  /** What an exported name of a module stands for, or with `isLocal` a name inside it. */
  #find(module: string, name: string, isLocal = false): Meaning {
    const { imports, exports, exportsAll, declared } = this.#module(module)
    const said = isLocal ? imports.get(name) ?? name : exports.get(name)
    if (said === undefined) {
      for (const each of exportsAll) {
        const path = resolve(module, each)
        if (path !== undefined && this.#exportsOf(path).includes(name)) return this.#find(path, name)
      }
      throw new Error(`${module}: it exports no ${name}`)
    }
    if (typeof said !== 'string') return this.#follow(module, said)
    const declaration = declared.find((each) => each.name === said)
    if (declaration !== undefined) return { unique: this.#unique(module, declaration) }
    const taken = imports.get(said)
    if (taken === undefined) throw new Error(`${module}: it declares no ${said}`)
    return this.#follow(module, taken)
  }

  #follow(module: string, { from, name }: Taken): Meaning {
    const path = resolve(module, from)
    if (path === undefined) return { package: from, name }
    return name === '*' ? { module: path } : this.#find(path, name)
  }

  #unique(module: string, declaration: Declaration): Unique {
    const key = `${module} ${declaration.name}`
    const known = this.#uniques.get(key)
    if (known !== undefined) return known
    const folder = folderOf(module)
    const names = this.#names.get(folder) ?? new Set()
    this.#names.set(folder, names)
    let name = declaration.name
    for (let number = 2; names.has(name); number++) name = `${declaration.name}_${number}`
    names.add(name)
    const unique = { module, declaration, name }
    this.#uniques.set(key, unique)
    this.#needed.push(unique)
    return unique
  }

  #exportsOf(module: string): string[] {
    const { exports, exportsAll } = this.#module(module)
    const others = exportsAll.map((each) => resolve(module, each)).filter((path) => path !== undefined)
    return [...new Set([...exports.keys(), ...others.flatMap((path) => this.#exportsOf(path))])]
  }

  #module(path: string): Declarations {
    const known = this.#modules.get(path)
    if (known !== undefined) return known
    const file = join(this.#tree, path)
    if (!existsSync(file)) throw new Error(`${relative('.', file)} does not exist`)
    const module = parseDeclarations(readFileSync(file, 'utf8'), path)
    this.#modules.set(path, module)
    return module
  }
}

/** The name of a member, a parameter or a label: its type follows, or its parameters. */
function isKey(text: string, end: number, member: string | undefined): boolean {
  return member === undefined && /^\??:/.test(text.slice(end, end + 2))
}

function spell(name: string, as: string): string {
  return name === as ? name : `${name} as ${as}`
}

function folderOf(module: string): string {
  return module.split('/')[0] ?? module
}

/** The path of a module below the tree; undefined if it belongs to another package. */
function resolve(module: string, from: string): string | undefined {
  return from.startsWith('.') ? posix.join(dirname(module), from.replace(/\.[jt]s$/, '.d.ts')) : undefined
}
