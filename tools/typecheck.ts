/**
 * Type-checks the whole repository: one `tsc -b` over tsconfig.json, which references the engine's projects.
 */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runNode } from './child.ts'

/** The repository's root folder. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url))

/** The entry file of the compiler, so that no shell and no PATH is needed. */
export function compilerPath(): string {
  return join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
}

/** Prints the output of the compiler. True when there is none. */
export async function typecheck(): Promise<boolean> {
  return await runNode([compilerPath(), '-b'], { cwd: ROOT })
}
