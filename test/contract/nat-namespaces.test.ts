/** Real sockets through real routers, in network namespaces. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytesToText, keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { issueRelayToken } from '../../packages/tickwire/src/core/nat/relay-token.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { type ProgramBundle, bundlePrograms } from '../bundle-programs.ts'
import { Namespaces, inNamespace, whyNoNamespaces } from './nat-homes.ts'

const why = whyNoNamespaces()
const RELAYS = ['100.64.0.10', '100.64.0.20'] as const
const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(6))
let tokens = 0

interface Status {
  readonly path: string
  readonly address: string
  readonly sent: number
  readonly received: number
  readonly isInOrder: boolean
  readonly gapMs: number
}

/** A process in a namespace, and what it printed. */
class Inside {
  said: string = ''
  readonly child: ChildProcessWithoutNullStreams

  constructor(namespace: string, file: string, args: readonly string[]) {
    const node = [process.execPath, file, ...args]
    const [command, ...words] = inNamespace(namespace, ...node)
    this.child = spawn(command, words)
    const note = (chunk: Buffer): void => {
      this.said += String(chunk)
    }
    this.child.stdout.on('data', note)
    this.child.stderr.on('data', note)
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (const end = performance.now() + 60_000; performance.now() < end;) {
      const found = pattern.exec(this.said)
      if (found !== null) return found
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`waited for ${pattern} and got:\n${this.said}`)
  }

  get status(): Status {
    const lines = [...this.said.matchAll(/^status (.*)$/gm)]
    return JSON.parse(lines.at(-1)?.[1] ?? '{"received":0}')
  }
}

function token(session: number): string {
  const now = Math.floor(Date.now() / 1000)
  const grant = { session: new Uint8Array(16).fill(session), id: new Uint8Array(16).fill(++tokens), audience: 'relay' }
  return bytesToText(issueRelayToken(provider, issuer, { ...grant, issuedAt: now, expiresAt: now + 300 }))
}

async function until(isDone: () => boolean, what: () => string): Promise<void> {
  for (const end = performance.now() + 20_000; performance.now() < end;) {
    if (isDone()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(what())
}

test.runIf(why !== undefined && process.env['CI'] !== undefined)('[NAT20] namespaces are there in CI', () => {
  expect(why).toBeUndefined()
})

describe.skipIf(why !== undefined)(`namespaces${why === undefined ? '' : `: ${why}`}`, () => {
  const started: Inside[] = []
  let net: Namespaces | undefined
  let bundle: ProgramBundle | undefined

  const start = (namespace: string, name: string, ...args: string[]): Inside => {
    const inside = new Inside(namespace, join(bundle!.folder, `${name}.mjs`), args)
    started.push(inside)
    return inside
  }

  beforeAll(async () => {
    net = new Namespaces()
    bundle = await bundlePrograms({
      peer: 'test/contract/nat-peer-process.ts', tickwire: 'packages/services/src/cli/index.ts',
    })
  })

  afterAll(() => {
    for (const { child } of started) child.kill('SIGKILL')
    net?.close()
    bundle?.remove()
  })

  test('[NAT20] direct behind port-restricted routers, by relay behind symmetric ones, after its end too', async () => {
    const homes = [net!.addHome(1, false), net!.addHome(2, false), net!.addHome(3, true), net!.addHome(4, true)]
    const keyFile = join(mkdtempSync(join(tmpdir(), 'tickwire-nat-')), 'issuer.pub')
    writeFileSync(keyFile, keyToText('issuer-public', issuer.publicKey))
    const relays = RELAYS.map((address, index) =>
      start(
        net!.public, 'tickwire', 'relay', '--address', address, '--relayed', address,
        '--issuer', keyFile, '--ops', String(9091 + index),
      ),
    )
    await Promise.all(relays.map((relay) => relay.says(/given to peers as/)))
    const peers = homes.map((home, index) =>
      start(home, 'peer', JSON.stringify({
        role: index % 2 === 0 ? 'host' : 'guest', relays: RELAYS.map((address) => `${address}:7777`),
        tokens: RELAYS.map(() => token(index < 2 ? 1 : 2)),
      })),
    )
    const found = await Promise.all(peers.map((peer) => peer.says(/^candidates (.*)$/m)))
    peers.forEach((peer, index) => peer.child.stdin.write(`${found[index ^ 1]![1]}\n`))
    const [directHost, directGuest, relayedHost, relayedGuest] = peers as [Inside, Inside, Inside, Inside]
    const said = (): string => peers.map((peer) => JSON.stringify(peer.status)).join('\n')
    await until(() => directHost.status.received > 50 && relayedHost.status.received > 50, said)
    expect(directGuest.status.path).toBe('direct')
    expect(directHost.status.address).toMatch(/^100\.64\.0\.2:/)
    expect(relayedGuest.status.path).toBe('relay')
    expect(relayedHost.status.address).toMatch(/^relay\/0\//)
    relays[0]!.child.kill('SIGKILL')
    const before = relayedHost.status.received
    const hasMoved = (): boolean => relayedHost.status.address.startsWith('relay/1/')
    await until(() => hasMoved() && relayedHost.status.received > before + 50, said)
    for (const host of [directHost, relayedHost]) expect(host.status.isInOrder).toBe(true)
    expect(directGuest.status.path).toBe('direct')
  })
})
