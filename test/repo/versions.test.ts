/** One version of everything that is published together. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERSION } from '../../packages/services/src/version.ts'
import { ROOT } from '../../tools/typecheck.ts'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const { version } = JSON.parse(read('package.json')) as { readonly version: string }
const FOLDERS = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)

test('[PACK10] all packages have one version, and depend on each other by it', () => {
  const locked = JSON.parse(read('package-lock.json')).packages
  expect(locked[''].version).toBe(version)
  for (const folder of FOLDERS) {
    const { version: own, dependencies } = JSON.parse(read(`${folder}/package.json`))
    expect([folder, own, locked[folder].version]).toEqual([folder, version, version])
    expect(dependencies?.tickwire ?? version).toBe(version)
  }
  expect(VERSION).toBe(version)
})

test('[PACK10] the changelog, the chart and the guide name the version', () => {
  expect(read('CHANGELOG.md')).toContain(`\n## ${version}\n`)
  expect(read('deploy/helm/tickwire/Chart.yaml')).toContain(`\nversion: ${version}\nappVersion: ${version}\n`)
  expect(read('deploy/helm/tickwire/values.yaml')).toContain(`image: tickwire:${version}\n`)
  const pages = readdirSync(join(ROOT, 'docs/guide')).filter((name) => name.endsWith('.md'))
  const files = pages.flatMap((name) => read(`docs/guide/${name}`).match(/tickwire-\d+\.\d+\.\d+\.tgz/g) ?? [])
  expect(new Set(files)).toEqual(new Set([`tickwire-${version}.tgz`]))
})
