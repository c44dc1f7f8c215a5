/**
 * The repository as tidy reads it: every text file that people wrote, by its path from the root, and the
 * paths of what is no text.
 *
 * Rules see only this, never the disk; so a test can plant a violation in a few lines of made-up repository.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { sourceFile, type SourceFile } from './source-file.ts'

/** A rule broken at a place, and what to do about it. */
export interface Finding {
  readonly rule: string
  readonly path: string
  readonly line: number
  readonly problem: string
}

/** All files people wrote. */
export interface Repository {
  /** Path of every file, pictures too. */
  readonly paths: ReadonlySet<string>
  /** Path to text, of every text file. */
  readonly texts: ReadonlyMap<string, string>
  /** Those of them that are TypeScript or JavaScript. */
  readonly sources: ReadonlyMap<string, SourceFile>
}

const TEXT_NAMES = /\.(?:ts|mts|mjs|js|json|md|html|css|svg|sh|txt|npmrc|editorconfig|gitignore)$|^(?:run|LICENSE)$/
const SOURCE_NAMES = /\.(?:ts|mts|mjs|js)$/

/** Reads the repository at `root`, without what its .gitignore leaves out. */
export function readRepository(root: string): Repository {
  const texts: Record<string, string> = {}
  const others: string[] = []
  const isIgnored = ignoredBy(readFileSync(join(root, '.gitignore'), 'utf8'))
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name)
      if (entry.name === '.git' || isIgnored(path)) continue
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile() && TEXT_NAMES.test(entry.name)) texts[path] = readFileSync(join(root, path), 'utf8')
      else others.push(path)
    }
  }
  walk('.')
  return repositoryOf(texts, others)
}

/** The forms of .gitignore that ours uses: `name/`, `*.ending`, and `/path/from/the/root`, with `*` within one name. */
function ignoredBy(text: string): (path: string) => boolean {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const patterns = lines.map((line) => {
    const body = line.replace(/^\/|\/$/g, '').replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '[^/]*')
    return new RegExp(line.startsWith('/') ? `^${body}$` : `(?:^|/)${body}$`)
  })
  return (path) => patterns.some((pattern) => pattern.test(path))
}

/** A repository from texts, and from the paths of files that are not text. */
export function repositoryOf(texts: Readonly<Record<string, string>>, others: readonly string[] = []): Repository {
  const paths = Object.keys(texts).sort()
  const sources = paths.filter((path) => SOURCE_NAMES.test(path))
  return {
    paths: new Set([...paths, ...others]),
    texts: new Map(paths.map((path) => [path, texts[path]!])),
    sources: new Map(sources.map((path) => [path, sourceFile(path, texts[path]!)])),
  }
}

/** Is it a test, or something that only tests use? */
export function isTest(path: string): boolean {
  return /\.test(-d)?\.ts$/.test(path) || path.startsWith('test/')
}

/** The files an import may mean: itself, and for a bare door of the engine nothing, since doors are entry points. */
export function resolveImport(repository: Repository, from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const path = posix.join(posix.dirname(from), specifier)
  return repository.sources.has(path) ? path : undefined
}
