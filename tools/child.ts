/**
 * Runs a Node program in the foreground, and ends it when this process is ended.
 */

import { spawn } from 'node:child_process'

/** The folder and the environment of the program, whether its output is shown, and another Node to run it. */
export interface ChildOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  readonly isQuiet?: boolean
  readonly program?: string
}

/** Runs `node args...` and resolves to whether its exit code is 0. */
export async function runNode(args: readonly string[], options: ChildOptions): Promise<boolean> {
  const { cwd, env = process.env, isQuiet = false, program = process.execPath } = options
  const child = spawn(program, args, { cwd, env, stdio: isQuiet ? 'ignore' : 'inherit' })
  const end = (): void => {
    child.kill()
    process.exit(143)
  }
  process.once('SIGTERM', end)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => resolve(code === 0))
    })
  } finally {
    process.off('SIGTERM', end)
  }
}
