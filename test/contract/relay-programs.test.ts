/** The programs `tickwire relay` and `tickwire stun` as processes, with coturn's own client as a judge. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readBindingResponse, writeBindingRequest } from 'tickwire/nat'
import { afterAll, describe, expect, test } from 'vitest'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { RelayClient, channelOf } from '../../packages/tickwire/src/core/nat/relay-client.ts'
import { issueRelayToken } from '../../packages/tickwire/src/core/nat/relay-token.ts'
import { PacketHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { type UdpPort, openUdp } from '../../packages/tickwire/src/node/udp.ts'
import { bundlePrograms } from '../bundle-programs.ts'
import { Program, endPrograms } from './program.ts'

const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(3))
const folder = mkdtempSync(join(tmpdir(), 'tickwire-relay-'))
const keyFile = join(folder, 'issuer.pub')
writeFileSync(keyFile, keyToText('issuer-public', issuer.publicKey))
const hasCoturn = spawnSync('turnutils_stunclient', ['-h']).error === undefined

const bundle = await bundlePrograms({ tickwire: 'packages/services/src/cli/index.ts' })
const CLI = pathToFileURL(join(bundle.folder, 'tickwire.mjs'))

afterAll(async () => {
  await endPrograms()
  bundle.remove()
})

function token(id: number): Uint8Array {
  const now = Math.floor(Date.now() / 1000)
  return issueRelayToken(provider, issuer, {
    session: new Uint8Array(16).fill(1), id: new Uint8Array(16).fill(id), issuedAt: now, expiresAt: now + 60,
    audience: 'relay',
  })
}

/** A peer on a real socket: it drives its side of the relay, and collects data. */
class Peer {
  readonly client: RelayClient
  readonly data: Uint8Array[] = []
  readonly #port: UdpPort
  readonly #out = createTransmit()
  readonly #timer: NodeJS.Timeout

  constructor(port: UdpPort, relay: string, id: number) {
    this.#port = port
    this.client = new RelayClient({ provider, entropy: systemEntropy, relay, token: token(id) })
    port.onDatagram = (_from, bytes, length) => {
      if (this.client.handleDatagram(performance.now(), bytes, length) && this.client.peerOf(channelOf(bytes)))
        this.data.push(Uint8Array.from(bytes.subarray(4, length)))
      this.#drive()
    }
    this.#timer = setInterval(() => this.#drive(), 20)
  }

  static async open(relay: string, id: number): Promise<Peer> {
    return new Peer(await openUdp({ address: '127.0.0.1', maxDatagramBytes: 1500 }), relay, id)
  }

  send(to: string, bytes: Uint8Array): void {
    const peer = this.client.peers.get(to)
    if (peer === undefined) return
    const out = new Uint8Array(1500)
    this.#port.send(this.client.relay, out, this.client.wrap(peer, bytes, bytes.length, out))
  }

  close(): void {
    clearInterval(this.#timer)
    this.#port.close()
  }

  #drive(): void {
    const now = performance.now()
    while (this.client.pollTransmit(now, this.#out)) this.#port.send(this.#out.to, this.#out.bytes, this.#out.length)
  }
}

async function until(isDone: () => boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !isDone() && performance.now() < end;)
    await new Promise((resolve) => setTimeout(resolve, 10))
  expect(isDone()).toBe(true)
}

async function startRelay(...more: string[]): Promise<{ program: Program; port: number; status: string }> {
  const args = ['relay', '--port', '0', '--address', '127.0.0.1', '--relayed', '127.0.0.1', '--issuer', keyFile]
  const program = new Program(CLI, [...args, '--ops', '0', ...more])
  const [, port] = await program.says(/UDP 127\.0\.0\.1:(\d+)/)
  const [, status = ''] = await program.says(/status: (http:\S+)\/metrics/)
  return { program, port: Number(port), status }
}

describe('programs', () => {
  const started = startRelay('--drain', '1')
  const stun = new Program(CLI, ['stun', '--port', '0', '--address', '127.0.0.1'])

  test.skipIf(!hasCoturn)('[NAT14] coturn\'s turnutils_stunclient reads its address from the relay', async () => {
    const { port } = await started
    const { stdout, stderr } = spawnSync('turnutils_stunclient', ['-p', String(port), '127.0.0.1'], { timeout: 10_000 })
    expect(`${stdout}${stderr}`).toMatch(/UDP reflexive addr: 127\.0\.0\.1:\d+/)
  })

  test('[NAT14] tickwire relay forwards between two peers, reports itself, and drains on SIGTERM', async () => {
    const { program, port, status } = await started
    const [a, b] = [await Peer.open(`127.0.0.1:${port}`, 1), await Peer.open(`127.0.0.1:${port}`, 2)]
    await until(() => a.client.isReady && b.client.isReady)
    a.client.bind(b.client.allocation)
    b.client.bind(a.client.allocation)
    await until(() => [a, b].every(({ client }) => [...client.peers.values()].every(({ channel }) => channel > 0)))
    const bytes = new Uint8Array(1200)
    writeHeader(new PacketHeader(), bytes)
    a.send(b.client.allocation, bytes)
    await until(() => b.data.length === 1)
    expect(b.data[0]).toEqual(bytes)
    expect((await fetch(`${status}/readyz`)).status).toBe(200)
    const metrics = await (await fetch(`${status}/metrics`)).text()
    expect(metrics).toContain('tickwire_relay_allocations 2\n')
    expect(metrics).toContain('tickwire_relay_total{what="forwarded"} 1\n')
    expect(metrics).not.toMatch(/\d+\.\d+\.\d+\.\d+/)
    program.child.kill('SIGTERM')
    await until(() => a.client.state === 'moving' && b.client.state === 'moving')
    expect((await fetch(`${status}/readyz`)).status).toBe(503)
    expect(await program.ended).toBe(0)
    a.close()
    b.close()
  })

  test('[NAT14] tickwire stun answers on UDP', async () => {
    const [, port] = await stun.says(/UDP 127\.0\.0\.1:(\d+)/)
    const own = await openUdp({ address: '127.0.0.1' })
    const request = new Uint8Array(20)
    const transaction = new Uint8Array(12).fill(5)
    let seen: string | undefined
    own.onDatagram = (_from, bytes, length) => {
      seen = readBindingResponse(bytes, length, transaction)
    }
    own.send(`127.0.0.1:${port}`, request, writeBindingRequest(request, transaction))
    await until(() => seen !== undefined)
    expect(seen).toBe(own.localAddress)
    own.close()
    stun.child.kill('SIGTERM')
    expect(await stun.ended).toBe(0)
  })

  test('[NAT14] wrong options are refused in one sentence', async () => {
    const said: string[] = []
    const world = {
      print: () => {}, complain: (line: string) => said.push(line), nowSeconds: () => 0, entropy: systemEntropy,
    }
    expect(await startTickwire(['relay', '--port', '0'], world)).toBe(2)
    expect(await startTickwire(['stun', '--port', 'x'], world)).toBe(2)
    expect(said.join('\n')).toMatch(/--issuer: is missing.*\n[^]*--port x: not a number/)
  })
})
