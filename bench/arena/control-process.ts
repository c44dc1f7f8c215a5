/** A loop of 128 empty ticks a second, in a separate process: ticks that it misses are caused by the machine. */

import { loop, TickMeter } from './tick-meter.ts'

let meter = new TickMeter()
loop((dueAt) => meter.begin(performance.now(), dueAt))
process.on('message', (command) => {
  if (command === 'measure') meter = new TickMeter()
  if (command === 'report') process.send?.(meter.result())
  if (command === 'end') process.exit(0)
})
process.send?.('in')

process.on('disconnect', () => process.exit(0))
