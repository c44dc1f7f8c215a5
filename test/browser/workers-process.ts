/** A server with two workers for pages. Its argument is the folder of the page. */

import { serveRooms } from 'tickwire/node'
import { game } from '../browser-pages/match-page.ts'

const serving = await serveRooms(
  { walk: { game, capacity: 2, resumeMs: 120_000 } },
  { port: 0, static: process.argv[2] ?? '.', workers: 2, log: () => {} },
)
console.log(`at ${serving.url} .`)
setInterval(() => console.log(`players ${serving.workers.map(({ players }) => players).join(' ')}.`), 200)
