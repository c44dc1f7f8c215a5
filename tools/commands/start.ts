/**
 * `npm start`: runs the best playable thing that exists, or the game it is given by name.
 */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildPage } from '../page.ts'

/** Best first. A game is a folder of games/ whose server.ts serves its public folder and prints where to find it. */
const GAMES: readonly { readonly name: string; readonly what: string; readonly isPlain?: boolean }[] = [
  { name: 'arena', what: 'a first-person arena with bots, for friends and phones; --help says more' },
  {
    name: 'playground',
    what: 'eight labs of one idea each: lag, prediction, lag compensation and the rest; --help says more',
  },
  { name: 'skirmish', what: 'a real-time strategy game over lockstep, with bots in the empty seats; --help says more' },
  { name: 'shmup', what: 'a co-op shooter with three bosses, in browsers and for R-Type clients; --help says more' },
  {
    name: 'hello',
    what: 'squares that walk: the smallest game there is, in two tabs; it takes no arguments',
    isPlain: true,
  },
]

const HELP = `
npm start -- [game] [arguments for the game]      Serves a game and prints its address.

${GAMES.map(({ name, what }) => `  ${name.padEnd(12)}${what}`).join('\n')}

Without a name the first of these runs. Ctrl-C ends it.`

const [first, ...rest] = process.argv.slice(2)
const named = GAMES.find((game) => game.name === first)
const game = named ?? GAMES.find(({ name }) => existsSync(serverOf(name)))

if (first === '--help' || first === '-h') {
  console.log(HELP.trim())
} else if (game === undefined || !existsSync(serverOf(game.name))) {
  console.error(`There is nothing to play yet: ${pathOf((game ?? GAMES[0])?.name ?? '')} does not exist.`)
  process.exitCode = 1
} else if (first !== undefined && named === undefined && !first.startsWith('-')) {
  console.error(`There is no game ${JSON.stringify(first)}.\n\n${HELP.trim()}`)
  process.exitCode = 2
} else if (game.isPlain === true && rest.length > 0) {
  const isAsked = rest.includes('--help') || rest.includes('-h')
  console[isAsked ? 'log' : 'error'](`${game.name} takes no arguments: its settings are in ${pathOf(game.name)}.`)
  process.exitCode = isAsked ? 0 : 2
} else {
  // The server gets the same command line as if it were started by hand.
  process.argv = [process.execPath, serverOf(game.name), ...(named === undefined ? process.argv.slice(2) : rest)]
  process.chdir(dirname(serverOf(game.name)))
  await buildPage(process.cwd())
  await import(pathToFileURL(serverOf(game.name)).href)
}

function serverOf(name: string): string {
  return fileURLToPath(new URL(`../../${pathOf(name)}`, import.meta.url))
}

/** Relative to the root of the repository: the same on every machine. */
function pathOf(name: string): string {
  return `games/${name}/server.ts`
}
