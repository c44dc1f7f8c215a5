/**
 * Builds deploy/Dockerfile with buildah, and asks the program in the image. The base image is made of this machine's
 * own Node, npm and shell, so that no registry of images is needed.
 *
 * It takes minutes, so only the long form has it. It needs root, because the steps run in a chroot.
 */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { IS_LONG } from '../form.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { freePort, status, until } from '../chaos/chaos-stage.ts'
import { mustRun } from './debian-tool.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-image-'))
/** Images and containers of this test alone. `vfs` needs nothing of the kernel. */
const STORE = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
const AUTHORITIES = '/etc/ssl/authorities.crt'
const PROGRAMS = ['sh', 'env', 'mkdir', 'chown', 'rm', 'uname']
let running: ChildProcess | undefined

afterAll(() => {
  running?.kill()
  rmSync(folder, { recursive: true, force: true })
})

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`)
  return stdout.trim()
}

const buildah = (...args: string[]): string => run('buildah', ...STORE, ...args)

/** A root file system with Node, npm, a shell, and the libraries that they load. */
function makeBase(base: string): void {
  const put = (path: string, to: string = path): void => {
    mkdirSync(dirname(join(base, to)), { recursive: true })
    cpSync(realpathSync(path), join(base, to), { recursive: true })
  }
  const programs = [[process.execPath, '/usr/local/bin/node'] as const,
    ...PROGRAMS.map((name) => [run('which', name), `/usr/bin/${name}`] as const)]
  for (const [path, to] of programs) {
    put(path, to)
    for (const [library] of run('ldd', path).matchAll(/\/\S+/g)) if (!existsSync(join(base, library))) put(library)
  }
  put('/usr/bin/sh', '/bin/sh')
  put(join(run('npm', 'root', '--global'), 'npm'), '/usr/local/lib/npm')
  const npm = '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n'
  writeFileSync(join(base, 'usr/local/bin/npm'), npm, { mode: 0o755 })
  for (const path of ['/etc/resolv.conf', '/etc/hosts']) put(path)
  // Where the machine has a proxy that signs by itself.
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env
  if (authorities !== undefined) put(authorities, AUTHORITIES)
  for (const name of ['tmp', 'root', 'proc', 'sys', 'dev', 'var/tmp']) mkdirSync(join(base, name), { recursive: true })
}

const isPossible = IS_LONG && process.getuid?.() === 0 && mustRun('buildah')

test.runIf(isPossible)('[DEPLOY5] buildah builds the image, and its program runs without rights', async () => {
  const base = join(folder, 'base')
  makeBase(base)
  const container = buildah('from', '--name', 'base', 'scratch')
  buildah('copy', '--quiet', container, base, '/')
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env
  buildah('config', '--env', `npm_config_registry=${run('npm', 'config', 'get', 'registry')}`,
    ...(authorities === undefined ? [] : ['--env', `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`]), container)
  buildah('commit', '--quiet', container, 'base')
  buildah('bud', '--isolation', 'chroot', '--format', 'docker', '--pull-never', '--build-arg', 'BASE=localhost/base',
    '--file', join(ROOT, 'deploy/Dockerfile'), '--tag', 'tickwire', ROOT)
  const { config } = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/tickwire')).Docker
  expect(config).toMatchObject({ User: '10001:10001', Entrypoint: ['tickwire'], Cmd: ['all'] })
  expect(config.Healthcheck.Test.slice(0, 3)).toEqual(['CMD', 'node', '-e'])

  const started = buildah('from', '--name', 'started', '--pull-never', 'localhost/tickwire')
  const [port, ops] = [await freePort(), await freePort()]
  running = spawn('buildah', [
    ...STORE, 'run', '--isolation', 'chroot', started, '--', 'tickwire', 'all', '--port', `${port}`, '--ops', `${ops}`,
    '--relay-port', '0', '--public', '127.0.0.1',
  ], { stdio: 'inherit' })
  await until(async () => await status(`http://127.0.0.1:${ops}/healthz`) === 200, 'the service in the image answers')
  expect(await status(`http://127.0.0.1:${port}/games`)).toBe(200)
  const isIt = new RegExp(`^ *10001 +(\\d+) +node .*--port ${port} `, 'm')
  const [, pid] = isIt.exec(run('ps', '-eo', 'uid,pid,args')) ?? []
  expect(pid).toBeDefined()
  const ended = new Promise((resolve) => running?.once('exit', resolve))
  process.kill(Number(pid), 'SIGTERM')
  expect(await ended).toBe(0)
}, 1_200_000)
