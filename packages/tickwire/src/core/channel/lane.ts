/**
 * Lanes: which of the messages that wait goes first.
 *
 * A lane with a lower priority number is emptied first. Lanes of the same priority share what there is by weight: of
 * two that always have something, one of weight 2 sends twice the bytes of one of weight 1. A lane also bounds what
 * waits in it.
 *
 * Lanes are the sender's own business: nothing on the wire names them.
 */

import { ConfigError } from '../base/assert.ts'
import { LANE_BUFFER_BYTES_MAX } from '../base/limits.ts'

/** How a lane is served. */
export interface Lane {
  readonly name: string
  /** 0 is served first. */
  readonly priority: number
  /** Its share among lanes of its priority. */
  readonly weight: number
  /** Bytes that may wait in it. Beyond, reliable messages are refused as 'full'; unreliable ones drop their oldest. */
  readonly bufferBytes: number
}

/** The lanes that games begin with. Inputs ride before, and snapshots beside, those of priority 1, as sources of their own. */
export const LANES: Readonly<Record<'control' | 'orders' | 'state' | 'voice' | 'chat' | 'bulk', Lane>> = {
  control: { name: 'control', priority: 0, weight: 1, bufferBytes: 65_536 },
  orders: { name: 'orders', priority: 0, weight: 1, bufferBytes: 4096 },
  state: { name: 'state', priority: 1, weight: 6, bufferBytes: 16_384 },
  voice: { name: 'voice', priority: 1, weight: 2, bufferBytes: 16_384 },
  chat: { name: 'chat', priority: 1, weight: 1, bufferBytes: 8192 },
  bulk: { name: 'bulk', priority: 2, weight: 1, bufferBytes: 524_288 },
}

/** Throws `ConfigError` on a lane that cannot be. */
export function checkLane({ name, priority, weight, bufferBytes }: Lane): void {
  const path = `lane ${name}`
  if (!Number.isInteger(priority) || priority < 0 || priority > 255) {
    throw new ConfigError(`${path}.priority`, `is ${priority}`, 'Give a whole number from 0 (first) to 255.')
  }
  if (!Number.isInteger(weight) || weight < 1 || weight > 255) {
    throw new ConfigError(`${path}.weight`, `is ${weight}`, 'Give a whole number from 1 to 255.')
  }
  if (!Number.isInteger(bufferBytes) || bufferBytes < 1 || bufferBytes > LANE_BUFFER_BYTES_MAX) {
    throw new ConfigError(`${path}.bufferBytes`, `is ${bufferBytes}`, `Give a whole number from 1 to ${LANE_BUFFER_BYTES_MAX}.`)
  }
}
