/**
 * Signalling: the messages by which two peers learn each other's candidates, and the contract of their carrier.
 *
 * ```
 * offer / answer   identity (64 hexadecimal digits), key (32), candidates, sdp (browsers)
 * candidate        candidates that were found later
 * reject           reason
 * mesh             player, players, secret (32 hexadecimal digits): from the host of a mesh, when all players are there
 * forward          player, signal: between two guests of a mesh, through their host
 * ```
 *
 * Messages are JSON text of at most SIGNAL_CHARS_MAX characters. They may be lost, repeated and reordered: an offer is
 * repeated until it is answered. They come from another player and are checked before use; unknown fields are dropped.
 *
 * One contract, five implementations:
 *
 * ```
 * memory       memory-signaling.ts    within one process
 * direct       line-signaling.ts      a Tickwire connection to a known address (node/signal-line.ts)
 * relay        line-signaling.ts      the same through a packet relay, to a known allocation
 * rendezvous   in the rendezvous client: one WebSocket to a server that knows the names of one session
 * WebRTC       any of these, with `sdp` in offer and answer, and ICE candidates as `candidate` messages
 * ```
 *
 * An implementation keeps received text in a `SignalBox` and calls `onArrival` when the box took it. It is added to
 * `test/contract/signaling.test.ts` as one more stage of `test/contract/signaling.contract.ts`. The messages of a
 * rendezvous itself (its relays, which member left) are not messages between peers, and belong to the rendezvous.
 */

import { MESH_PLAYERS_MAX, SIGNALS_WAITING_MAX, SIGNAL_CHARS_MAX } from '../base/limits.ts'
import { type Candidate, checkCandidates } from './candidates.ts'

/** How a peer can be reached, and its identity. */
export interface SignalOffer {
  /** The offer of a guest, or the answer to it. */
  readonly kind: 'offer' | 'answer'
  /** The peer's public identity key: 64 hexadecimal digits. */
  readonly identity: string
  /** The key of probes: 32 hexadecimal digits. The answer repeats that of the offer. */
  readonly key: string
  /** Where the peer may be reached. */
  readonly candidates: readonly Candidate[]
  /** A WebRTC description; undefined when there is none. */
  readonly sdp?: string
}

/** One message between two peers. */
export type Signal =
  | SignalOffer
  | { readonly kind: 'candidate'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'reject'; readonly reason: string }
  | SignalMesh
  | {
      readonly kind: 'forward'
      /** To the host: the player that gets it. From the host: the player that sent it. */
      readonly player: number
      readonly signal: Signal
    }

/** The place of a guest in a mesh. */
export interface SignalMesh {
  readonly kind: 'mesh'
  /** The number of the guest: 2 or 3. */
  readonly player: number
  /** How many players the mesh has. */
  readonly players: number
  /** What peers show to each other: 32 hexadecimal digits. */
  readonly secret: string
}

/** Carries messages to peers, by their names. */
export interface Signaling {
  /** Sends a message. It may be lost. */
  send(peer: string, signal: Signal): void
  /** The next message and its sender; undefined when there is none. */
  poll(): readonly [peer: string, signal: Signal] | undefined
  /** Called after a message arrived: `poll` has it. It must not throw. Default: nothing. */
  onArrival: () => void
  /** Ends it: nothing is sent or received from now on. */
  close(): void
}

const IDENTITY = /^[0-9a-f]{64}$/
const KEY = /^[0-9a-f]{32}$/
const REASON_CHARS_MAX = 200

/** A message as text. */
export function encodeSignal(signal: Signal): string {
  return JSON.stringify(signal)
}

/**
 * The message in a text; undefined when the text is not a message. Never throws. `isLoopbackAllowed`: for tests on one
 * machine.
 */
export function decodeSignal(text: string, isLoopbackAllowed: boolean = false): Signal | undefined {
  if (text.length > SIGNAL_CHARS_MAX) return undefined
  return check(parse(text), isLoopbackAllowed)
}

function check(value: unknown, isLoopbackAllowed: boolean): Signal | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, identity, key, candidates, sdp, reason } = value as { [name: string]: unknown }
  if (kind === 'mesh' || kind === 'forward') return checkMesh(value as { [name: string]: unknown }, isLoopbackAllowed)
  if (kind === 'reject')
    return typeof reason === 'string' ? { kind, reason: reason.slice(0, REASON_CHARS_MAX) } : undefined
  if (!Array.isArray(candidates)) return undefined
  const checked = checkCandidates(candidates, isLoopbackAllowed)
  if (kind === 'candidate') return { kind, candidates: checked }
  if (kind !== 'offer' && kind !== 'answer') return undefined
  if (typeof identity !== 'string' || typeof key !== 'string' || !IDENTITY.test(identity) || !KEY.test(key))
    return undefined
  if (sdp !== undefined && typeof sdp !== 'string') return undefined
  return { kind, identity, key, candidates: checked, ...(sdp !== undefined && { sdp }) }
}

/** What only a mesh has. A forwarded message is of one of the other kinds. */
function checkMesh(value: { readonly [name: string]: unknown }, isLoopbackAllowed: boolean): Signal | undefined {
  const { kind, player, players, secret, signal } = value
  if (!isPlayer(player)) return undefined
  if (kind === 'mesh') {
    const isValid = isPlayer(players) && player <= players && typeof secret === 'string' && KEY.test(secret)
    return isValid ? { kind, player, players, secret } : undefined
  }
  const inner = typeof signal === 'object' && signal !== null && !('signal' in signal)
    ? check(signal, isLoopbackAllowed) : undefined
  return inner === undefined ? undefined : { kind: 'forward', player, signal: inner }
}

function isPlayer(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MESH_PLAYERS_MAX
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A message box of limited size, in which every implementation keeps received messages. */
export class SignalBox {
  /** Messages that were dropped: invalid, or too many. */
  dropped: number = 0
  #waiting: (readonly [string, Signal])[] = []

  /** Takes a received text. False when it was dropped. */
  put(peer: string, text: string, isLoopbackAllowed: boolean = false): boolean {
    const signal = decodeSignal(text, isLoopbackAllowed)
    if (signal === undefined || this.#waiting.length >= SIGNALS_WAITING_MAX) {
      this.dropped++
      return false
    }
    this.#waiting.push([peer, signal])
    return true
  }

  /** The next message and its sender; undefined when there is none. */
  poll(): readonly [string, Signal] | undefined {
    return this.#waiting.shift()
  }

  /** Drops everything that waits. */
  clear(): void {
    this.#waiting = []
  }
}
