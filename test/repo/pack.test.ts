import { spawnSync } from 'node:child_process'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { compilerPath, ROOT } from '../../tools/typecheck.ts'

// The engine as a user gets it: built from a clean copy of the sources, packed, and installed into an empty project.
// Nothing here may know the `tickwire-source` condition, and nothing is shared with the checkout but its tools.
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tickwire-pack-')))
vi.setConfig({ testTimeout: 120_000 })
const copy = join(folder, 'repository')
const consumer = join(folder, 'consumer')
const installed = join(consumer, 'node_modules', 'tickwire')
const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', 'tickwire', 'package.json'), 'utf8'))
const doors = Object.keys(manifest.exports).filter((door) => !door.endsWith('.json'))
const nameOf = (door: string): string => `tickwire${door.slice(1)}`
let tarball = ''
let packedPaths: string[] = []

afterAll(() => rmSync(folder, { recursive: true, force: true }))

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
  mkdirSync(join(copy, 'packages'), { recursive: true })
  cpSync(join(ROOT, 'packages', 'tickwire'), join(copy, 'packages', 'tickwire'), { recursive: true, filter: isSource })
  cpSync(join(ROOT, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const source = join(copy, 'packages', 'tickwire')
  const [packed] = JSON.parse(run(source, 'npm', 'pack', '--json', '--pack-destination', folder))
  tarball = join(folder, packed.filename)
  packedPaths = packed.files.map((file: { path: string }) => file.path)

  mkdirSync(consumer)
  const own = { name: 'consumer', version: '1.0.0', private: true, type: 'module' }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify(own))
  run(consumer, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball)
}, 180_000)

test('[PACK4] the tarball has the files of its doors, maps that name sources, and neither sources nor tests', () => {
  const packed = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  for (const door of doors) {
    expect(Object.keys(packed.exports[door])).toEqual(['types', 'default'])
    for (const path of Object.values<string>(packed.exports[door]))
      expect(existsSync(join(installed, path)), path).toBe(true)
  }
  expect(packedPaths.filter((path) => /\.test(-d)?\.|tsbuildinfo|^src/.test(path))).toEqual([])
  for (const path of packedPaths.filter((each) => each.endsWith('.js.map'))) {
    const { sources } = JSON.parse(readFileSync(join(installed, path), 'utf8')) as { sources: string[] }
    expect(sources.filter((source) => !source.startsWith('../src/')), path).toEqual([])
  }
  expect(packedPaths).toEqual(expect.arrayContaining(['LICENSE', 'README.md']))
})

test('[PACK6] the tarball has at most 1.5 MB, and the manifest in the checkout is as it was', () => {
  expect(statSync(tarball).size).toBeLessThanOrEqual(1_500_000)
  expect(readFileSync(join(copy, 'packages/tickwire/package.json'), 'utf8'))
    .toBe(readFileSync(join(ROOT, 'packages/tickwire/package.json'), 'utf8'))
})

const packages = ['tickwire', 'services', 'create-tickwire']
test.each(packages)('[PACK6] the manifest of %s says where it comes from', (name) => {
  const { description, keywords, homepage, repository, license } =
    JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
  expect(repository.directory).toBe(`packages/${name}`)
  for (const text of [description, homepage, license]) expect(text).toMatch(/\w/)
  expect(keywords).toContain('multiplayer')
})

/** The values in a door's declarations: re-exports that are not types, and its own declarations. */
function promisedBy(door: string): string[] {
  const declared = readFileSync(join(installed, manifest.exports[door].types), 'utf8')
  const own = [...declared.matchAll(/^export declare (?:function|const|class) (\w+)/gm)].map((match) => match[1]!)
  const listed = [...declared.matchAll(/^export \{([^}]*)\} from/gm)].flatMap((match) => match[1]!.split(','))
  const values = listed.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '))
  return [...own, ...values.map((name) => name.replace(/^.* as /, ''))]
}

test.each(doors)('[PACK1] plain Node imports the door %s, with its exports', (door) => {
  const script = `console.log(JSON.stringify(Object.keys(await import('${nameOf(door)}'))))`
  const present = JSON.parse(run(consumer, process.execPath, '--input-type=module', '-e', script))
  expect(present).toEqual(expect.arrayContaining(promisedBy(door)))
})

test('[PACK5] npx tickwire runs the built files where the package is installed, and the sources in a checkout', () => {
  const said = run(consumer, join(consumer, 'node_modules', '.bin', 'tickwire'), '--help')
  expect(said).toContain('tickwire bandwidth')
  expect(run(join(ROOT, 'games', 'hello'), tool('tickwire'), '--help')).toBe(said)
})

test('[PACK5] a reader that has read enough may close the pipe', () => {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', `"${process.execPath}" node_modules/tickwire/bin/tickwire.mjs --help | true`],
    { cwd: consumer, encoding: 'utf8' },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

// Before the tests of types: they link packages from outside of the consumer.
test('[PACK8] npm would publish the tarball, and writes a bill of materials of it', () => {
  run(folder, 'npm', 'publish', tarball, '--dry-run')
  const { components } = JSON.parse(run(consumer, 'npm', 'sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'))
  const names = components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['tickwire', ...Object.keys(manifest.dependencies)]))
})

describe('types', () => {
  beforeAll(() => {
    // Every user of the node door has Node's types. This test does not check them.
    mkdirSync(join(consumer, 'node_modules', '@types'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', '@types', 'node'), join(consumer, 'node_modules', '@types', 'node'))
    const imports = doors.map((door, at) => `import * as door${at} from '${nameOf(door)}'`)
    const uses = doors.map((_, at) => `door${at}`)
    writeFileSync(
      join(consumer, 'main.ts'),
      `${imports.join('\n')}\n\nexport const doors: object[] = [${uses.join(', ')}]\n`,
    )
    for (const name of ['game.ts', 'server.ts', 'client.ts']) {
      cpSync(join(ROOT, 'games', 'hello', name), join(consumer, name))
      cpSync(join(ROOT, 'docs/guide/examples/lockstep', name), join(consumer, 'lockstep', name))
    }
  })

  test.each([
    ['NodeNext', 'NodeNext'],
    ['ESNext', 'Bundler'],
  ])('[PACK2] a consumer compiles under module %s, resolution %s', (module, resolution) => {
    const compilerOptions = {
      target: 'ES2023', lib: ['ES2023', 'DOM', 'DOM.Iterable'], types: ['node'], module, moduleResolution: resolution,
      strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, verbatimModuleSyntax: true,
      noEmit: true, allowImportingTsExtensions: true, skipLibCheck: false,
    }
    const include = ['*.ts', 'lockstep/*.ts']
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
    run(consumer, process.execPath, compilerPath(), '-p', 'tsconfig.json')
  })

  test.each([
    ['5.0', ['tickwire', 'tickwire/browser'], []],
    ['5.6', doors.map(nameOf), ['node']],
  ])('[PACK7] TypeScript %s compiles for a consumer, library checks included', (version, names, types) => {
    const entry = `doors-${version}.ts`
    const lines = names.flatMap((name, at) => [
      `import * as door${at} from '${name}'`, `export const use${at}: object = door${at}`,
    ])
    writeFileSync(join(consumer, entry), `${lines.join('\n')}\n`)
    const compilerOptions = {
      target: 'ES2022', lib: ['ES2023', 'DOM', 'DOM.Iterable'], types, module: 'ESNext', moduleResolution: 'bundler',
      strict: true, exactOptionalPropertyTypes: true, noEmit: true, allowImportingTsExtensions: true,
      skipLibCheck: false,
    }
    const project = join(consumer, `tsconfig-${version}.json`)
    writeFileSync(project, JSON.stringify({ compilerOptions, files: [entry, 'game.ts', 'client.ts'] }))
    run(consumer, process.execPath, join(ROOT, 'node_modules', `typescript-${version}`, 'bin', 'tsc'), '-p', project)
  })
})

test('[PACK3] publint reports nothing', () => {
  const said = run(folder, tool('publint'), 'run', tarball, '--strict')
  expect(said).toContain('All good!')
})

test('[PACK3] are-the-types-wrong reports nothing', () => {
  // It ends with 1 when it found a problem; that it examined every door is checked here.
  const said = run(folder, tool('attw'), tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-color')
  for (const door of doors) expect(said).toContain(`"${nameOf(door)}"`)
})
