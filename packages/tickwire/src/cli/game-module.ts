/**
 * Imports the module of a game, in JavaScript or TypeScript.
 *
 * Node reads TypeScript by itself from version 22.18 on. Before, `tsx` of the game's own project reads it, which is
 * there, because its server needs it too.
 */

import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Game } from '../core/game/define-game.ts'
import { UsageError } from './command.ts'

/** The `game` that a file exports. */
export async function importGame(file: string): Promise<Game> {
  const path = resolve(file)
  const module = (await importModule(path).catch((error: unknown) => {
    throw new UsageError(`--game ${file} cannot be imported: ${error instanceof Error ? error.message : String(error)}`)
  })) as { readonly game?: Game }
  if (!(module.game?.fingerprint instanceof Uint8Array))
    throw new UsageError(`--game ${file} exports no \`game\`. Fix: write export const game = defineGame({ … }).`)
  return module.game
}

async function importModule(path: string): Promise<unknown> {
  const { href } = pathToFileURL(path)
  try {
    return await import(href)
  } catch (error) {
    if ((error as { readonly code?: string }).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error
  }
  await readTypeScript(path)
  // Another address: Node remembers that it could not read the first one.
  return await import(`${href}?tsx`)
}

/** Loads `tsx`, as the project of this file has it. It then reads every further module. */
async function readTypeScript(path: string): Promise<void> {
  let loader: string
  try {
    loader = createRequire(path).resolve('tsx')
  } catch {
    throw new Error('this Node reads no TypeScript. Fix: npm install --save-dev tsx, or use Node 22.18 or later.')
  }
  await import(pathToFileURL(loader).href)
}
