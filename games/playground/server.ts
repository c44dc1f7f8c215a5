/** Serves the playground. See `node server.ts --help`. */

import { showHelp } from '../command-line.ts'
import { HELP, readArguments } from './arguments.ts'
import { servePlayground } from './serve-playground.ts'

const settings = readArguments(process.argv.slice(2))
if (settings === 'help' || 'problem' in settings) {
  showHelp(HELP, settings)
} else {
  try {
    const { url } = await servePlayground(settings)
    console.log(`\n  Playground    ${url}\n\n  Eight labs, one idea of netcode each. Ctrl-C ends it.\n`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
