/**
 * The "./devtools" entry point: watching the network from inside a page. Importing it is enough: the key left of the 1
 * opens and closes the overlay of the page's match. A page that does not import it contains none of it.
 */

import { listenForKey } from './page-key.ts'

export { Devtools, openDevtools, type DevtoolsOptions, type Weather } from './devtools.ts'
export { devtoolsOf } from './page-key.ts'
export type { TrafficReading, Readings } from './readings.ts'
export type { FieldShare } from './received-bits.ts'
export type { LineWeather } from './weather-line.ts'
export { WeatherWire } from './weather-wire.ts'

if (typeof document !== 'undefined') listenForKey()
