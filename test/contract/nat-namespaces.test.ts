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
/** The outer port of a host behind a router with hairpin. */
const HAIRPIN_PORT = 40_404
let [tokens, sessions] = [0, 1]

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
  const [id, name] = [new Uint8Array(16).fill(++tokens), new Uint8Array(16).fill(session)]
  const grant = { session: name, id, audience: 'relay' }
  return bytesToText(issueRelayToken(provider, issuer, { ...grant, issuedAt: now, expiresAt: now + 300 }))
}

/** Networks, relays and peers. */
class Stage {
  readonly net: Namespaces = new Namespaces()
  relays: readonly Inside[] = []
  readonly #started: Inside[] = []
  #bundle: ProgramBundle | undefined

  async open(): Promise<void> {
    this.#bundle = await bundlePrograms({
      peer: 'test/contract/nat-peer-process.ts', tickwire: 'packages/services/src/cli/index.ts',
    })
    const keyFile = join(mkdtempSync(join(tmpdir(), 'tickwire-nat-')), 'issuer.pub')
    writeFileSync(keyFile, keyToText('issuer-public', issuer.publicKey))
    this.relays = RELAYS.map((address, index) =>
      this.#start(
        this.net.public, 'tickwire', 'relay', '--address', address, '--relayed', address,
        '--issuer', keyFile, '--ops', String(9091 + index),
      ),
    )
    await Promise.all(this.relays.map((relay) => relay.says(/given to peers as/)))
  }

  /** Hosts and guests in turn. Each gets the candidates of the other one of its pair. */
  async peers(homes: readonly string[], ports: readonly number[] = []): Promise<Inside[]> {
    const pairs = sessions
    sessions += homes.length / 2
    const peers = homes.map((home, index) =>
      this.#start(home, 'peer', JSON.stringify({
        role: index % 2 === 0 ? 'host' : 'guest', relays: RELAYS.map((address) => `${address}:7777`),
        tokens: RELAYS.map(() => token(pairs + (index >> 1))), port: ports[index] ?? 0,
      })),
    )
    const found = await Promise.all(peers.map((peer) => peer.says(/^candidates (.*)$/m)))
    peers.forEach((peer, index) => peer.child.stdin.write(`${found[index ^ 1]![1]}\n`))
    return peers
  }

  close(): void {
    for (const { child } of this.#started) child.kill('SIGKILL')
    this.net.close()
    this.#bundle?.remove()
  }

  #start(namespace: string, name: string, ...args: string[]): Inside {
    const inside = new Inside(namespace, join(this.#bundle!.folder, `${name}.mjs`), args)
    this.#started.push(inside)
    return inside
  }
}

function saidBy(peers: readonly Inside[]): () => string {
  return () => peers.map((peer) => JSON.stringify(peer.status)).join('\n')
}

async function until(isDone: () => boolean, what: () => string): Promise<void> {
  for (const end = performance.now() + 40_000; performance.now() < end;) {
    if (isDone()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(what())
}

test.runIf(why !== undefined && process.env['CI'] !== undefined)('[NAT20] namespaces are there in CI', () => {
  expect(why).toBeUndefined()
})

describe.skipIf(why !== undefined)(`namespaces${why === undefined ? '' : `: ${why}`}`, () => {
  let stage: Stage

  beforeAll(async () => {
    stage = new Stage()
    await stage.open()
  })

  afterAll(() => stage.close())

  test('[NAT38] by IPv6 where IPv4 routers are symmetric, by the LAN, and by hairpin where that is cut', async () => {
    const { net } = stage
    const homes = [net.addHome(11, true), net.addHome(12, true), net.addHome(13, false), net.addHome(14, false)]
    for (const number of [11, 12]) net.addIpv6(number)
    const [neighbour, isolated] = [net.addNeighbour(13), net.addNeighbour(14, HAIRPIN_PORT)]
    const peers = await stage.peers(
      [homes[0]!, homes[1]!, homes[2]!, neighbour, homes[3]!, isolated], [0, 0, 0, 0, HAIRPIN_PORT, 0],
    )
    const hosts = [peers[0]!, peers[2]!, peers[4]!]
    const expected = [/^\[fd00:12::2\]:/, /^10\.2\.13\.2:/, /^100\.64\.0\.14:/]
    const isDone = (): boolean => hosts.every(({ status }, at) =>
      status.received > 50 && expected[at]!.test(status.address))
    await until(isDone, saidBy(peers))
    for (const [index, { status }] of peers.entries())
      expect([index, status.path, index % 2 === 1 || status.isInOrder]).toEqual([index, 'direct', true])
  }, 120_000)

  test('[NAT20] direct behind port-restricted routers, by relay behind symmetric ones, after its end too', async () => {
    const { net } = stage
    const homes = [net.addHome(1, false), net.addHome(2, false), net.addHome(3, true), net.addHome(4, true)]
    const peers = await stage.peers(homes)
    const [directHost, directGuest, relayedHost, relayedGuest] = peers as [Inside, Inside, Inside, Inside]
    const said = saidBy(peers)
    await until(() => directHost.status.received > 50 && relayedHost.status.received > 50, said)
    expect(directGuest.status.path).toBe('direct')
    expect(directHost.status.address).toMatch(/^100\.64\.0\.2:/)
    expect(relayedGuest.status.path).toBe('relay')
    expect(relayedHost.status.address).toMatch(/^relay\/0\//)
    stage.relays[0]!.child.kill('SIGKILL')
    const before = relayedHost.status.received
    const hasMoved = (): boolean => relayedHost.status.address.startsWith('relay/1/')
    await until(() => hasMoved() && relayedHost.status.received > before + 50, said)
    for (const host of [directHost, relayedHost]) expect(host.status.isInOrder).toBe(true)
    expect(directGuest.status.path).toBe('direct')
  }, 120_000)
})
