/**
 * Runs a program of Node in the foreground, and takes it along when we are told to end.
 */

import { spawn } from 'node:child_process'

/** Where and how it runs; output goes where ours goes. */
export interface ChildOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

/** Runs `node args...` and resolves to whether it ended well. */
export async function runNode(args: readonly string[], { cwd, env = process.env }: ChildOptions): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'inherit' })
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
