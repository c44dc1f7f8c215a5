/**
 * Type-checks the whole repository: one `tsc -b` over tsconfig.json, which references the engine's projects.
 */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runNode } from './child.ts'

/** The repository's root folder. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url))

/** The compiler's own entry, so that no shell and no PATH stand between. */
export function compilerPath(): string {
  return join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
}

/** Prints what the compiler has to say; true when that is nothing. */
export async function typecheck(): Promise<boolean> {
  return await runNode([compilerPath(), '-b'], { cwd: ROOT })
}
