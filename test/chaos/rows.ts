/** All rows of the chaos table. */

import type { ChaosRow } from './chaos-row.ts'
import { FLEET_ROWS } from './rows-fleet.ts'
import { NIGHT_ROWS } from './rows-night.ts'
import { ROLLING_ROWS } from './rows-rolling.ts'
import { SERVICE_ROWS } from './rows-services.ts'
import { STORE_ROWS } from './rows-store.ts'

export const ROWS: readonly ChaosRow[] = [...FLEET_ROWS, ...STORE_ROWS, ...SERVICE_ROWS, ...ROLLING_ROWS, ...NIGHT_ROWS]
