/** Requests and sockets for a rendezvous, on Node. */

import { WebSocket } from 'ws'
import { SIGNAL_CHARS_MAX } from '../core/base/limits.ts'
import type { RendezvousMachine } from '../core/client/rendezvous.ts'
import { textMachine } from '../core/client/text-machine.ts'
import { nodePlatform } from './node-platform.ts'

/** A message of signalling is JSON in JSON. */
const SOCKET_BYTES_MAX = 8 * SIGNAL_CHARS_MAX

export const nodeRendezvous: RendezvousMachine = textMachine({
  fetch: (url, init, ms) => fetch(url, { ...init, signal: AbortSignal.timeout(ms) }),
  openSocket: (url) => new WebSocket(url, { maxPayload: SOCKET_BYTES_MAX }),
  now: nodePlatform.now,
  later: nodePlatform.later,
})
