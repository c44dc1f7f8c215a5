/**
 * T22 with a real relay: a process in a network namespace whose every other datagram ends in a sink and is counted by
 * the kernel. Two members behind a router name inner addresses as peers, in fifty spellings and every way of TURN.
 *
 * It needs root or user namespaces, and iptables; `whyNoNamespaces` says what is missing. Nothing leaves the
 * namespaces.
 */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueRelayToken, turnCredentials } from 'tickwire/nat'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { bundlePrograms } from '../../test/bundle-programs.ts'
import { Namespaces, asOwner, inNamespace, whyNoNamespaces } from '../../test/contract/nat-homes.ts'
import { SPELLINGS } from './spellings.ts'
import type { AttackReport } from './stage.ts'

const RELAY = '100.64.0.10'
const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(7))
const TABLES = ['iptables', 'ip6tables'] as const

/** The report; empty where there are no namespaces. */
export async function relaySink(): Promise<AttackReport[]> {
  if (whyNoNamespaces() !== undefined) return []
  const net = new Namespaces()
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-sink-'))
  const started: ChildProcessWithoutNullStreams[] = []
  const bundle = await bundlePrograms({
    tickwire: 'packages/services/src/cli/index.ts', attack: 'bench/attack/spellings-process.ts',
  })
  try {
    const home = net.addHome(1, false)
    openSink(net.public)
    const keyFile = join(folder, 'issuer.pub')
    writeFileSync(keyFile, keyToText('issuer-public', issuer.publicKey))
    const program = join(bundle.folder, 'tickwire.mjs')
    const relay = inside(net.public, program, 'relay', '--relayed', RELAY, '--issuer', keyFile)
    started.push(relay)
    await says(relay, /status:/)
    const orders = { relay: RELAY, port: 7777, users: [1, 2].map((id) => turnCredentials(token(id))) }
    const attack = inside(home, join(bundle.folder, 'attack.mjs'), JSON.stringify(orders))
    started.push(attack)
    const [, tries] = await says(attack, /done (\d+)/)
    const bytes = sunkBytes(net.public)
    checkSink(net.public)
    const what = `${SPELLINGS.length} spellings of inner addresses, a real relay in a namespace: bytes to the sink`
    const figure = 'relay_bytes_to_strangers'
    return [{ threat: 'T22', what, count: Number(tries), value: bytes, unit: 'B', atMost: 0, figure }]
  } finally {
    for (const child of started) child.kill('SIGKILL')
    net.close()
    bundle.remove()
    rmSync(folder, { recursive: true })
  }
}

/** Every address has a route, and every datagram that answers no other one is counted and dropped. */
function openSink(namespace: string): void {
  run('ip', '-n', namespace, 'link', 'add', 'sink', 'type', 'bridge')
  run('ip', '-n', namespace, 'addr', 'add', '198.18.255.1/32', 'dev', 'sink')
  run('ip', '-n', namespace, 'link', 'set', 'sink', 'up')
  run('ip', '-n', namespace, 'route', 'add', 'default', 'dev', 'sink')
  run('ip', '-n', namespace, '-6', 'route', 'add', 'default', 'dev', 'sink')
  for (const table of TABLES) {
    const rule = (...args: string[]): void => run('ip', 'netns', 'exec', namespace, table, '-A', 'OUTPUT', ...args)
    rule('-m', 'conntrack', '--ctstate', 'ESTABLISHED', '-j', 'ACCEPT')
    rule('-p', 'udp', '-j', 'DROP')
  }
}

/** Bytes of UDP that the sink has counted. */
function sunkBytes(namespace: string): number {
  return TABLES.reduce((sum, table) => {
    const [file, ...args] = inNamespace(namespace, table, '-nvxL', 'OUTPUT')
    const { stdout } = spawnSync(file, args)
    const [, bytes] = /^\s*\d+\s+(\d+)\s+DROP/m.exec(String(stdout)) ?? []
    if (bytes === undefined) throw new Error(`${table} has no counter`)
    return sum + Number(bytes)
  }, 0)
}

/** A datagram of the namespace itself must be counted: otherwise 0 would mean nothing. */
function checkSink(namespace: string): void {
  const before = sunkBytes(namespace)
  const code = 'const s=require("dgram").createSocket("udp4");s.on("error",()=>{});'
    + 's.send("x".repeat(50),53,"10.9.9.9",()=>s.close())'
  const [file, ...args] = inNamespace(namespace, process.execPath, '-e', code)
  spawnSync(file, args, { timeout: 10_000 })
  if (sunkBytes(namespace) < before + 50) throw new Error('the sink counts nothing')
}

function token(id: number): Uint8Array {
  const issuedAt = Math.floor(Date.now() / 1000)
  return issueRelayToken(provider, issuer, {
    session: new Uint8Array(16), id: new Uint8Array(16).fill(id), issuedAt, expiresAt: issuedAt + 600,
    audience: 'relay',
  })
}

function inside(namespace: string, ...args: string[]): ChildProcessWithoutNullStreams {
  const [file, ...words] = inNamespace(namespace, process.execPath, ...args)
  return spawn(file, words)
}

async function says(child: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<RegExpExecArray> {
  let said = ''
  const note = (chunk: Buffer): void => {
    said += String(chunk)
  }
  child.stdout.on('data', note)
  child.stderr.on('data', note)
  for (const end = performance.now() + 60_000; performance.now() < end;) {
    const found = pattern.exec(said)
    if (found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`waited for ${pattern} and got:\n${said}`)
}

function run(command: string, ...args: string[]): void {
  const [file, ...words] = asOwner(command, ...args)
  const { status, stderr } = spawnSync(file, words)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${String(stderr)}`)
}
