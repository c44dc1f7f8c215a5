/** All labs, in the order in which they build on each other. */

import type { Lab } from './lab.ts'
import { authority } from './labs/authority.ts'
import { feelTheLag } from './labs/feel-the-lag.ts'
import { interest } from './labs/interest.ts'
import { interpolation } from './labs/interpolation.ts'
import { lagCompensation } from './labs/lag-compensation.ts'
import { packet } from './labs/packet.ts'
import { predictAndReconcile } from './labs/predict-and-reconcile.ts'
import { weather } from './labs/weather.ts'

export const LABS: readonly Lab[] = [
  feelTheLag,
  predictAndReconcile,
  interpolation,
  lagCompensation,
  interest,
  authority,
  weather,
  packet,
]
