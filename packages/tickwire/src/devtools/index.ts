/**
 * The "./devtools" door: watching the network from inside a page. Importing it is enough: the key left of the 1 opens and closes
 * the overlay of the match that the page is in. A page that does not import it has nothing of it.
 */

import { listenForKey } from './page-key.ts'

export { Devtools, openDevtools, type DevtoolsOptions, type Weather } from './devtools.ts'
export { DEVTOOLS_KEY, devtoolsOf } from './page-key.ts'
export type { Mistake } from '../core/game/mistake-text.ts'
export type { LaneReading, Readings } from './readings.ts'
export type { FieldShare } from './received-bits.ts'
export { CLEAR, type LineWeather } from './weather-line.ts'

if (typeof document !== 'undefined') listenForKey()
