/**
 * `tickwire train`: tables for the entropy codec, trained on a recorded match.
 */

import { parseArgs } from 'node:util'
import { PRIORS_VERSION_MAX } from '../core/codec/priors.ts'
import { readGameText } from '../core/replay/game-text.ts'
import { trainRecording } from '../core/replay/train-recording.ts'
import { UsageError, type Command } from './command.ts'
import { writeFileOption } from './file-option.ts'
import { openRecordingOption, readCountOption, sizeText } from './recording-option.ts'

const OPTIONS = {
  out: { type: 'string', short: 'o' },
  version: { type: 'string' },
} as const

/** Trains on a recording. */
export const train: Command = {
  summary: 'learn codec tables from a recorded match, for entropy(priors)',
  help: `
tickwire train FILE -o PRIORS [--version N]

Plays a recording and counts how fields change. The result is JSON for defineGame({ codec: entropy(priors) }). Both
sides must have the same priors; the handshake checks it. Measure the savings on another match: tickwire bandwidth
OTHER --priors PRIORS.

  -o, --out FILE   where to write the priors
  --version N      version of these priors, 1 or more. Default: 1

Progress goes to standard error. Exit code: 0; 1 when the recording is too short to learn from.`,
  run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    if (values.out === undefined) throw new UsageError('-o is missing. Fix: give a file, such as -o priors.json.')
    const version = readCountOption('--version', values.version, 1, 1, PRIORS_VERSION_MAX)
    const { recording, path, close } = openRecordingOption(positionals)
    try {
      const game = readGameText(recording.head.text, recording.head.names)
      if (typeof game === 'string')
        throw new UsageError(
          `${path}: cannot be trained on without its game (${game}). Fix: call trainRecording with the game.`,
        )
      const { priors, rows } = trainRecording(recording, game, version, ({ name, at, of, pass, passes }) =>
        world.complain(`${name} (${at} of ${of}): pass ${pass} of ${passes}`))
      const learnt = Object.keys(priors)
      for (const [name, count] of Object.entries(rows)) {
        world.print(
          `${name}: ${count} rows${learnt.includes(name) ? '' : ', too few to learn from: built-in tables are used'}`,
        )
      }
      if (learnt.length === 0) {
        world.complain(`${path}: too few changes to learn from. Fix: record a minute of play.`)
        return 1
      }
      const text = JSON.stringify(priors)
      writeFileOption('--out', values.out, `${text}\n`)
      world.print(`${values.out}: ${sizeText(text.length + 1)}, version ${version}`)
      return 0
    } finally {
      close()
    }
  },
}
