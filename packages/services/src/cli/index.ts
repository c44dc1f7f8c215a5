#!/usr/bin/env node
/**
 * `npx @tickwire/services relay`: the services without the other commands of `tickwire`.
 */

import { runService } from './run.ts'

process.exitCode = await runService(process.argv.slice(2), {
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
})
