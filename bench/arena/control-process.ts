/** A loop of 128 empty ticks a second, in a process of its own: what it misses, the machine took. */

import { loop, TickMeter } from './tick-meter.ts'

let meter = new TickMeter()
loop((dueAt) => meter.begin(performance.now(), dueAt))
process.on('message', (told) => {
  if (told === 'measure') meter = new TickMeter()
  if (told === 'report') process.send?.(meter.result())
  if (told === 'end') process.exit(0)
})
process.send?.('in')

process.on('disconnect', () => process.exit(0))
