/** What offers and peer connections can make a server hold and send. */

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { canSeparate, offerToSink } from '../../bench/attack/found/s8.ts'
import * as doors from '../../packages/tickwire/src/core/base/limits.ts'
import type { DatagramSession, WebRtcListener, WebRtcProvider } from '../../packages/tickwire/src/node/providers.ts'
import { loadDataChannelProvider } from '../../packages/tickwire/src/node/webrtc-datachannel.ts'
import { sanitizeOffer } from '../../packages/tickwire/src/node/webrtc-offer.ts'
import { loadWeriftProvider } from '../../packages/tickwire/src/node/webrtc-werift.ts'
import { closeAll, closes, until } from './doors-stage.ts'

vi.setConfig({ testTimeout: 120_000 })
afterAll(closeAll)

const isSeparate = canSeparate()
const mustSeparate = process.env.CI === 'true'
const native = loadDataChannelProvider()
const providers = [native, loadWeriftProvider()].filter((each): each is WebRtcProvider => each !== undefined)
const why =
  native === undefined ? 'node-datachannel is not installed' : isSeparate ? '' : 'no network namespace can be made here'

test.skipIf(why !== '' && !mustSeparate)(
  `[DOOR7] S8: an offer with foreign candidates makes the server send nothing${why && ` (skipped: ${why})`}`,
  async () => {
    const counts = await offerToSink(true)
    expect(counts).toHaveLength(providers.length)
    for (const { provider, served, alone } of counts) {
      expect(served, provider).toBe(0)
      // The control: without the reduction of the offer, packets are sent to the sink.
      expect(alone, provider).toBeGreaterThan(3)
    }
  },
)

const OFFER = [
  'v=0',
  'o=- 123 2 IN IP4 10.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'a=ice-lite',
  'm=application 4000 UDP/DTLS/SCTP webrtc-datachannel',
  'c=IN IP4 10.0.0.1',
  'a=candidate:1 1 udp 2122260223 10.0.0.1 4000 typ host',
  'a=candidate:2 1 udp 2122260223 0a1b.local 4000 typ host',
  'a=remote-candidates:1 10.0.0.1 4000',
  'a=rtcp:9 IN IP4 10.0.0.1',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:abcdefghijklmnopqrstuvwx',
  'a=ice-options:trickle',
  'a=fingerprint:sha-256 AB:CD',
  'a=setup:actpass',
  'a=mid:0',
  'a=sctp-port:5000',
  'a=max-message-size:262144',
  'a=end-of-candidates',
  '',
]

test('[DOOR7] S8: only keys, credentials and the data channel of an offer are used', () => {
  const reduced = [
    'v=0',
    'o=- 123 2 IN IP4 0.0.0.0',
    's=-',
    't=0 0',
    'a=group:BUNDLE 0',
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
    'c=IN IP4 0.0.0.0',
    'a=ice-ufrag:abcd',
    'a=ice-pwd:abcdefghijklmnopqrstuvwx',
    'a=ice-options:trickle',
    'a=fingerprint:sha-256 AB:CD',
    'a=setup:actpass',
    'a=mid:0',
    'a=sctp-port:5000',
    'a=max-message-size:262144',
    '',
  ].join('\r\n')
  for (const end of ['\r\n', '\n']) expect(sanitizeOffer(OFFER.join(end))).toBe(reduced)
  expect(sanitizeOffer(reduced)).toBe(reduced)
  const section = 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel'
  for (const offer of [
    '',
    'garbage',
    'v=0\r\n',
    `${section}\r\n${section}`,
    `${section}\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111`,
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel x',
  ]) {
    expect(() => sanitizeOffer(offer), offer).toThrow('an offer has')
  }
})

/** What is used of node-datachannel, as a client. */
interface Library {
  PeerConnection: new (name: string, config: { readonly iceServers: readonly string[] }) => Peer
}

interface Peer {
  onGatheringStateChange(listener: (state: string) => void): void
  onStateChange(listener: (state: string) => void): void
  createDataChannel(
    label: string,
    init?: object,
  ): {
    onOpen(listener: () => void): void
    onClosed(listener: () => void): void
    sendMessageBinary(bytes: Uint8Array): boolean
  }
  localDescription(): { readonly sdp: string }
  setRemoteDescription(sdp: string, type: 'answer'): void
  close(): void
}

async function makeOffer(
  label = 'tickwire',
): Promise<{ peer: Peer; offer: string; isOpen(): boolean; channel: ReturnType<Peer['createDataChannel']> }> {
  const library: Library = createRequire(import.meta.url)('node-datachannel')
  const peer = new library.PeerConnection('client', { iceServers: [] })
  const isGathered = new Promise<void>((resolve) =>
    peer.onGatheringStateChange((state) => {
      if (state === 'complete') resolve()
    }),
  )
  let isOpen = false
  const channel = peer.createDataChannel(label, { unordered: true, maxRetransmits: 0 })
  channel.onOpen(() => { isOpen = true })
  await isGathered
  closes.push(() => peer.close())
  return { peer, channel, offer: sanitizeOffer(peer.localDescription().sdp), isOpen: () => isOpen }
}

function listen(provider: WebRtcProvider, sessions: DatagramSession[] = []): WebRtcListener {
  const listener = provider.listen({
    onSession: (session) => sessions.push(session),
    address: '127.0.0.1',
    areLocalExempt: false,
  })
  closes.push(() => listener.close())
  return listener
}

test.runIf(native !== undefined)(
  '[DOOR8] S10: offers that never open do not block another origin, and have a short deadline',
  async () => {
    for (const provider of providers) {
      const listener = listen(provider)
      const { offer } = await makeOffer()
      for (let count = 0; count < doors.OFFERS_PENDING_PER_ORIGIN; count++) await listener.answer(offer, '203.0.113.1')
      await expect(listener.answer(offer, '203.0.113.1')).rejects.toThrow('too many channels of one address')
      // Eight origins with eight offers each take all places.
      for (let count = 0; count < doors.OFFERS_PENDING_MAX; count++)
        await listener.answer(offer, `198.51.100.${count % 8}`)
      const honest = await makeOffer()
      honest.peer.setRemoteDescription(await listener.answer(honest.offer, '192.0.2.1'), 'answer')
      expect(await until(honest.isOpen, 8000), provider.name).toBe(true)
      await sleep(doors.OFFER_PENDING_MS)
      await listener.answer(offer, '203.0.113.1')
      await listener.close()
    }
  },
)

test.runIf(native !== undefined)('[DOOR9] a second channel, or one of another name, ends the connection', async () => {
  for (const provider of providers) {
    const sessions: DatagramSession[] = []
    const listener = listen(provider, sessions)
    const page = await makeOffer()
    page.peer.setRemoteDescription(await listener.answer(page.offer, '192.0.2.1'), 'answer')
    expect(await until(page.isOpen, 8000), provider.name).toBe(true)
    page.channel.sendMessageBinary(new Uint8Array(1))
    await until(() => sessions.length === 1)
    let isOver = false
    sessions[0]!.onClosed = () => { isOver = true }
    page.peer.createDataChannel('another')
    expect(await until(() => isOver, 8000), provider.name).toBe(true)
    const stranger = await makeOffer('another')
    let state = ''
    stranger.peer.onStateChange((next) => { state = next })
    stranger.peer.setRemoteDescription(await listener.answer(stranger.offer, '192.0.2.1'), 'answer')
    expect(
      await until(() => state === 'closed' || state === 'disconnected' || state === 'failed', 20_000),
      provider.name,
    ).toBe(true)
    expect(sessions).toHaveLength(1)
    await listener.close()
  }
})
