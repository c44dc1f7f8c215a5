/** The packages beside the engine, as npm would publish them. */

import { spawnSync } from 'node:child_process'
import {
  cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { endPrograms, Program } from '../contract/program.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tickwire-pack-others-')))
const packed = new Map<string, { readonly path: string; readonly files: readonly string[] }>()
const PACKAGES = ['create-tickwire', '@tickwire/services']
vi.setConfig({ testTimeout: 120_000 })

/** Runs a program, and fails with its output. */
function run(cwd: string, command: string, ...args: string[]): string {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST|NODE_OPTIONS|NODE_ENV)/i.test(name)),
  )
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`)
  return stdout
}

const tool = (name: string): string => join(ROOT, 'node_modules', '.bin', name)

beforeAll(() => {
  const isSource = (path: string): boolean => !/^(?:dist|node_modules|\.cache)$/.test(basename(path))
  const copy = join(folder, 'repository')
  mkdirSync(copy)
  for (const path of ['package.json', 'package-lock.json', 'tsconfig.base.json'])
    cpSync(join(ROOT, path), join(copy, path))
  cpSync(join(ROOT, 'packages'), join(copy, 'packages'), { recursive: true, filter: isSource })
  // The packages of the checkout by links, and the engine of the copy: the compiler builds what it links.
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => !each.startsWith('tickwire')))
    symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name))
  symlinkSync(join(copy, 'packages', 'tickwire'), join(copy, 'node_modules', 'tickwire'))
  for (const name of ['tickwire', ...PACKAGES]) {
    const [{ filename, files }] = JSON.parse(
      run(join(copy, 'packages', basename(name)), 'npm', 'pack', '--json', '--pack-destination', folder),
    )
    const path = join(folder, filename.replace('@', '').replace('/', '-'))
    packed.set(name, { path, files: files.map((file: { path: string }) => file.path) })
  }
}, 180_000)
afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

test.each(PACKAGES)('[PACK9] the tarball of %s has README and license, and at most 1.5 MB', (name) => {
  const { path, files } = packed.get(name)!
  expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
  expect(files.filter((file) => /\.test\.ts$/.test(file) && !file.startsWith('templates/'))).toEqual([])
  expect(statSync(path).size).toBeLessThanOrEqual(1_500_000)
})

test.each(PACKAGES)('[PACK9] publint reports nothing about %s, and npm would publish it', (name) => {
  const { path } = packed.get(name)!
  expect(run(folder, tool('publint'), 'run', path, '--strict')).toContain('All good!')
  run(folder, 'npm', 'publish', path, '--dry-run')
})

test('[PACK9] are-the-types-wrong reports nothing about the services', () => {
  const { path } = packed.get('@tickwire/services')!
  expect(run(folder, tool('attw'), path, '--profile', 'esm-only', '--format', 'ascii', '--no-color'))
    .toContain('"@tickwire/services"')
})

test('[PACK9] npm writes a bill of materials of the services from the lockfile', () => {
  // Without `--omit dev`: that leaves out what the repository needs for its own tests too, such as fastify.
  const args = ['sbom', '--sbom-format', 'spdx', '--package-lock-only', '-w', '@tickwire/services']
  const { packages } = JSON.parse(run(ROOT, 'npm', ...args)) as { packages: { name: string }[] }
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'packages/services/package.json'), 'utf8'))
  expect(packages.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(dependencies)))
})

test('[PACK11] in an empty folder with both packages, npx tickwire all starts and answers', async () => {
  const consumer = join(folder, 'consumer')
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', version: '1.0.0', private: true }))
  const paths = ['tickwire', '@tickwire/services'].map((name) => packed.get(name)!.path)
  run(consumer, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...paths)
  // What npx runs.
  const command = pathToFileURL(realpathSync(join(consumer, 'node_modules', '.bin', 'tickwire')))
  const program = new Program(command, [
    'all', '--port', '0', '--relay-port', '0', '--ops', '0', '--address', '127.0.0.1', '--public', '127.0.0.1',
  ], consumer)
  const [, url = ''] = await program.says(/codes: (\S+)/)
  expect(await (await fetch(`${url}healthz`)).text()).toBe('ok\n')
  expect((await fetch(`${url}games`)).headers.get('content-type')).toContain('text/html')
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
})
