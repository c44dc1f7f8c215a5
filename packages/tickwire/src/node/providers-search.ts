/**
 * Which of the libraries that can carry WebTransport and WebRTC are installed here: looked for at run time, since none is a
 * dependency. Where there is none, what is said names the fix.
 */

import type { WebRtcProvider, WebTransportProvider } from './providers.ts'
import { loadDataChannelProvider } from './webrtc-datachannel.ts'
import { loadWeriftProvider } from './webrtc-werift.ts'
import { loadQuicheProvider } from './webtransport-quiche.ts'

/** What was found, or why nothing was. */
export type ProviderFound<P> = { readonly provider: P } | { readonly missing: string }

/** The best provider of WebTransport that is installed here. */
export function findWebTransport(): ProviderFound<WebTransportProvider> {
  const provider = loadQuicheProvider()
  return provider === undefined
    ? { missing: 'no provider of WebTransport is installed here. Fix: npm install @matrixai/quic (for development), or give `webtransport.provider`' }
    : { provider }
}

/** The best provider of WebRTC that is installed here. */
export function findWebRtc(): ProviderFound<WebRtcProvider> {
  const provider = loadDataChannelProvider() ?? loadWeriftProvider()
  return provider === undefined
    ? { missing: 'no provider of WebRTC is installed here. Fix: npm install node-datachannel, or werift where that does not install' }
    : { provider }
}
