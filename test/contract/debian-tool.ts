/** Programs of Debian for the tests of operations. `npm test` installs them where it may. */

import { spawnSync } from 'node:child_process'

/** The result of a program: whether it agreed, and all that it printed. */
export interface ToolAnswer {
  readonly isRight: boolean
  readonly text: string
}

/** Whether a test with these programs must run: they are there, or this is CI, where all of them must be. */
export function mustRun(...commands: readonly string[]): boolean {
  return process.env['CI'] !== undefined || commands.every((each) => spawnSync('which', [each]).status === 0)
}

/** Runs a program to its end. */
export function runTool(command: string, args: readonly string[], input?: string, cwd?: string): ToolAnswer {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8', timeout: 60_000, ...(input !== undefined && { input }), ...(cwd !== undefined && { cwd }),
  })
  return { isRight: status === 0, text: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}` }
}
