/**
 * Opens every transport that this machine can serve a game over, and reports why one is missing.
 *
 * A transport that was requested by name must open, or `serve` fails with the fix. One that is on by default may be
 * missing; then the log and the page say why. A package that is not installed is not a fault, but one entry of level
 * info.
 */

import { lookup } from 'node:dns/promises'
import type { Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import { isIP } from 'node:net'
import { ConfigError } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_MAX, PATHS_MAX, PATHS_PER_CONNECTION } from '../core/base/limits.ts'
import { ORIGIN_LIMITS, type OriginLimits } from '../core/endpoint/origin-limits.ts'
import { type Certificate, checkCertificate } from './certificate.ts'
import { CertificateRotation } from './certificate-rotation.ts'
import { type AllowedOrigins, isAllowedOrigin } from './page-origin.ts'
import type { BundleMember } from './port-bundle.ts'
import { findWebRtc, findWebTransport, type ProviderFound } from './providers-search.ts'
import type { WebRtcProvider, WebTransportProvider } from './providers.ts'
import { MATCH_PATH, type ServerInfo, SIGNALLING_PATH } from './serve-routes.ts'
import { SessionPort } from './session-port.ts'
import type { ServeLog } from './status-log.ts'
import { openUdp } from './udp.ts'
import { sanitizeOffer } from './webrtc-offer.ts'
import { announce } from './webrtc-session.ts'
import { listenWebSocket } from './websocket.ts'

/** How WebTransport is served. */
export interface WebTransportServing {
  /** The UDP port. Default: the number of the HTTP port, so that a page with a strict content policy can use it. */
  readonly port?: number
  /** The UDP port that players connect to, if a router or a container maps another one. Default: the port itself. */
  readonly announcePort?: number
  /** Default: the best installed provider. */
  readonly provider?: WebTransportProvider
  /** A certificate that browsers trust by themselves. Default: that of `tls`, or a self-signed one, used by hash. */
  readonly certificate?: Certificate
}

/** How WebRTC is served. */
export interface WebRtcServing {
  /** Default: the best installed provider. */
  readonly provider?: WebRtcProvider
  /** First and last UDP port to use. Default: any free ports. */
  readonly ports?: readonly [number, number]
  /**
   * Numeric addresses that players reach this machine at, if they are not its own. Default: the addresses of this
   * machine.
   */
  readonly announce?: readonly string[]
}

/** How native UDP is served. */
export interface UdpServing {
  /** Default: the HTTP port plus one. */
  readonly port?: number
}

/** Which transports, and how. */
export interface TransportOptions {
  /** The address to listen on. Default: all addresses of this machine. */
  readonly address?: string
  /**
   * The certificate of the page and of WebTransport. Default: plain HTTP, and generated certificates for WebTransport.
   */
  readonly tls?: Certificate
  /** Pages of these origins may join in addition to the one served here. Default: none. */
  readonly origins?: AllowedOrigins
  /** `false` turns it off. Default: on, if a provider is installed. */
  readonly webtransport?: WebTransportServing | false
  /** `false` turns it off. Default: on, if a provider is installed. */
  readonly webrtc?: WebRtcServing | false
  /** `false` turns it off. Default: on. */
  readonly udp?: UdpServing | false
  /** Most sockets or sessions of each transport at once. Default 4096. */
  readonly maxSockets?: number
  /**
   * Limits per origin. Per transport, an origin may have four sockets or sessions for each of its `connections`.
   * Default: 5 connections.
   */
  readonly limits?: Partial<OriginLimits>
  /**
   * Proxies in front of this server, by address or network: `['127.0.0.1', '10.0.0.0/8', 'fd00::/8']`. Their
   * `X-Forwarded-For` and their PROXY protocol (version 2, over TCP and UDP) are trusted, so that limits count clients
   * and not the proxy. Other addresses are not trusted. Default: none.
   */
  readonly trustedProxies?: readonly string[]
}

/** The transports that are open. */
export interface OpenTransports {
  readonly members: readonly BundleMember[]
  readonly info: Omit<ServerInfo, 'identity' | 'upMs'>
  answer?(offer: string, originIp: string): Promise<string>
  /** Shows new clients this certificate from now on, on every transport that uses `tls`. */
  replaceCertificate(certificate: Certificate): void
  /** Releases what the ports do not own. */
  close(): Promise<void>
}

interface Opened {
  readonly member: BundleMember
  readonly info: Partial<ServerInfo>
  answer?(offer: string, originIp: string): Promise<string>
  replaceCertificate?(certificate: Certificate): void
  close(): Promise<void>
}

/** UDP ports that are tried first, unless the options name others. */
export interface DefaultPorts {
  readonly webtransport: number
  readonly udp: number
}

const RENEWAL_MS = 3_600_000

/** Opens the requested transports on `server`, which already listens on `port`. `log` receives what is missing. */
export async function openTransports(
  server: HttpServer | HttpsServer, port: number, options: TransportOptions, log: ServeLog,
  defaults: DefaultPorts = { webtransport: port, udp: port + 1 },
): Promise<OpenTransports> {
  const { origins = [], maxSockets = PATHS_MAX } = options
  const missing: Record<string, string> = {}
  const ports: Opened[] = []
  const absent: string[] = []
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
      if (error instanceof NoProvider) absent.push(`${name}: ${missing[name]}`)
      else log({ level: 'warn', event: 'transport-missing', message: `${name} is not offered: ${missing[name]}` })
    }
  }
  await open('webtransport', () => openWebTransport(port, defaults.webtransport, address, options, log))
  await open('webrtc', () => openWebRtc(address, options))
  await open('udp', () => openNative(defaults.udp, address, options))
  if (absent.length > 0)
    log({ level: 'info', event: 'transport-missing', message: `not offered: ${absent.join('; ')}` })
  const { perOrigin, areLocalExempt } = pathLimits(options)
  const webSocket = listenWebSocket({
    server,
    path: MATCH_PATH,
    origins,
    maxSockets,
    maxSocketsPerOrigin: perOrigin,
    areLocalExempt,
  })
  const { answer } = ports.find((opened) => opened.answer !== undefined) ?? {}
  return {
    members: [{ prefix: 'ws:', port: webSocket }, ...ports.map(({ member }) => member)],
    get info() {
      return Object.assign({ websocket: { path: MATCH_PATH }, missing }, ...ports.map(({ info }) => info))
    },
    ...(answer !== undefined && { answer }),
    replaceCertificate: (certificate) => {
      for (const opened of ports) opened.replaceCertificate?.(certificate)
    },
    close: async () => void await Promise.all(ports.map(({ close }) => close())),
  }
}

async function openWebTransport(
  httpPort: number, first: number, address: string | undefined, options: TransportOptions,
  log: ServeLog,
): Promise<Opened> {
  const { origins = [], maxSockets = PATHS_MAX, tls } = options
  const { perOrigin, areLocalExempt } = pathLimits(options)
  const asked = options.webtransport === false ? {} : options.webtransport ?? {}
  const provider = asked.provider ?? fit('webtransport', findWebTransport())
  const trusted = asked.certificate ?? tls
  if (trusted !== undefined)
    checkCertificate(asked.certificate === undefined ? 'tls' : 'webtransport.certificate', trusted)
  const rotation = trusted === undefined ? new CertificateRotation(Date.now()) : undefined
  const port = new SessionPort('wt:', maxSockets, perOrigin, areLocalExempt)
  const listen = (number: number): ReturnType<WebTransportProvider['listen']> =>
    provider.listen({
      port: number,
      ...(address !== undefined && { address }),
      path: MATCH_PATH,
      maxSessions: maxSockets,
      areLocalExempt,
      certificate: trusted ?? rotation?.current ?? { cert: '', key: '' },
      // A page of this server has the host of the match and the port of HTTP.
      isAllowedOrigin: (origin, authority) =>
        isAllowedOrigin(origin, [authority, `${hostOf(authority)}:${httpPort}`, hostOf(authority)], origins),
      onSession: (session) => port.adopt(session),
    })
  const listener = await listen(asked.port ?? first).catch((error: unknown) => {
    if (asked.port !== undefined) throw error
    log({
      level: 'warn', event: 'transport-missing',
      message: `webtransport: UDP port ${first} is taken, another one is used. `
        + 'A page with a content policy must allow it (connect-src)',
    })
    return listen(0)
  })
  const renewal = setInterval(() => {
    if (rotation?.renew(Date.now()) === true) listener.replaceCertificate(rotation.current)
  }, RENEWAL_MS)
  renewal.unref()
  return {
    member: { prefix: 'wt:', port },
    info: {
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
  const { perOrigin, areLocalExempt } = pathLimits(options)
  const port = new SessionPort('rtc:', options.maxSockets ?? PATHS_MAX, perOrigin, areLocalExempt)
  const listener = provider.listen({
    areLocalExempt, ...(address !== undefined && { address }), ...(asked.ports !== undefined && { ports: asked.ports }),
    onSession: (session) => port.adopt(session),
  })
  return {
    member: { prefix: 'rtc:', port },
    info: { webrtc: { path: SIGNALLING_PATH } },
    answer: async (offer, originIp) =>
      announce(await listener.answer(sanitizeOffer(offer), originIp), asked.announce ?? []),
    close: () => listener.close(),
  }
}

async function openNative(first: number, address: string | undefined, options: TransportOptions): Promise<Opened> {
  const asked = options.udp === false ? {} : (options.udp ?? {})
  const open = (port: number): ReturnType<typeof openUdp> =>
    openUdp({
      port,
      maxDatagramBytes: DATAGRAM_BYTES_MAX,
      ...(address !== undefined && { address }),
      ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
    })
  const port = await (asked.port === undefined
    ? open(Math.min(first, 65_535)).catch(() => open(0))
    : open(asked.port))
  const number = Number(port.localAddress.slice(port.localAddress.lastIndexOf(':') + 1))
  return { member: { prefix: '', port }, info: { udp: { port: number } }, close: () => port.closed }
}

/** No installed package can do it. */
class NoProvider extends Error {}

/** The provider that was found, unless it is not fit for production, where clients are not trusted. */
function fit<P extends WebTransportProvider | WebRtcProvider>(name: string, search: ProviderFound<P>): P {
  if ('missing' in search) throw new NoProvider(search.missing)
  const { provider } = search
  if (!provider.isForProduction && process.env.NODE_ENV === 'production') {
    throw new ConfigError(
      name,
      `${provider.name} is not suitable for production`,
      `pass \`${name}.provider\` to use it anyway.`,
    )
  }
  return provider
}

function pathLimits({ limits = {} }: TransportOptions): {
  readonly perOrigin: number
  readonly areLocalExempt: boolean
} {
  const { connections, areLocalExempt } = { ...ORIGIN_LIMITS, ...limits }
  return { perOrigin: PATHS_PER_CONNECTION * connections, areLocalExempt }
}

async function numeric(address: string): Promise<string> {
  return isIP(address) === 0 ? (await lookup(address)).address : address
}

function hostOf(authority: string): string {
  return URL.canParse(`https://${authority}`) ? new URL(`https://${authority}`).hostname : authority
}
