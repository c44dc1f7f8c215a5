/**
 * House style, where a machine can see it: names, headers, exports, suppressions.
 */

import { basename } from 'node:path'
import { isTest, type Finding, type Repository } from './repository.ts'
import { lineAt, type SourceFile } from './source-file.ts'

/** Names that say nothing about what is inside. */
const EMPTY_NAMES = ['utils', 'util', 'helpers', 'helper', 'manager', 'data', 'info', 'common', 'misc', 'stuff']

const KEBAB_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|test-d|contract|fuzz|bench|config))?\.(?:ts|mjs|js)$/

const DEFAULT_EXPORT = /\bexport\s+default\b|\bas\s+default\b/g
const ENUM_OR_NAMESPACE = /^[ \t]*(?:export\s+|declare\s+)*(?:const\s+)?(?:enum|namespace)\s+\w+(?:\.\w+)*\s*\{/gm
const ANY = /\bas\s+any\b|[:<|]\s*any\b(?!\s*:)/g
const NON_NULL = /[\w$)\]]!(?=[.,;)\]\s[]|$)/gm

/** Does the line, or the one above it, say why? */
export function hasReason(file: SourceFile, line: number): boolean {
  const lines = file.text.split('\n', line)
  return lines.slice(Math.max(0, line - 2)).some((each) => /\/\/.*\breason: \S/.test(each))
}

/** Names of files: kebab-case, and saying something. */
export function* nameFindings(repository: Repository): Generator<Finding> {
  for (const path of repository.sources.keys()) {
    const name = basename(path)
    if (!KEBAB_NAME.test(name)) yield { rule: 'names', path, line: 1, problem: 'file names are kebab-case' }
    const empty = path.toLowerCase().split(/[/.-]/).find((word) => EMPTY_NAMES.includes(word))
    if (empty !== undefined) yield { rule: 'names', path, line: 1, problem: `"${empty}" says nothing: name what it is` }
  }
}

/** A file of the engine or of the tools opens with what it is. */
export function* headerFindings(repository: Repository): Generator<Finding> {
  for (const { path, text } of repository.sources.values()) {
    if (isTest(path) || !/^(?:packages\/[^/]+\/src|tools)\//.test(path)) continue
    const isOpened = /^(?:#!.*\n)?\/\*\*[\s\S]*?\*\//.test(text)
    if (!isOpened) yield { rule: 'headers', path, line: 1, problem: 'opens with no /** comment that says what it is' }
  }
}

/** Default exports have as many names as importers. Configuration files must, since their tools demand it. */
export function* exportFindings(repository: Repository): Generator<Finding> {
  for (const file of repository.sources.values()) {
    if (file.path.endsWith('.config.ts')) continue
    yield* matches(file, 'default-exports', DEFAULT_EXPORT, () => 'a default export: give it its name')
    yield* matches(file, 'erasable', ENUM_OR_NAMESPACE, () => 'use an `as const` table, a union, or a module')
  }
}

/** A suppression of the compiler needs a reason. */
export function* suppressionFindings(repository: Repository): Generator<Finding> {
  for (const file of repository.sources.values()) {
    const unexplained = (line: number): boolean => !hasReason(file, line)
    for (const finding of matches(file, 'suppressions', ANY, (word) => `\`${word}\` without \`// reason:\``)) {
      if (unexplained(finding.line)) yield finding
    }
    for (const comment of file.comments) {
      const word = /@ts-(?:ignore|expect-error|nocheck)\b|eslint-disable/.exec(comment.text)?.[0]
      // In a type test the expected error is the assertion; it only has to say what it asserts.
      const isAssertion = file.path.endsWith('.test-d.ts') && /@ts-expect-error\W+\w/.test(comment.text)
      // Prose may mention them: only a comment that begins with one is a suppression.
      if (word === undefined || !/^\/[/*]\s*(?:@ts-|eslint-)/.test(comment.text) || isAssertion) continue
      const line = lineAt(file.text, comment.start)
      const problem = `${word} without \`reason:\``
      if (unexplained(line)) yield { rule: 'suppressions', path: file.path, line, problem }
    }
  }
}

/** `!` turns a check of the compiler off; the engine proves the type instead. */
export function* nonNullFindings(repository: Repository): Generator<Finding> {
  for (const file of repository.sources.values()) {
    if (isTest(file.path) || !/^packages\/[^/]+\/src\//.test(file.path)) continue
    for (const finding of matches(file, 'non-null', NON_NULL, () => '`!` in the engine: prove it, or assert it')) {
      if (!hasReason(file, finding.line)) yield finding
    }
  }
}

type Problem = (word: string) => string

function* matches(file: SourceFile, rule: string, pattern: RegExp, problem: Problem): Generator<Finding> {
  for (const match of file.code.matchAll(pattern)) {
    yield { rule, path: file.path, line: lineAt(file.text, match.index), problem: problem(match[0].trim()) }
  }
}
