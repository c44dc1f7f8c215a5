/**
 * Finds the installed libraries that can carry WebTransport and WebRTC. The search is at run time, because none of them
 * is a dependency. If none is installed, the message names the fix.
 */

import type { WebRtcProvider, WebTransportProvider } from './providers.ts'
import { loadDataChannelProvider } from './webrtc-datachannel.ts'
import { loadWeriftProvider } from './webrtc-werift.ts'
import { loadQuicheProvider } from './webtransport-quiche.ts'

/** The provider that was found, or why there is none. */
export type ProviderFound<P> = { readonly provider: P } | { readonly missing: string }

/** The best provider of WebTransport that is installed here. */
export function findWebTransport(): ProviderFound<WebTransportProvider> {
  const provider = loadQuicheProvider()
  return provider === undefined
    ? {
        missing:
          'no provider of WebTransport is installed. '
      + 'Fix: npm install @matrixai/quic (for development), or pass `webtransport.provider`',
      }
    : { provider }
}

/** The best provider of WebRTC that is installed here. */
export function findWebRtc(): ProviderFound<WebRtcProvider> {
  const provider = loadDataChannelProvider() ?? loadWeriftProvider()
  return provider === undefined
    ? {
        missing:
          'no provider of WebRTC is installed. '
      + 'Fix: npm install node-datachannel, or werift where that does not install',
      }
    : { provider }
}
