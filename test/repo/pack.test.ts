import { spawnSync } from 'node:child_process'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync,
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
  run(source, tool('tsx'), 'build/build.ts')
  const [packed] = JSON.parse(run(source, 'npm', 'pack', '--json', '--pack-destination', folder))
  tarball = join(folder, packed.filename)
  packedPaths = packed.files.map((file: { path: string }) => file.path)

  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  run(consumer, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball)
}, 180_000)

test('[PACK4] the tarball has every file its doors lead to and its maps point at, and no tests', () => {
  for (const door of doors) {
    for (const path of Object.values<string>(manifest.exports[door]))
      expect(existsSync(join(installed, path)), path).toBe(true)
  }
  expect(packedPaths.filter((path) => /\.test(-d)?\.|tsbuildinfo/.test(path))).toEqual([])
  for (const path of packedPaths.filter((each) => each.endsWith('.js.map'))) {
    const { sources } = JSON.parse(readFileSync(join(installed, path), 'utf8')) as { sources: string[] }
    const lost = sources.filter((source) => !existsSync(join(installed, path, '..', source)))
    expect(lost, path).toEqual([])
  }
  expect(packedPaths).toContain('LICENSE')
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
      const hello = join(ROOT, 'games', 'hello', name)
      if (existsSync(hello)) cpSync(hello, join(consumer, name))
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
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    run(consumer, process.execPath, compilerPath(), '-p', 'tsconfig.json')
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
