/**
 * Send queues: which of the waiting messages is sent first.
 *
 * A queue with a lower priority number is emptied first. Queues of the same priority share the bandwidth by weight: of
 * two queues that always have data, a queue of weight 2 sends twice the bytes of a queue of weight 1. A queue also
 * limits the bytes that wait in it.
 *
 * Send queues exist only on the sender: nothing on the wire names them.
 */

import { ConfigError } from '../base/assert.ts'
import { SEND_QUEUE_BYTES_MAX } from '../base/limits.ts'

/** How a queue is served. */
export interface SendQueue {
  /** The name in errors and reports. */
  readonly name: string
  /** 0 is served first. */
  readonly priority: number
  /** Its share among queues of its priority. */
  readonly weight: number
  /** Bytes that may wait in it. Beyond, reliable messages are refused as 'full'; unreliable ones drop their oldest. */
  readonly bufferBytes: number
}

/**
 * The default queues. Inputs are sent before the queues of priority 1 and snapshots beside them. Both are sources of
 * their own.
 */
export const SEND_QUEUES: Readonly<Record<'control' | 'orders' | 'state' | 'voice' | 'chat' | 'bulk', SendQueue>> = {
  control: { name: 'control', priority: 0, weight: 1, bufferBytes: 65_536 },
  orders: { name: 'orders', priority: 0, weight: 1, bufferBytes: 4096 },
  state: { name: 'state', priority: 1, weight: 6, bufferBytes: 16_384 },
  voice: { name: 'voice', priority: 1, weight: 2, bufferBytes: 16_384 },
  chat: { name: 'chat', priority: 1, weight: 1, bufferBytes: 8192 },
  bulk: { name: 'bulk', priority: 2, weight: 1, bufferBytes: 524_288 },
}

/** Throws `ConfigError` on an invalid queue. */
export function checkSendQueue({ name, priority, weight, bufferBytes }: SendQueue): void {
  const path = `queue ${name}`
  if (!Number.isInteger(priority) || priority < 0 || priority > 255) {
    throw new ConfigError(
      `${path}.priority`,
      `invalid priority (expected an integer from 0 to 255, got ${priority})`,
      'give 0 for the first, 255 for the last.',
    )
  }
  if (!Number.isInteger(weight) || weight < 1 || weight > 255) {
    throw new ConfigError(
      `${path}.weight`,
      `invalid weight (expected an integer from 1 to 255, got ${weight})`,
      'give its share among channels of the same priority.',
    )
  }
  if (!Number.isInteger(bufferBytes) || bufferBytes < 1 || bufferBytes > SEND_QUEUE_BYTES_MAX) {
    throw new ConfigError(
      `${path}.bufferBytes`,
      `invalid size (expected an integer from 1 to ${SEND_QUEUE_BYTES_MAX}, got ${bufferBytes})`,
      'give a number of bytes in this range.',
    )
  }
}
