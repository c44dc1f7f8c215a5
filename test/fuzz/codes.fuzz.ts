/** Hostile input for play by code: typed codes, answers of a rendezvous, and descriptions of other players. */

import { readCode } from '../../packages/services/src/rendezvous/join-code.ts'
import { codeIn } from '../../packages/tickwire/src/core/client/join-code.ts'
import { ConnectError } from '../../packages/tickwire/src/core/client/connect-error.ts'
import { Rendezvous } from '../../packages/tickwire/src/core/client/rendezvous.ts'
import {
  RendezvousSignaling, type TextSocket,
} from '../../packages/tickwire/src/core/nat/rendezvous-signaling.ts'
import { isReachable } from '../../packages/tickwire/src/core/nat/candidates.ts'
import { sanitizePeerOffer } from '../../packages/tickwire/src/node/webrtc-offer.ts'
import type { FuzzTarget } from './target.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

function fail(why: string): never {
  throw new Error(why)
}

const code: FuzzTarget = {
  name: 'join-code',
  seeds: () => ['IRON-7K3M', 'iron wolf 7k3m', 'IRON-7K3M-0123456789ABCDEF', 'https://a/#IRON-7K3M-0123456789ABCDEF']
    .map(bytesOf),
  run(bytes) {
    const text = textOf(bytes)
    codeIn(text)
    const read = readCode(text)
    if (read === undefined) return
    const again = readCode(read.key === undefined ? read.code : `${read.code}-${read.key}`)
    if (again?.code !== read.code || again.key !== read.key) fail('a code that is not read as it was')
  },
}

const OFFER = JSON.stringify({
  kind: 'offer', identity: 'ab'.repeat(32), key: 'cd'.repeat(16), candidates: [{ kind: 'seen', address: '8.8.8.8:1' }],
})

const signals: FuzzTarget = {
  name: 'rendezvous-text',
  seeds: () => [
    { kind: 'welcome', name: 'host' }, { kind: 'left', guest: 'g1' }, { from: 'g1', signal: OFFER },
  ].map((message) => bytesOf(JSON.stringify(message))),
  run(bytes) {
    const socket: TextSocket = { onText: () => {}, onClosed: () => {}, send: () => {}, close: () => {} }
    const signaling = new RendezvousSignaling(socket, { session: '', ticket: '' })
    for (let round = 0; round < 100; round++) socket.onText(textOf(bytes))
    let count = 0
    for (let next = signaling.poll(); next !== undefined; next = signaling.poll()) {
      count++
      const [, signal] = next
      for (const { address } of 'candidates' in signal ? signal.candidates : [])
        if (!isReachable(address)) fail('a candidate that no player has')
    }
    if (count > 64) fail('more messages than may wait')
  },
}

const answers: FuzzTarget = {
  name: 'rendezvous-answer',
  seeds: () => [
    { session: 's', ticket: 't', identity: 'i', relays: [{ address: '1.2.3.4:5', token: 'AAAA', turn: 'AAAA' }] },
    { error: { code: 'no-such-code', message: 'm', fix: 'f' } }, { error: { code: 'host-away' } },
  ].map((body) => bytesOf(JSON.stringify(body))),
  run(bytes) {
    let body: unknown
    try {
      body = JSON.parse(textOf(bytes))
    } catch {
      return
    }
    for (const status of [200, 404, 500]) {
      const rendezvous = new Rendezvous('http://localhost', {
        now: () => 0, ask: () => Promise.resolve({ status, body }), openText: () => Promise.reject(new Error()),
      })
      // An error is thrown later, outside of this call, and ends the process of the fuzzer.
      void rendezvous.join('IRON-7K3M', '').catch((error: unknown) => {
        if (!(error instanceof ConnectError)) queueMicrotask(() => fail(`threw ${String(error)}`))
      })
    }
  },
}

const SDP = `v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r
c=IN IP4 0.0.0.0\r\na=candidate:1 1 udp 2113937151 8.8.8.8 54321 typ srflx raddr 0.0.0.0 rport 0\r
a=candidate:2 1 udp 2113937151 127.0.0.1 22 typ host\r\na=ice-ufrag:abcd\r\na=ice-pwd:efgh\r\na=mid:0\r\n`

const offer: FuzzTarget = {
  name: 'peer-offer',
  seeds: () => [bytesOf(SDP)],
  run(bytes) {
    let clean: string
    try {
      clean = sanitizePeerOffer(textOf(bytes), false)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('an offer has')) throw error
      return
    }
    const lines = clean.split('\r\n').filter((line) => line.startsWith('a=candidate:'))
    if (lines.length > 8) fail('too many candidates')
    for (const line of lines) {
      const [, , , , ip = '', port = ''] = line.split(' ')
      if (!isReachable(ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)) fail(`kept ${line}`)
    }
  },
}

export const targets: readonly FuzzTarget[] = [code, signals, answers, offer]
