#!/usr/bin/env node
/**
 * `tickwire`: the engine's tools on the command line. One small file a command; `run.ts` lists them.
 */

import { systemEntropy } from '../node/entropy.ts'
import { startTickwire } from './run.ts'

// The reader of a pipe may close it early: `tickwire inspect match.twr | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await startTickwire(process.argv.slice(2), {
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
  nowSeconds: () => Math.floor(Date.now() / 1000),
  entropy: systemEntropy,
})
