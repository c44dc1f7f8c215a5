/**
 * A rate that never changes: for tests, for loopback, and for paths whose capacity is known by contract.
 *
 * It does not react to congestion, so it must not be used over the open Internet.
 */

import { ConfigError } from '../../base/assert.ts'
import type { CongestionController } from './controller.ts'

/** Always the same rate. */
export class FixedController implements CongestionController {
  readonly bytesPerSecond: number

  constructor(bytesPerSecond: number) {
    if (!(bytesPerSecond > 0))
      throw new ConfigError(
        'congestion',
        `invalid rate (expected above 0, got ${bytesPerSecond} bytes a second)`,
        'give a rate above 0.',
      )
    this.bytesPerSecond = bytesPerSecond
  }

  onSent(): void {}
  onRtt(): void {}
  onAcked(): void {}
  onLost(): void {}
  reset(): void {}
}
