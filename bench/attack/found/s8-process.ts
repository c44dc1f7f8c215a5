/**
 * Runs in a separate process, if possible inside a network namespace. Offers to a server name a sink as an ICE
 * candidate, and the sink counts the datagrams that arrive.
 *
 * For each provider it prints how many datagrams an offer to `serve` caused, and how many the same offer caused with
 * the provider alone. The second number shows that the sink would have received them.
 */

import { createSocket } from 'node:dgram'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { serve } from 'tickwire/node'
import { loadDataChannelProvider } from '../../../packages/tickwire/src/node/webrtc-datachannel.ts'
import { loadWeriftProvider } from '../../../packages/tickwire/src/node/webrtc-werift.ts'
import { victimGame } from './victim-game.ts'

const [server = '', sinkAddress = ''] = process.argv.slice(2)
const SETTLE_MS = 3000

/** The part of node-datachannel that is used here, as a client that makes a real offer. */
interface Library {
  PeerConnection: new (name: string, config: { readonly iceServers: readonly string[] }) => {
    onGatheringStateChange(listener: (state: string) => void): void
    createDataChannel(label: string): unknown
    localDescription(): { readonly sdp: string }
    close(): void
  }
}

const library: Library = createRequire(import.meta.url)('node-datachannel')
const sink = createSocket('udp4')
let arrived = 0
sink.on('message', () => arrived++)
await new Promise<void>((resolve) => sink.bind(0, sinkAddress, resolve))
const { port } = sink.address()

/** A browser's offer in which every address is that of the sink. */
async function offerToSink(): Promise<string> {
  const peer = new library.PeerConnection('client', { iceServers: [] })
  const isGathered = new Promise<void>((resolve) =>
    peer.onGatheringStateChange((state) => {
      if (state === 'complete') resolve()
    }),
  )
  peer.createDataChannel('tickwire')
  await isGathered
  const lines = peer
    .localDescription()
    .sdp.split('\r\n')
    .filter((line) => !/^(a=candidate|a=end-of-candidates|c=)/.test(line))
  peer.close()
  const section = lines.findIndex((line) => line.startsWith('m='))
  lines[section] = `m=application ${port} UDP/DTLS/SCTP webrtc-datachannel`
  lines.splice(section + 1, 0, `c=IN IP4 ${sinkAddress}`)
  const candidates = [1, 2, 3].map(
    (number) => `a=candidate:${number} 1 UDP ${2_122_317_823 - number} ${sinkAddress} ${port} typ host`,
  )
  return [
    ...lines.filter((line) => line !== ''),
    ...candidates,
    `a=remote-candidates:1 ${sinkAddress} ${port}`,
    'a=end-of-candidates',
    '',
  ].join('\r\n')
}

const results: { provider: string; served: number; alone: number }[] = []
for (const provider of [loadDataChannelProvider(), loadWeriftProvider()]) {
  if (provider === undefined) continue
  const serving = await serve(victimGame, {
    port: 0,
    address: server,
    webrtc: { provider },
    webtransport: false,
    udp: false,
    ops: false,
    signals: false,
    log: () => {},
  })
  const offer = await offerToSink()
  arrived = 0
  const url = serving.url.replace('localhost', server)
  const response = await fetch(`${url}/tickwire/rtc`, { method: 'POST', body: offer })
  if (response.status !== 200) throw new Error(`${provider.name}: ${response.status} ${await response.text()}`)
  await sleep(SETTLE_MS)
  const served = arrived
  await serving.close()
  arrived = 0
  const listener = provider.listen({ onSession: (session) => session.close(), address: server })
  await listener.answer(offer, server)
  await sleep(SETTLE_MS)
  const alone = arrived
  await listener.close()
  results.push({ provider: provider.name, served, alone })
}
console.log(JSON.stringify(results))
process.exit(0)
