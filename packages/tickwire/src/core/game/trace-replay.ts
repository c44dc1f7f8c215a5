/** Plays what was handed to a client (`client-trace.ts`) into a fresh one, offline: no network, no clock, no chance. */

import type { Millis } from '../base/time.ts'
import { SUITE } from '../crypto/provider.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { createClientEndpoint } from '../endpoint/endpoint.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import { ClientHost, createClientHost, type ClientHostOptions, type ClientParts } from './client-host.ts'
import { sharedAuthority } from './client-authority.ts'
import type { TraceEntry } from './client-trace.ts'
import type { Game } from './define-game.ts'
import { callsOf } from './match-calls.ts'

/** What the client was made with, beside what a trace brings itself. */
export interface ReplayOptions extends Omit<ClientHostOptions, 'entropy' | 'trace'> {
  /** It was a page: it has nobody at its door, and offers ChaCha20 alone unless `security` says otherwise. */
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
 * Plays a trace into a fresh client, up to its end or to a time. `options` are those of the first one. Throws when the client asks for other things than were handed to it: another game, or another build.
 */
export function replayTrace<I extends Shape>(
  game: Game<I>, entries: readonly TraceEntry[], { isPage = false, ...options }: ReplayOptions = {}, until: Millis = Infinity,
): ClientHost<I> {
  let at = 0
  /** Entries of what the client itself asks for, in the order of the trace. */
  const next = <K extends TraceEntry['kind']>(kind: K): TraceEntry & { kind: K } => {
    const entry = entries[at++]
    if (entry?.kind !== kind) throw new RangeError(`the trace goes on with ${entry?.kind ?? 'nothing'} where this client asks for ${kind}: it is of another build`)
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
    // The bytes are opened in place, and the trace may be played again.
    case 'datagram': host.handleDatagram(entry.now, entry.from, entry.bytes.slice(), entry.bytes.length); break
    case 'path-closed': host.handlePathClosed(entry.from); break
    case 'tick': host.tick(entry.now); break
    case 'draw': host.draw(entry.now); break
    case 'drain': host.drain(entry.now, NOWHERE); break
    case 'close': host.close(entry.now); break
    case 'send': host.send(host.game.messages[entry.message] as Message, entry.values as never); break
    case 'call': replayCall(host, entry); break
    case 'entropy': case 'input': throw new RangeError(`the trace has ${entry.kind} where this client asks for nothing: it is of another build`)
    default: entry satisfies never
  }
}

function replayCall(host: ClientHost<Shape>, { rpc, values, about, now, timeoutMs }: TraceEntry & { kind: 'call' }): void {
  const options = about === 0 ? {} : { about: { id: about } }
  const call = callsOf(host.game)[rpc]
  if (now === undefined) host.call(call, values as never, options)
  else void host.request(now, call, values as never, { ...options, ...(timeoutMs !== undefined && { timeoutMs }) })
}
