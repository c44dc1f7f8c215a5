/**
 * S10, the listeners: links out of the static folder, the inspector's page under a foreign host name, WebRTC offers
 * that never open, slow requests.
 */

import { fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { simulate } from 'tickwire/testing'
import { HTTP_CHECK_MS, HTTP_REQUEST_MS, OFFERS_PENDING_MAX } from '../../../packages/tickwire/src/core/base/limits.ts'
import type { AttackReport } from '../stage.ts'
import { RawClient, until } from './raw-client.ts'
import { victimGame } from './victim-game.ts'
import { withVictim, type Victim } from './victim.ts'

const CLI = fileURLToPath(new URL('../../../packages/tickwire/src/cli/index.ts', import.meta.url))

export async function oddDoors(): Promise<AttackReport[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-attack-'))
  mkdirSync(join(folder, 'public'))
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  symlinkSync('../secret.txt', join(folder, 'public', 'page.txt'))
  try {
    const served = await withVictim({ static: join(folder, 'public') }, async (victim) => [
      await followedLinks(victim),
      await slowBody(victim),
      ...(await deadOffers(victim)),
    ])
    return [...served, await foreignName(folder)]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function followedLinks({ port }: Victim): Promise<AttackReport> {
  const { body } = await ask(port, '/page.txt', `127.0.0.1:${port}`)
  return {
    threat: 'S10',
    what: 'a link out of the static folder: followed',
    count: 1,
    value: body.includes('secret') ? 1 : 0,
    unit: '',
    atMost: 0,
  }
}

async function slowBody({ port }: Victim): Promise<AttackReport> {
  const client = new RawClient(port, '127.0.0.1').write(
    'POST /tickwire/rtc HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n',
  )
  const began = performance.now()
  const timer = setInterval(() => client.write('x'), 200)
  const isEnded = await until(() => client.isClosed, 4 * HTTP_REQUEST_MS)
  clearInterval(timer)
  client.socket.destroy()
  const seconds = isEnded ? (performance.now() - began) / 1000 : Infinity
  return {
    threat: 'S10',
    what: 'a body of one byte at a time: held',
    count: 1,
    value: seconds,
    unit: 's',
    atMost: (HTTP_REQUEST_MS + 4 * HTTP_CHECK_MS) / 1000,
  }
}

/** The part of node-datachannel that is used here, as a client. */
interface Library {
  PeerConnection: new (name: string, config: { readonly iceServers: readonly string[] }) => {
    onGatheringStateChange(listener: (state: string) => void): void
    createDataChannel(label: string, init: object): { onOpen(listener: () => void): void; close(): void }
    localDescription(): { readonly sdp: string }
    setRemoteDescription(sdp: string, type: 'answer'): void
    close(): void
  }
}

/**
 * Offers that never open take all places for offers. Then an honest page connects. Does nothing where WebRTC is not
 * installed.
 */
async function deadOffers({ port }: Victim): Promise<AttackReport[]> {
  let library: Library
  try {
    library = createRequire(import.meta.url)('node-datachannel')
  } catch {
    return []
  }
  const peer = new library.PeerConnection('page', { iceServers: [] })
  const isGathered = new Promise<void>((resolve) =>
    peer.onGatheringStateChange((state) => {
      if (state === 'complete') resolve()
    }),
  )
  let openedAt = Infinity
  const channel = peer.createDataChannel('tickwire', { unordered: true, maxRetransmits: 0 })
  channel.onOpen(() => { openedAt = performance.now() })
  await isGathered
  const offer = peer.localDescription().sdp
  const post = (from: string): RawClient =>
    new RawClient(port, from).write(
      `POST /tickwire/rtc HTTP/1.1\r\nHost: x\r\nContent-Length: ${offer.length}\r\n\r\n${offer}`,
    )
  const dead = Array.from({ length: 2 * OFFERS_PENDING_MAX }, (_, index) => post(`127.1.10.${1 + (index % 16)}`))
  await until(() => dead.every(({ isSettled }) => isSettled))
  const began = performance.now()
  const honest = post('127.1.11.1')
  await until(() => honest.text.includes('a=candidate'), 5000)
  if (honest.status === 200)
    peer.setRemoteDescription(honest.text.slice(honest.text.indexOf('v=0')).replace(/\r\n0\r\n\r\n$/, ''), 'answer')
  await until(() => openedAt !== Infinity, 12_000)
  for (const { socket } of [...dead, honest]) socket.destroy()
  // The library closes a channel that nothing refers to.
  channel.close()
  peer.close()
  return [
    {
      threat: 'S10',
      what: 'offers that never open: an honest page waits',
      count: dead.length,
      value: (openedAt - began) / 1000,
      unit: 's',
      atMost: 2.5,
    },
  ]
}

/** A web page whose host name resolves to this machine sends a request to the inspector. */
async function foreignName(folder: string): Promise<AttackReport> {
  const sim = simulate(victimGame, { seed: 1, clients: 1 })
  const recorder = sim.host.record()
  sim.run(500)
  writeFileSync(join(folder, 'match.twr'), recorder.save() ?? new Uint8Array(0))
  const child = fork(CLI, ['inspect', join(folder, 'match.twr'), '--page'], {
    execArgv: ['--conditions=tickwire-source', '--import', 'tsx'],
    silent: true,
  })
  try {
    const port = await new Promise<number>((resolve, reject) => {
      let said = ''
      child.stdout?.on('data', (bytes) => {
        said += String(bytes)
        const [, number] = /127\.0\.0\.1:(\d+)/.exec(said) ?? []
        if (number !== undefined) resolve(Number(number))
      })
      child.once('exit', (code) => reject(new Error(`the inspector ended with ${code}`)))
    })
    const statuses = await Promise.all(
      ['/', '/api/summary', '/api/packets'].map(async (path) => (await ask(port, path, 'evil.example')).status),
    )
    const answered = statuses.filter((status) => status === 200).length
    return {
      threat: 'S10',
      what: "the inspector's page, asked by a foreign name: answers",
      count: statuses.length,
      value: answered,
      unit: '',
      atMost: 0,
    }
  } finally {
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
  }
}

function ask(port: number, path: string, host: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers: { host } }, (response) => {
      let body = ''
      response.on('data', (bytes) => { body += String(bytes) })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    }).on('error', reject)
  })
}
