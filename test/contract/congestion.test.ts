import { DelayBasedController } from '../../packages/tickwire/src/core/delivery/congestion/delay-based.ts'
import { GoodBadController } from '../../packages/tickwire/src/core/delivery/congestion/good-bad.ts'
import { congestionContract } from './congestion.contract.ts'

// Two modes cannot settle between them: behind a narrow queue GOOD and BAD alternate, with more and more BAD.
congestionContract('[CC1, CC2, CC5, CC7, CC8] good-bad', (bounds) => new GoodBadController(bounds), {
  queueMsMean: 200,
  useMin: 0.1,
  fairnessMin: 0.3,
})
congestionContract('[CC1, CC2, CC5, CC7, CC8] delay-based', (bounds) => new DelayBasedController(bounds), {
  queueMsMean: 60,
  useMin: 0.8,
  fairnessMin: 0.5,
})
