/**
 * `tickwire lint`: finds what makes the `step` of a game differ between machines, in its module and in those that it
 * imports by relative paths.
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, type AsyncCommand } from './command.ts'
import { findInStep, type StepFinding } from './lint/step-rules.ts'
import { loadParser, nodeAt, nodesAt, type Parse, type SyntaxNode } from './lint/syntax.ts'

/** A module of the game, and what was found in it. */
interface Linted {
  readonly path: string
  readonly text: string
  readonly findings: readonly StepFinding[]
}

/** Modules of one game: more are not a game, but a whole program. */
const MODULES_MAX = 1000

/** Finds what makes a step differ. */
export const lint: AsyncCommand = {
  summary: 'find what makes the step of a game differ between machines',
  help: `
tickwire lint game.ts [--json]

Reads the module of a game and the modules that it imports by relative paths, and names every use of clocks, random
numbers, inexact Math, **, Intl, locales, state outside of the world, Map and Set, comparators that return booleans, and
catch, with what to use instead. A line with the comment "lint-ok: REASON", there or before it, is left out.

It needs a parser, which is not installed with tickwire: npm install --save-dev acorn @sveltejs/acorn-typescript

  --json   the findings as JSON

The exit code is 1 when there are findings.`,
  async run(args, world) {
    const { values, positionals } = parseArgs({
      args: [...args], allowPositionals: true, options: { json: { type: 'boolean', default: false } },
    })
    const [file, ...rest] = positionals
    if (file === undefined || rest.length > 0)
      throw new UsageError('expected one file. Fix: tickwire lint game.ts.')
    if (!existsSync(file)) throw new UsageError(`${file}: cannot be read. Fix: give the module of the game.`)
    const modules = lintGame(file, await loadParser())
    const findings = modules.flatMap(({ path, text, findings: found }) =>
      found.map(({ at, rule, problem, fix }) => ({ file: path, line: lineOf(text, at), rule, problem, fix })))
    if (values.json) world.print(JSON.stringify({ modules: modules.length, findings }))
    else {
      for (const { file: path, line, rule, problem, fix } of findings)
        world.print(`${path}:${line}  ${problem}. Fix: ${fix}.  [${rule}]`)
      world.print(`${count(modules.length, 'module')}, ${count(findings.length, 'finding')}`)
    }
    return findings.length > 0 ? 1 : 0
  },
}

function lintGame(file: string, parse: Parse): readonly Linted[] {
  const [waiting, seen, linted]: [string[], Set<string>, Linted[]] = [[resolve(file)], new Set(), []]
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path) || seen.size >= MODULES_MAX) continue
    seen.add(path)
    const text = readFileSync(path, 'utf8')
    const name = relative('.', path)
    let program: SyntaxNode
    try {
      program = parse(text)
    } catch (error) {
      throw new UsageError(`${name}: cannot be parsed (${(error as Error).message}). Fix: correct its syntax.`)
    }
    linted.push({ path: name, text, findings: findInStep(program, text) })
    waiting.push(...importsOf(program, path))
  }
  return linted
}

/** The modules that a module imports by relative paths. Imports of types only do not run. */
function importsOf(program: SyntaxNode, from: string): readonly string[] {
  return nodesAt(program, 'body').flatMap((node) => {
    const source = nodeAt(node, 'source')?.['value']
    const isType = node['importKind'] === 'type' || node['exportKind'] === 'type'
    if (typeof source !== 'string' || !source.startsWith('.') || isType) return []
    const path = resolve(dirname(from), source)
    const stem = path.replace(/\.[cm]?js$/, '')
    const tries = [path, `${stem}.ts`, `${stem}.mts`, `${stem}.js`, `${path}/index.ts`, `${path}/index.js`]
    return tries.filter((each) => /\.[cm]?[jt]s$/.test(each) && existsSync(each)).slice(0, 1)
  })
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

function count(amount: number, name: string): string {
  return `${amount} ${name}${amount === 1 ? '' : 's'}`
}
