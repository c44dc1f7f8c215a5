/**
 * A rate that never changes: for tests, for loopback, and for paths whose capacity is known by contract.
 *
 * It does not react to anything: over the open Internet it is a bad neighbour.
 */

import { ConfigError } from '../../base/assert.ts'
import type { CongestionController } from './controller.ts'

/** Always the same rate. */
export class FixedController implements CongestionController {
  readonly bytesPerSecond: number

  constructor(bytesPerSecond: number) {
    if (!(bytesPerSecond > 0)) throw new ConfigError('congestion', `${bytesPerSecond} bytes a second`, 'Give a rate above 0.')
    this.bytesPerSecond = bytesPerSecond
  }

  onSent(): void {}
  onRtt(): void {}
  onAcked(): void {}
  onLost(): void {}
  reset(): void {}
}
