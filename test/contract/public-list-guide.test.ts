/** Types the two commands of docs/guide/public-list.md, in a network of its own. */

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'

/** Own users, network and processes: everything that is started ends with the first process. */
const ALONE = ['-Urnpf', '--kill-child']
const canBeAlone = spawnSync('unshare', [...ALONE, 'ip', 'link', 'set', 'lo', 'up']).status === 0

/** The lines of the first block of the shell, without comments. */
function commandsOf(page: string): string[] {
  const [, block = ''] = /```sh\n([^]*?)```/.exec(readFileSync(join(ROOT, page), 'utf8')) ?? []
  return block.split('\n').map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== '')
}

/** Programs of a project that has installed this repository: `npx` finds them. */
function install(folder: string): void {
  const bin = join(folder, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  const programs = {
    tickwire: `--conditions=tickwire-source --import tsx ${ROOT}/packages/tickwire/src/cli/index.ts`,
    tsx: `--conditions=tickwire-source ${ROOT}/node_modules/tsx/dist/cli.mjs`,
  }
  for (const [name, args] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nNODE_OPTIONS=--conditions=tickwire-source exec node ${args} "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
}

test.skipIf(!canBeAlone)('[ALL2] the two commands of the guide make a public list of games', async () => {
  const commands = commandsOf('docs/guide/public-list.md')
  expect(commands).toEqual(['npx tickwire all', 'npx tsx server.ts'])
  // Packages resolve from here, and Git ignores it.
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache', 'list-guide-'))
  cpSync(fileURLToPath(new URL('../../docs/guide/examples/game-list/', import.meta.url)), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  install(folder)
  writeFileSync(join(folder, 'look.mjs'), `
    for (let page = '';;) {
      page = await fetch('http://localhost:8080/games').then((answer) => answer.text(), () => '')
      if (page.includes('Friday evening')) {
        console.log(page)
        process.exit(0)
      }
      await new Promise((resolve) => setTimeout(resolve, 200))
    }`)
  // The guide names ports: in this network no other program has them.
  const script = `ip link set lo up; (${commands.join(') & (')}) & node look.mjs`
  const { PORT: _port, ...env } = process.env
  const person = spawn('unshare', [...ALONE, 'sh', '-c', script], { cwd: folder, env })
  let said = ''
  for (const stream of [person.stdout, person.stderr]) stream.on('data', (chunk) => { said += String(chunk) })
  const late = setTimeout(() => person.kill('SIGKILL'), 100_000)
  const code = await new Promise<number | null>((resolve) => person.once('exit', resolve))
  clearTimeout(late)
  rmSync(folder, { recursive: true, force: true })
  expect(code, said).toBe(0)
  // What a person sees: the name, the players, the region, and a link to join.
  expect(said).toContain('Friday evening')
  expect(said).toContain('eu-central')
  expect(said).toMatch(/href="http:\/\/[^"]+"/)
})
