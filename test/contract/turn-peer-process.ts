/**
 * A WebRTC peer of another library in a network namespace. It reaches its peer through a TURN server only.
 *
 * It is started as `turn-peer-process.ts '{"library":"werift","isOffering":true,"urls":"turn:…","username":…}'`. It
 * prints its description, reads the other one from its input, prints `open`, and for each echo `echo N`.
 */

import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

interface Orders {
  readonly library: 'werift' | 'node-datachannel'
  readonly isOffering: boolean
  readonly urls: string
  readonly username: string
  readonly credential: string
}

const { library, isOffering, ...server }: Orders = JSON.parse(process.argv[2]!)
const load = createRequire(import.meta.url)
// Both have the interface of browsers.
const { RTCPeerConnection: Peer }: { RTCPeerConnection: typeof RTCPeerConnection } =
  load(library === 'werift' ? 'werift' : 'node-datachannel/polyfill')
const peer = new Peer({ iceServers: [server], iceTransportPolicy: 'relay' })

async function describe(): Promise<void> {
  await peer.setLocalDescription(isOffering ? await peer.createOffer() : await peer.createAnswer())
  const end = performance.now() + 10_000
  while (peer.iceGatheringState !== 'complete' && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 20))
  console.log(`description ${JSON.stringify(peer.localDescription)}`)
}

function use(channel: RTCDataChannel): void {
  let count = 0
  channel.binaryType = 'arraybuffer'
  channel.onmessage = ({ data }) => {
    if (!isOffering) return channel.send(data)
    console.log(`echo ${++count}`)
    if (count < 100) channel.send(new Uint8Array(200).fill(count))
  }
  const begin = (): void => {
    console.log('open')
    if (isOffering) channel.send(new Uint8Array(200))
  }
  if (channel.readyState === 'open') begin()
  else channel.onopen = begin
}

peer.ondatachannel = ({ channel }) => use(channel)
if (isOffering) {
  use(peer.createDataChannel('judge', { ordered: false, maxRetransmits: 3 }))
  await describe()
}
createInterface({ input: process.stdin }).once('line', (line) => {
  void peer.setRemoteDescription(JSON.parse(line)).then(() => (isOffering ? undefined : describe()))
})
