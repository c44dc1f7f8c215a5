/**
 * Replays the recorded inputs of a client (`client-trace.ts`) into a new client, offline: no network, clock or
 * randomness.
 */

import type { Millis } from '../base/time.ts'
import { SUITE } from '../crypto/provider.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { createClientEndpoint } from '../endpoint/endpoint.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import { ClientHost, createClientHost } from './client-host.ts'
import type { ClientHostOptions, ClientParts } from './client-host-options.ts'
import { sharedAuthority } from './client-authority.ts'
import type { TraceEntry } from './client-trace.ts'
import type { Game } from './define-game.ts'
import { callsOf } from './match-calls.ts'

/** The options of the original client, except what the trace itself contains. */
export interface ReplayOptions extends Omit<ClientHostOptions, 'entropy' | 'trace'> {
  /**
   * The client ran in a page: it accepts no connections, and offers only ChaCha20 unless `security` says otherwise.
   * Default: false.
   */
  readonly isPage?: boolean
}

const PAGE_PARTS: ClientParts = {
  createEndpoint: ({ security, ...config }) => createClientEndpoint({
    ...config, security: { provider: pureProvider, suites: [SUITE.chacha20Poly1305], ...security },
  }),
  createAuthority: sharedAuthority,
}

const NOWHERE = { send: (): void => {} }

/**
 * Replays a trace into a new client, up to its end or to a time. `options` are those of the original client. Throws
 * when the client asks for something else than the trace contains, which means a different game or build.
 */
export function replayTrace<I extends Shape>(
  game: Game<I>,
  entries: readonly TraceEntry[],
  { isPage = false, ...options }: ReplayOptions = {},
  until: Millis = Infinity,
): ClientHost<I> {
  let at = 0
  /** The next entry of something that the client itself asks for, in the order of the trace. */
  const next = <K extends TraceEntry['kind']>(kind: K): TraceEntry & { kind: K } => {
    const entry = entries[at++]
    if (entry?.kind !== kind)
      throw new RangeError(
        `the trace goes on with ${entry?.kind ?? 'nothing'} where this client asks for ${kind}: it is of another build`,
      )
    return entry as TraceEntry & { kind: K }
  }
  const made: ClientHostOptions = { ...options, entropy: { fill: (bytes) => bytes.set(next('entropy').bytes) } }
  const host = isPage ? new ClientHost(game, made, PAGE_PARTS) : createClientHost(game, made)
  host.sampleInput = () => next('input').values as never
  while (at < entries.length) {
    const entry = entries[at++]
    if ('now' in entry && entry.now !== undefined && entry.now > until) break
    perform(host as unknown as ClientHost<Shape>, entry)
  }
  return host
}

function perform(host: ClientHost<Shape>, entry: TraceEntry): void {
  switch (entry.kind) {
    case 'connect': host.connect(entry.now, entry.to, entry.pass, entry.join); break
    // A copy, because the bytes are decrypted in place and the trace may be replayed again.
    case 'datagram':
      host.handleDatagram(entry.now, entry.from, entry.bytes.slice(), entry.bytes.length)
      break
    case 'path-closed':
      host.handlePathClosed(entry.from)
      break
    case 'tick':
      host.tick(entry.now)
      break
    case 'draw':
      host.draw(entry.now)
      break
    case 'drain':
      host.drain(entry.now, NOWHERE)
      break
    case 'close':
      host.close(entry.now)
      break
    case 'send':
      host.send(host.game.messages[entry.message] as Message, entry.values as never)
      break
    case 'call':
      replayCall(host, entry)
      break
    case 'entropy':
    case 'input':
      throw new RangeError(`the trace has ${entry.kind} where this client asks for nothing: it is of another build`)
    default:
      entry satisfies never
  }
}

function replayCall(
  host: ClientHost<Shape>,
  { rpc, values, about, now, timeoutMs }: TraceEntry & { kind: 'call' },
): void {
  const options = about === 0 ? {} : { about: { id: about } }
  const call = callsOf(host.game)[rpc]
  if (now === undefined) host.call(call, values as never, options)
  else void host.request(call, values as never, { ...options, ...(timeoutMs !== undefined && { timeoutMs }) })
}
