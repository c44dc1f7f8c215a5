/**
 * Opens every transport that a game can be served over on this machine, and says why when one is missing.
 *
 * A transport that was asked for by name must open, or `serve` fails with the fix; one that is on by default may be missing,
 * and then the log and the page are told.
 */

import { lookup } from 'node:dns/promises'
import type { Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import { isIP } from 'node:net'
import { ConfigError } from '../core/base/assert.ts'
import { type Certificate, checkCertificate } from './certificate.ts'
import { CertificateRotation } from './certificate-rotation.ts'
import { type AllowedOrigins, isAllowedOrigin } from './page-origin.ts'
import type { BundleMember } from './port-bundle.ts'
import { findWebRtc, findWebTransport, type ProviderFound } from './providers-search.ts'
import type { WebRtcProvider, WebTransportProvider } from './providers.ts'
import { MATCH_PATH, type ServerInfo, SIGNALLING_PATH } from './serve-routes.ts'
import { SessionPort } from './session-port.ts'
import { openUdp } from './udp.ts'
import { announce } from './webrtc-session.ts'
import { listenWebSocket } from './websocket.ts'

/** How WebTransport is served. */
export interface WebTransportServing {
  /** The UDP port. Default: the number of the HTTP port, so that a page with a strict content policy may go there. */
  readonly port?: number
  /** The UDP port as players reach it, where a router or a container maps another one. */
  readonly announcePort?: number
  /** Default: the best that is installed. */
  readonly provider?: WebTransportProvider
  /** One that browsers trust by themselves. Default: the one of `tls`, or one made here and handed to the page by hash. */
  readonly certificate?: Certificate
}

/** How WebRTC is served. */
export interface WebRtcServing {
  /** Default: the best that is installed. */
  readonly provider?: WebRtcProvider
  /** UDP ports to use, first and last. Default: any that are free. */
  readonly ports?: readonly [number, number]
  /** Numeric addresses players reach this machine at, where they are not its own. */
  readonly announce?: readonly string[]
}

/** How native UDP is served. */
export interface UdpServing {
  /** Default: the number after the HTTP port's. */
  readonly port?: number
}

/** Which transports, and how. */
export interface TransportOptions {
  readonly address?: string
  readonly tls?: Certificate
  readonly origins?: AllowedOrigins
  /** `false` turns it off. */
  readonly webtransport?: WebTransportServing | false
  /** `false` turns it off. */
  readonly webrtc?: WebRtcServing | false
  /** `false` turns it off. */
  readonly udp?: UdpServing | false
  /** Sockets and sessions of one transport at once. 4096 unless said. */
  readonly maxSockets?: number
}

/** What is open. */
export interface OpenTransports {
  readonly members: readonly BundleMember[]
  readonly info: Omit<ServerInfo, 'identity'>
  answer?(offer: string): Promise<string>
  /** From now on newcomers are shown this one, wherever `tls` was. */
  replaceCertificate(certificate: Certificate): void
  /** Lets go of what the ports do not own. */
  close(): Promise<void>
}

interface Opened {
  readonly member: BundleMember
  readonly told: Partial<ServerInfo>
  answer?(offer: string): Promise<string>
  replaceCertificate?(certificate: Certificate): void
  close(): Promise<void>
}

const MAX_SOCKETS = 4096
const RENEWAL_MS = 3_600_000

/** Opens what is asked for on `server`, which listens on `port` already. `warn` is told of what is missing. */
export async function openTransports(
  server: HttpServer | HttpsServer, port: number, options: TransportOptions, warn: (message: string) => void,
): Promise<OpenTransports> {
  const { origins = [], maxSockets = MAX_SOCKETS } = options
  const missing: Record<string, string> = {}
  const ports: Opened[] = []
  const address = options.address === undefined ? undefined : await numeric(options.address)
  const open = async (name: 'webtransport' | 'webrtc' | 'udp', start: () => Promise<Opened>): Promise<void> => {
    if (options[name] === false) {
      missing[name] = 'it is turned off on this server'
      return
    }
    try {
      ports.push(await start())
    } catch (error) {
      const isAskedFor = options[name] !== undefined
      if (isAskedFor) {
        for (const { member, close } of ports) {
          member.port.close()
          await close()
        }
        throw error
      }
      missing[name] = error instanceof Error ? error.message : String(error)
      warn(`${name} is not offered: ${missing[name]}`)
    }
  }
  await open('webtransport', () => openWebTransport(port, address, options, warn))
  await open('webrtc', () => openWebRtc(address, options))
  await open('udp', () => openNative(port, address, options))
  const webSocket = listenWebSocket({ server, path: MATCH_PATH, origins, maxSockets })
  const { answer } = ports.find((opened) => opened.answer !== undefined) ?? {}
  return {
    members: [{ prefix: 'ws:', port: webSocket }, ...ports.map(({ member }) => member)],
    get info() {
      return Object.assign({ websocket: { path: MATCH_PATH }, missing }, ...ports.map(({ told }) => told))
    },
    ...(answer !== undefined && { answer }),
    replaceCertificate: (certificate) => {
      for (const opened of ports) opened.replaceCertificate?.(certificate)
    },
    close: async () => void await Promise.all(ports.map(({ close }) => close())),
  }
}

async function openWebTransport(
  httpPort: number, address: string | undefined, options: TransportOptions, warn: (message: string) => void,
): Promise<Opened> {
  const { origins = [], maxSockets = MAX_SOCKETS, tls } = options
  const asked = options.webtransport === false ? {} : options.webtransport ?? {}
  const provider = asked.provider ?? fit('webtransport', findWebTransport())
  const trusted = asked.certificate ?? tls
  if (trusted !== undefined) checkCertificate(asked.certificate === undefined ? 'tls' : 'webtransport.certificate', trusted)
  const rotation = trusted === undefined ? new CertificateRotation(Date.now()) : undefined
  const port = new SessionPort('wt:', maxSockets)
  const listen = (number: number): ReturnType<WebTransportProvider['listen']> => provider.listen({
    port: number, ...(address !== undefined && { address }), path: MATCH_PATH, maxSessions: maxSockets,
    certificate: trusted ?? rotation?.current ?? { cert: '', key: '' },
    // The page's own host is that of the match, its port the one of HTTP.
    isAllowedOrigin: (origin, authority) => isAllowedOrigin(origin, [authority, `${hostOf(authority)}:${httpPort}`, hostOf(authority)], origins),
    onSession: (session) => port.adopt(session),
  })
  const listener = await listen(asked.port ?? httpPort).catch((error: unknown) => {
    if (asked.port !== undefined) throw error
    warn(`webtransport: UDP port ${httpPort} is taken, so it has another; a page with a content policy must allow it (connect-src)`)
    return listen(0)
  })
  const renewal = setInterval(() => {
    if (rotation?.renew(Date.now()) === true) listener.replaceCertificate(rotation.current)
  }, RENEWAL_MS)
  renewal.unref()
  return {
    member: { prefix: 'wt:', port },
    told: {
      get webtransport() {
        const hashes = rotation?.hashes.map((hash) => Buffer.from(hash).toString('base64')) ?? []
        return { port: asked.announcePort ?? listener.port, path: MATCH_PATH, hashes }
      },
    },
    ...(asked.certificate === undefined && tls !== undefined && {
      replaceCertificate: (certificate: Certificate) => listener.replaceCertificate(certificate),
    }),
    close: async () => {
      clearInterval(renewal)
      await listener.close()
    },
  }
}

async function openWebRtc(address: string | undefined, options: TransportOptions): Promise<Opened> {
  const asked = options.webrtc === false ? {} : options.webrtc ?? {}
  const provider = asked.provider ?? fit('webrtc', findWebRtc())
  const port = new SessionPort('rtc:', options.maxSockets ?? MAX_SOCKETS)
  const listener = provider.listen({
    ...(address !== undefined && { address }), ...(asked.ports !== undefined && { ports: asked.ports }),
    onSession: (session) => port.adopt(session),
  })
  return {
    member: { prefix: 'rtc:', port },
    told: { webrtc: { path: SIGNALLING_PATH } },
    answer: async (offer) => announce(await listener.answer(offer), asked.announce ?? []),
    close: () => listener.close(),
  }
}

async function openNative(httpPort: number, address: string | undefined, options: TransportOptions): Promise<Opened> {
  const asked = options.udp === false ? {} : options.udp ?? {}
  const open = (port: number): ReturnType<typeof openUdp> => openUdp({ port, ...(address !== undefined && { address }) })
  const port = await (asked.port === undefined ? open(Math.min(httpPort + 1, 65_535)).catch(() => open(0)) : open(asked.port))
  const number = Number(port.localAddress.slice(port.localAddress.lastIndexOf(':') + 1))
  return { member: { prefix: '', port }, told: { udp: { port: number } }, close: () => port.closed }
}

/** What was found, unless it is not for here. Strangers come to production. */
function fit<P extends WebTransportProvider | WebRtcProvider>(name: string, search: ProviderFound<P>): P {
  if ('missing' in search) throw new Error(search.missing)
  const { provider } = search
  if (!provider.isForProduction && process.env.NODE_ENV === 'production') {
    throw new ConfigError(name, `${provider.name} is not fit for production`, `Give \`${name}.provider\` to use it all the same.`)
  }
  return provider
}

async function numeric(address: string): Promise<string> {
  return isIP(address) === 0 ? (await lookup(address)).address : address
}

function hostOf(authority: string): string {
  return URL.canParse(`https://${authority}`) ? new URL(`https://${authority}`).hostname : authority
}
