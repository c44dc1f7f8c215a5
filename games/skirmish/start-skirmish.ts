/**
 * Serves skirmish from a command line: the page, and two order relays, so that a button of the page can kill the first
 * one (serve-group.ts). With `--fog` the server steps the matches itself (serve-fog.ts).
 */

import { showHelp } from '../command-line.ts'
import { HELP, readArguments } from './arguments.ts'
import { serveFog } from './serve-fog.ts'
import { serveGroup } from './serve-group.ts'

const FOG_NOTE = 'This server steps the matches: a page receives what its team sees.'

export async function startSkirmish(args: string[]): Promise<void> {
  const settings = readArguments(args)
  if (settings === 'help' || 'problem' in settings) return showHelp(HELP, settings)
  try {
    const { url, note } = settings.fog
      ? { url: `${(await serveFog(settings)).url}/?fog`, note: FOG_NOTE } : await serveGroup(settings)
    console.log(`Skirmish, for up to eight players in each match; bots take the other seats\n\n`
      + `  ${url}\n\n${note === '' ? '' : `${note}\n\n`}Ctrl-C ends it.`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
