/**
 * Rules about imports: none uphill, no cycles, no file without an importer.
 */

import { ENTRY_POINTS, whyNotImport, whyNotPackage } from '../layers.ts'
import { resolveImport, type Finding, type Repository } from './repository.ts'

/** Imports that the dependency rule of `tools/layers.ts` refuses, in files and in packages. */
export function* layerFindings(repository: Repository): Generator<Finding> {
  for (const { path, imports } of repository.sources.values()) {
    for (const { specifier, line } of imports) {
      const problem = whyNot(repository, path, specifier)
      if (problem !== undefined) yield { rule: 'layers', path, line, problem }
    }
  }
}

function whyNot(repository: Repository, path: string, specifier: string): string | undefined {
  if (!/^[./]/.test(specifier)) return whyNotPackage(path, specifier)
  const target = resolveImport(repository, path, specifier)
  return target === undefined ? undefined : whyNotImport(path, target)
}

/**
 * Files that import each other in a ring: which of them runs first depends on who was asked for. Types are gone by
 * then, and data that contains itself needs a ring of them, so `import type` does not count.
 */
export function* cycleFindings(repository: Repository): Generator<Finding> {
  const state = new Map<string, 'open' | 'done'>()
  const trail: string[] = []
  const rings: string[][] = []
  const visit = (path: string): void => {
    state.set(path, 'open')
    trail.push(path)
    for (const next of importedBy(repository, path, true)) {
      if (state.get(next) === 'open') rings.push(trail.slice(trail.indexOf(next)))
      else if (!state.has(next)) visit(next)
    }
    trail.pop()
    state.set(path, 'done')
  }
  for (const path of repository.sources.keys()) if (!state.has(path)) visit(path)
  for (const ring of rings) {
    const problem = `imports itself in a ring: ${[...ring, ring[0]].join(' -> ')}`
    yield { rule: 'cycles', path: ring[0]!, line: 1, problem }
  }
}

/** Files that nothing but their own test imports. Entry points are listed in `tools/layers.ts`. */
export function* deadFileFindings(repository: Repository): Generator<Finding> {
  const users = new Map<string, number>()
  for (const path of repository.sources.keys()) {
    for (const target of importedBy(repository, path)) {
      const isOwnTest = path.replace(/\.test(-d)?\.ts$/, '.ts') === target
      if (!isOwnTest) users.set(target, (users.get(target) ?? 0) + 1)
    }
  }
  for (const path of repository.sources.keys()) {
    if (users.has(path) || ENTRY_POINTS.some((pattern) => pattern.test(path))) continue
    const problem = 'no file imports it: use it, delete it, or list it in ENTRY_POINTS'
    yield { rule: 'dead-files', path, line: 1, problem }
  }
}

function importedBy(repository: Repository, path: string, atRunTime = false): Set<string> {
  const targets = new Set<string>()
  for (const { specifier, isType } of repository.sources.get(path)?.imports ?? []) {
    if (isType && atRunTime) continue
    const target = resolveImport(repository, path, specifier)
    if (target !== undefined && target !== path) targets.add(target)
  }
  return targets
}
