#!/usr/bin/env node
/**
 * `npm create tickwire my-game`: makes a folder with a game, installs what it needs, and says how to go on.
 *
 * Plain JavaScript without dependencies: npm runs it as it was packed, and nothing is built.
 */

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)))
const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
/** Each template, and what it shows. The first is the default. */
const TEMPLATES = new Map([
  ['hello', 'the smallest game: walk with the arrow keys, on a canvas'],
  ['rooms', 'a lobby with rooms, names, teams, chat and a bot'],
  ['lockstep', 'a lockstep game: only orders are sent, and every page steps the same world'],
  ['peer', 'a match that a player hosts in its own page; others join by a code'],
  ['react', 'React around a canvas: a form, and scores'],
  ['three', 'a field in three dimensions, with three.js'],
  ['pixi', 'ships that follow the pointer or a finger, with PixiJS'],
  ['phaser', 'tanks with predicted shells, with Phaser'],
  ['rapier', 'football with a physics engine, Rapier: every client predicts the ball'],
])
const FOLDER = 'my-game'
const LINES = [...TEMPLATES].map(([name, about]) => `${name.padEnd(10)}${about}`)

const HELP = `create-tickwire [FOLDER] [OPTIONS]      from npm: npm create tickwire@latest [FOLDER] -- [OPTIONS]

Makes a multiplayer game with Tickwire, Vite and TypeScript in FOLDER (default ${FOLDER}).

  --template NAME   ${LINES.join('\n                    ')}
  --yes             asks nothing: takes the defaults
  --no-install      does not run npm install
  --tickwire SPEC   the version of tickwire, or file:PATH of a package (default ${version})
  --services SPEC   the same of @tickwire/services, which the template peer uses
  --help, --version`

try {
  await create()
} catch (error) {
  console.error(`create-tickwire: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

async function create() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      template: { type: 'string' },
      yes: { type: 'boolean', short: 'y', default: false },
      'no-install': { type: 'boolean', default: false },
      tickwire: { type: 'string', default: version },
      services: { type: 'string', default: version },
      help: { type: 'boolean', short: 'h', default: false },
      version: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  if (values.version) return console.log(version)
  const answers = values.yes || !process.stdin.isTTY ? undefined : createInterface(process.stdin, process.stdout)
  const folder = resolve(positionals[0] || (await answers?.question(`Folder (${FOLDER}): `)) || FOLDER)
  const template = values.template ?? (await askTemplate(answers))
  answers?.close()
  checkTemplate(template)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. Fix: give another folder, or empty this one.`)
  write(folder, template, values)
  console.log(`made ${folder} from the template ${template}`)
  if (!values['no-install']) install(folder)
  const place = relative('', folder)
  console.log(`\nNow:\n${place === '' ? '' : `  cd ${place}\n`}${values['no-install'] ? '  npm install\n' : ''}`
    + '  npm run dev     plays in the browser: open the address in two tabs\n'
    + '  npm test        plays a match on a bad network\n')
}

/** Asks for the template by its number or name. */
async function askTemplate(answers) {
  const names = [...TEMPLATES.keys()]
  if (answers === undefined) return names[0]
  names.forEach((name, at) => console.log(`  ${at + 1} ${name.padEnd(9)} ${TEMPLATES.get(name)}`))
  const answer = (await answers.question('Template (1): ')).trim()
  return answer === '' ? names[0] : (names[Number(answer) - 1] ?? answer)
}

function checkTemplate(template) {
  if (TEMPLATES.has(template)) return
  throw new Error(`--template: unknown (expected ${[...TEMPLATES.keys()].join(', ')}; got ${template}).`)
}

/** Writes the files of a template, and its package.json. */
function write(folder, template, { tickwire, services }) {
  const templates = join(PACKAGE, 'templates')
  cpSync(join(templates, '_shared'), folder, { recursive: true })
  cpSync(join(templates, template), folder, { recursive: true, filter: (path) => basename(path) !== 'packages.json' })
  // npm leaves files of this name out of packages.
  renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'))
  const path = join(folder, 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  const own = join(templates, template, 'packages.json')
  const { dependencies = {}, devDependencies = {} } = existsSync(own) ? JSON.parse(readFileSync(own, 'utf8')) : {}
  const name = basename(folder).toLowerCase().replace(/[^a-z0-9._~-]+/g, '-').replace(/^[._-]+/, '') || FOLDER
  if ('@tickwire/services' in dependencies) dependencies['@tickwire/services'] = absolute(services)
  writeFileSync(path, `${JSON.stringify({
    name,
    ...manifest,
    dependencies: { tickwire: absolute(tickwire), ...manifest.dependencies, ...dependencies },
    devDependencies: { ...manifest.devDependencies, ...devDependencies },
  }, null, 2)}\n`)
}

/** A package in a file is found from the new folder too. */
function absolute(spec) {
  return spec.startsWith('file:') ? `file:${resolve(spec.slice('file:'.length))}` : spec
}

/** Runs npm install, with its own progress. */
function install(folder) {
  console.log('installing packages ...')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(npm, ['install', '--no-audit', '--no-fund'], {
    cwd: folder, stdio: 'inherit', shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm install failed in ${folder}. Fix: run it there again, and read what it says.`)
}
