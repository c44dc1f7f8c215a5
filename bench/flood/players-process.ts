/** The players, in a separate process: `players-process.ts URL COUNT SECONDS`. Reports their statistics at the end. */

import { runLoad } from '../../packages/tickwire/src/node/load.ts'
import { floodGame } from './game.ts'

const [url = '', count, seconds] = process.argv.slice(2)
const report = await runLoad({
  url,
  game: floodGame(),
  players: Number(count),
  seconds: Number(seconds),
  weather: { latencyMs: 0, jitterMs: 0, loss: 0 },
  transport: 'udp',
  join: {},
  seed: 1,
  rampPerSecond: 50,
  opsUrl: undefined,
})
process.send?.(report, () => process.exit())
process.on('disconnect', () => process.exit())
