/** Browsers and libraries of others reach each other through the relay's TURN, behind symmetric routers. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type Page, chromium } from 'playwright-core'
import { issueRelayToken, turnCredentials } from 'tickwire/nat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { BROWSER_ADVICE, findBrowser } from '../browser/browser.ts'
import { type ProgramBundle, bundlePrograms } from '../bundle-programs.ts'
import { Namespaces, inNamespace, whyNoNamespaces } from './nat-homes.ts'

const why = whyNoNamespaces()
const RELAY = '100.64.0.10'
const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(6))
let tokens = 0

/** What a peer connection needs. */
function turnServer(session: number): { urls: string; username: string; credential: string } {
  const issuedAt = Math.floor(Date.now() / 1000)
  const token = issueRelayToken(provider, issuer, {
    session: new Uint8Array(16).fill(session), id: new Uint8Array(16).fill(++tokens), issuedAt,
    expiresAt: issuedAt + 300, audience: 'relay',
  })
  return { urls: `turn:${RELAY}:7777?transport=udp`, ...turnCredentials(token) }
}

async function until<T>(find: () => T | undefined, what: () => string): Promise<T> {
  for (const end = performance.now() + 60_000; performance.now() < end;) {
    const found = find()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(what())
}

/** A process in a namespace. */
class Inside {
  said: string = ''
  readonly child: ChildProcessWithoutNullStreams

  constructor(namespace: string, args: readonly string[]) {
    const [command, ...words] = inNamespace(namespace, process.execPath, ...args)
    this.child = spawn(command, words)
    const note = (chunk: Buffer): void => {
      this.said += String(chunk)
    }
    this.child.stdout.on('data', note)
    this.child.stderr.on('data', note)
  }

  says(pattern: RegExp): Promise<RegExpExecArray> {
    return until(() => pattern.exec(this.said) ?? undefined, () => `waited for ${pattern} and got:\n${this.said}`)
  }
}

test.runIf(why !== undefined && process.env['CI'] !== undefined)('[TURN6] namespaces are there in CI', () => {
  expect(why).toBeUndefined()
})

describe.skipIf(why !== undefined)(`TURN in namespaces${why === undefined ? '' : `: ${why}`}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-turn-'))
  const started: Inside[] = []
  const browsers: Browser[] = []
  const homes: string[] = []
  let net: Namespaces | undefined
  let bundle: ProgramBundle | undefined
  let relay: Inside | undefined

  beforeAll(async () => {
    net = new Namespaces()
    homes.push(net.addHome(1, true), net.addHome(2, true))
    bundle = await bundlePrograms({ tickwire: 'packages/services/src/cli/index.ts' })
    const keyFile = join(folder, 'issuer.pub')
    writeFileSync(keyFile, keyToText('issuer-public', issuer.publicKey))
    relay = new Inside(net.public, [
      join(bundle.folder, 'tickwire.mjs'), 'relay', '--address', RELAY, '--relayed', RELAY, '--issuer', keyFile,
    ])
    started.push(relay)
    await relay.says(/status:/)
  })

  afterAll(async () => {
    for (const browser of browsers) await browser.close()
    for (const { child } of started) child.kill('SIGKILL')
    net?.close()
    bundle?.remove()
    rmSync(folder, { recursive: true })
  })

  /** A page in a namespace. */
  async function openPage(home: string): Promise<Page> {
    const wrapper = join(folder, `chromium-${home}`)
    writeFileSync(wrapper, `#!/bin/sh\nexec ${inNamespace(home, findBrowser()!).join(' ')} "$@"\n`)
    chmodSync(wrapper, 0o755)
    const browser = await chromium.launch({
      executablePath: wrapper, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      timeout: 90_000,
    })
    browsers.push(browser)
    return await browser.newPage()
  }

  test.concurrent(
    '[TURN6] Chromium to Chromium behind symmetric routers: by relay, with every echo',
    async ({ skip }) => {
      if (findBrowser() === undefined && process.env['CI'] === undefined) skip(BROWSER_ADVICE)
      const [offering, answering] = await Promise.all(homes.map(openPage)) as [Page, Page]
      const offer = await offering.evaluate(openOffer, { ...turnServer(1) })
      const answer = await answering.evaluate(openAnswer, { server: turnServer(1), offer })
      const result = await offering.evaluate(finish, answer)
      expect(result).toEqual({ echoes: 200, local: 'relay', remote: 'relay' })
    },
  )

  test.concurrent('[TURN6] node-datachannel and werift open through it', async () => {
    const file = fileURLToPath(new URL('turn-peer-process.ts', import.meta.url))
    const peers = (['node-datachannel', 'werift'] as const).map((library, index) => new Inside(homes[index]!, [
      '--import', 'tsx', file, JSON.stringify({ library, isOffering: index === 0, ...turnServer(2) }),
    ]))
    started.push(...peers)
    const [first, second] = peers as [Inside, Inside]
    const [, offer] = await first.says(/^description (.*)$/m)
    second.child.stdin.write(`${offer}\n`)
    const [, answer] = await second.says(/^description (.*)$/m)
    first.child.stdin.write(`${answer}\n`)
    await first.says(/^echo 50$/m)
  })
})

interface TurnPage {
  peer: RTCPeerConnection
  channel: RTCDataChannel
}

/** In a page: makes an offer with all candidates. */
async function openOffer(server: RTCIceServer): Promise<string> {
  const peer = new RTCPeerConnection({ iceServers: [server] })
  const channel = peer.createDataChannel('judge', { ordered: false, maxRetransmits: 3 })
  Object.assign(globalThis, { peer, channel })
  await peer.setLocalDescription()
  while (peer.iceGatheringState !== 'complete') await new Promise((resolve) => setTimeout(resolve, 20))
  return peer.localDescription!.sdp
}

/** In a page: answers, and sends back whatever arrives. */
async function openAnswer({ server, offer }: { server: RTCIceServer; offer: string }): Promise<string> {
  const peer = new RTCPeerConnection({ iceServers: [server] })
  Object.assign(globalThis, { peer })
  peer.ondatachannel = ({ channel }) => {
    channel.onmessage = ({ data }) => channel.send(data)
  }
  await peer.setRemoteDescription({ type: 'offer', sdp: offer })
  await peer.setLocalDescription()
  while (peer.iceGatheringState !== 'complete') await new Promise((resolve) => setTimeout(resolve, 20))
  return peer.localDescription!.sdp
}

/** In the page of the offer: sends 200 messages and counts the echoes. */
async function finish(answer: string): Promise<{ echoes: number; local: string; remote: string }> {
  const { peer, channel } = globalThis as unknown as TurnPage
  await peer.setRemoteDescription({ type: 'answer', sdp: answer })
  let echoes = 0
  channel.onmessage = () => echoes++
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  for (let turn = 0; turn < 1000 && channel.readyState !== 'open'; turn++) await wait(20)
  for (let index = 0; index < 200; index++) {
    channel.send(new Uint8Array(150).fill(index))
    await wait(8)
  }
  for (let turn = 0; turn < 200 && echoes < 200; turn++) await wait(20)
  const stats = [...(await peer.getStats()).values()]
  const pair = stats.find((stat) => stat.type === 'candidate-pair' && stat.nominated && stat.state === 'succeeded')
  const typeOf = (id: string): string => stats.find((stat) => stat.id === id)?.candidateType ?? ''
  return { echoes, local: typeOf(pair?.localCandidateId), remote: typeOf(pair?.remoteCandidateId) }
}
