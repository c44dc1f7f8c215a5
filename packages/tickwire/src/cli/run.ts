/**
 * Finds the requested command, runs it, and turns its errors into one sentence and an exit code.
 */

import { ConfigError } from '../core/base/assert.ts'
import { bandwidth } from './bandwidth.ts'
import { bisect } from './bisect.ts'
import { UsageError, type AsyncCommand, type Command, type CommandWorld } from './command.ts'
import { conformance } from './conformance.ts'
import { doctor } from './doctor.ts'
import { inspect } from './inspect.ts'
import { lint } from './lint.ts'
import { load } from './load.ts'
import { replayLog } from './replay-log.ts'
import { rtype } from './rtype.ts'
import { SERVICE_SUMMARIES, startService } from './services.ts'
import { tokenInspect } from './token-inspect.ts'
import { tokenIssue } from './token-issue.ts'
import { tokenKeys } from './token-keys.ts'
import { train } from './train.ts'
import { verify } from './verify.ts'
import { packageVersion } from './version.ts'

/** Commands, keyed by the words that name them. */
const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['inspect', inspect],
  ['bandwidth', bandwidth],
  ['train', train],
  ['token keys', tokenKeys],
  ['token issue', tokenIssue],
  ['token inspect', tokenInspect],
])

/** Commands that wait for the network. */
const ASYNC_COMMANDS: ReadonlyMap<string, AsyncCommand> = new Map([
  ['verify', verify],
  ['replay-log', replayLog],
  ['bisect', bisect],
  ['lint', lint],
  ['load', load],
  ['doctor', doctor],
  ['conformance', conformance],
  ['rtype', rtype],
])

/** Runs the command in `args`, asynchronous ones too. Returns the exit code. */
export async function startTickwire(args: readonly string[], world: CommandWorld): Promise<number> {
  const [name = '', ...rest] = args
  if (SERVICE_SUMMARIES.has(name)) return await startService(args, world)
  // The page's code is loaded only when it is asked for.
  const command = isPage(name, rest) ? (await import('./inspect-page.ts')).inspectPage : ASYNC_COMMANDS.get(name)
  if (command === undefined) return runTickwire(args, world)
  if (rest.includes('--help') || rest.includes('-h')) {
    world.print(command.help.trim())
    return 0
  }
  try {
    return await command.run(rest, world)
  } catch (error) {
    return complain(name, error, world)
  }
}

/** Runs the command in `args`. Returns the exit code. */
export function runTickwire(args: readonly string[], world: CommandWorld): number {
  const name = [...COMMANDS.keys()].find((words) => words.split(' ').every((word, index) => args[index] === word))
  const command = name === undefined ? undefined : COMMANDS.get(name)
  if (name === undefined || command === undefined) return overview(args, world)
  const rest = args.slice(name.split(' ').length)
  if (rest.includes('--help') || rest.includes('-h')) {
    world.print(command.help.trim())
    return 0
  }
  try {
    return command.run(rest, world)
  } catch (error) {
    return complain(name, error, world)
  }
}

function complain(name: string, error: unknown, world: CommandWorld): number {
  if (!isMistake(error)) throw error
  world.complain(`tickwire ${name}: ${error.message}`)
  world.complain(`tickwire ${name} --help says more.`)
  return 2
}

function overview(args: readonly string[], world: CommandWorld): number {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
    world.print(packageVersion())
    return 0
  }
  const group = args[0]?.startsWith('-') === false ? args[0] : undefined
  const all = [...COMMANDS, ...ASYNC_COMMANDS].map(([words, { summary }]) => [words, summary] as const)
  const listed = [...all, ...SERVICE_SUMMARIES].filter(
    ([words]) => group === undefined || words.startsWith(`${group} `),
  )
  const isHelp =
    args.length === 0
    || args.includes('--help')
    || args.includes('-h')
    || (args.length === 1 && group !== undefined && listed.length > 0)
  if (!isHelp || listed.length === 0) {
    world.complain(`tickwire: unknown command "${args.join(' ')}". Fix: tickwire --help lists all commands.`)
    return 2
  }
  world.print('tickwire COMMAND [options]      Each command has its own --help; --version prints the version.\n')
  for (const [words, summary] of listed) world.print(`  tickwire ${words.padEnd(16)}${summary}`)
  return 0
}

/** Whether the error is a mistake of the user, and not a bug. */
function isMistake(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof ConfigError) return true
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

/** Whether a recording is to be served as a page, which runs until it is ended. */
function isPage(name: string, rest: readonly string[]): boolean {
  return (
    name === 'inspect'
    && (rest.includes('--page') || rest.includes('--open'))
    && !rest.includes('--help')
    && !rest.includes('-h')
  )
}
