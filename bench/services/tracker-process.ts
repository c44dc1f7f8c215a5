/** A tracker as `tickwire track` serves it, with Redis. `argv`: url of Redis. */

import { serveTracker } from '../../packages/services/src/index.ts'
import { report } from './report.ts'

const tracker = await serveTracker({
  port: 0, address: '127.0.0.1', publish: 'open', store: process.argv[2] ?? '', requestsPerMinute: 1e9,
  publishesPerMinute: 1e9, listingsPerOrigin: 1e9, heartbeatTtlMs: 600_000,
})
report(tracker.port)
