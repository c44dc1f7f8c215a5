/** The list of invariants and the document that explains it are the same. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FAULT_NAMES } from '../../packages/tickwire/src/testing/weather.ts'
import { INVARIANTS } from './invariants.ts'

/** No single world can check them. */
const BY_TESTS = ['I10', 'I22']
const FOLDER = new URL('./', import.meta.url)
const FILES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ts') && name !== 'invariants.ts' && name !== 'invariants.test.ts')
const textOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8')
const DOCUMENT = readFileSync(new URL('../../docs/spec/simulation.md', import.meta.url), 'utf8')

test('[SIM4] the invariants of the list and of the document are the same, in the same words and order', () => {
  const [, section = ''] = DOCUMENT.split('\n## Invariants\n')
  const rows = Array.from(section.split('\n## ')[0]!.matchAll(/^\| (\w+) \| (.+?) \| .+ \|$/gm), ([, id, holds]) => [
    id,
    holds,
  ])
  const seen = rows.filter(([id]) => !BY_TESTS.includes(id!))
  expect(seen).toHaveLength(rows.length - BY_TESTS.length)
  expect(seen).toEqual(Object.entries(INVARIANTS))
})

test('[SIM4] I1 to I29 are all there, and every invariant is named by the code that checks it', () => {
  const numbers = Array.from({ length: 29 }, (_, at) => `I${at + 1}`)
  expect(numbers.filter((id) => !(id in INVARIANTS) && !BY_TESTS.includes(id))).toEqual([])
  const worlds = FILES.filter((name) => !name.endsWith('.test.ts')).map(textOf).join('\n')
  // `crash` is whatever is thrown.
  const unnamed = Object.keys(INVARIANTS).filter((id) => id !== 'crash' && !worlds.includes(`'${id}'`))
  expect(unnamed).toEqual([])
  const tests = FILES.filter((name) => name.endsWith('.test.ts')).map(textOf).join('\n')
  expect(BY_TESTS.filter((id) => !new RegExp(`\\[[A-Z0-9, ]*\\b${id}\\b`).test(tests))).toEqual([])
})

test('[SIM22] every fault of the weather is in the table of faults, and every row names a file that injects it', () => {
  const [, section = ''] = DOCUMENT.split('\n## Faults\n')
  const rows = Array.from(section.split('\n## ')[0]!.matchAll(/^\| (.+?) \| (\S+) \| (.+?) \|$/gm)).slice(1)
    .filter(([, name]) => name !== '---')
  expect(rows.length).toBeGreaterThan(60)
  const root = new URL('../../', import.meta.url)
  const wrong = rows.filter(([, , path, words]) => !readFileSync(new URL(path!, root), 'utf8').includes(words!))
  expect(wrong.map(([row]) => row)).toEqual([])
  expect(FAULT_NAMES.filter((name) => !rows.some(([, , , words]) => words === name))).toEqual([])
})

test('[SIM22] each item of the catalogue leads to faults of the table, or has a reason', () => {
  const section = DOCUMENT.split('\n## Faults\n')[1]!.split('\n## ')[0]!
  const [faults = '', catalogue = ''] = section.split('\n### The catalogue\n')
  const names = new Set(Array.from(faults.matchAll(/^\| (.+?) \| \S+ \| .+? \|$/gm), ([, name]) => name))
  const rows = Array.from(catalogue.matchAll(/^\| (.+?) \| (.+?) \|$/gm), ([, item, led]) => [item!, led!] as const)
  const items = rows.slice(2)
  expect(items.length).toBeGreaterThan(45)
  const wrong = items.flatMap(([item, led]) => led.startsWith('none: ')
    ? (led.length < 40 ? [`${item}: no reason`] : [])
    : led.split('; ').filter((name) => !names.has(name)).map((name) => `${item}: ${name}`))
  expect(wrong).toEqual([])
})
