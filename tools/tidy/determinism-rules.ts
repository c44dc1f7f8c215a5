/**
 * Rules that keep the core a function of what it is handed, and simulation code the same bits on every engine.
 *
 * The compiler already hides sockets and consoles from core; these are what it cannot hide.
 */

import { INEXACT_MATH } from '../../packages/tickwire/src/core/base/impure-functions.ts'
import { placeOf, SIMULATION_FOLDERS } from '../layers.ts'
import { isTest, resolveImport, type Finding, type Repository } from './repository.ts'
import { lineAt, type SourceFile } from './source-file.ts'

interface Ban {
  readonly rule: string
  readonly pattern: RegExp
  readonly problem: (word: string) => string
  readonly appliesTo: (path: string) => boolean
}

const isCore = (path: string): boolean => placeOf(path)?.part === 'core'
const isSimulation = (path: string): boolean =>
  !isTest(path) &&
  ((isCore(path) && SIMULATION_FOLDERS.includes(placeOf(path)?.folder ?? '')) || /^games\/[^/]+\/game\.ts$/.test(path))

const BANS: readonly Ban[] = [
  {
    rule: 'clock',
    pattern: /(?<![.\w])(?:Date|performance|setTimeout|setInterval|setImmediate|queueMicrotask)\b(?!\s*[:?])/g,
    problem: (word) => `${word} in core: time comes in as \`now\``,
    appliesTo: isCore,
  },
  {
    rule: 'chance',
    pattern: /\bMath\s*\.\s*random\b/g,
    problem: () => 'Math.random: a failure that has no seed cannot be replayed; use a seeded generator',
    appliesTo: (path) => path.startsWith('packages/') || isTest(path) || isSimulation(path),
  },
  {
    rule: 'ambient',
    pattern: /(?<![.\w])(?:globalThis|Intl|WeakRef|FinalizationRegistry)\b|\.(?:toLocale\w+|localeCompare)\b/g,
    problem: (word) => `${word} in core: what it answers depends on the machine`,
    // The traps of development mode replace the clock and chance while `step` runs, so they have to reach them.
    appliesTo: (path) => isCore(path) && !isTest(path) && !path.endsWith('/core/base/step-traps.ts'),
  },
  {
    rule: 'eval',
    pattern: /(?<![.\w])eval\s*\(|\bnew\s+Function\b/g,
    problem: () => 'code from text: pages with a strict content security policy refuse it',
    // A server has no page: there it comes in by one file.
    appliesTo: (path) => path.startsWith('packages/') && !path.endsWith('/node/compile-rows.ts'),
  },
  {
    rule: 'inexact-math',
    pattern: new RegExp(`\\bMath\\s*\\.\\s*(?:${INEXACT_MATH.join('|')})\\b`, 'g'),
    problem: (word) => `${word} is not the same bits on every engine; use base/math.ts`,
    appliesTo: isSimulation,
  },
]

/** Clocks, chance, ambient state and inexact functions where they may not be. */
export function* banFindings(repository: Repository): Generator<Finding> {
  for (const file of repository.sources.values()) {
    for (const { rule, pattern, problem, appliesTo } of BANS) {
      if (!appliesTo(file.path)) continue
      for (const match of file.code.matchAll(pattern)) {
        yield { rule, path: file.path, line: lineAt(file.text, match.index), problem: problem(match[0].trim()) }
      }
    }
    if (isSimulation(file.path)) yield* powerFindings(file)
  }
}

const POWER_PROBLEM =
  '** on values is Math.pow, which is not the same bits on every engine; shift, multiply, or use base/math.ts'

/** `2 ** 32` is settled by the compiler; `x ** y` is `Math.pow` by another name. */
function* powerFindings({ path, text, code }: SourceFile): Generator<Finding> {
  for (const match of code.matchAll(/\*\*=?/g)) {
    const before = /(?:^|[^\w$.)\]])[\d_.]+n?\s*$/.test(code.slice(Math.max(0, match.index - 40), match.index))
    const after = /^\s*-?[\d_.]+n?(?![\w$(.[])/.test(code.slice(match.index + 2, match.index + 40))
    if (before && after && match[0] === '**') continue
    yield { rule: 'inexact-math', path, line: lineAt(text, match.index), problem: POWER_PROBLEM }
  }
}

/** The generator for particles and camera shake is not saved, hashed or rolled back: no simulation draws from it. */
export function* cosmeticFindings(repository: Repository): Generator<Finding> {
  for (const { path, imports } of repository.sources.values()) {
    if (!isSimulation(path)) continue
    for (const { specifier, line } of imports) {
      if (!resolveImport(repository, path, specifier)?.endsWith('/cosmetic-prng.ts')) continue
      yield { rule: 'cosmetic', path, line, problem: 'cosmetic-prng in simulation code: use the seeded generator' }
    }
  }
}
