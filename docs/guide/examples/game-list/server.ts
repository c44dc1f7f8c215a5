// #region server
import { serve } from 'tickwire/node'
import { game } from './game.ts'

const tracker = process.env['TRACKER'] ?? 'http://localhost:8080'
const serving = await serve(game, {
  port: Number(process.env['PORT'] ?? 4000), static: 'public', maxPlayers: 8, origins: 'any',
  publish: { trackers: [tracker], game: 'walkers', name: 'Friday evening', region: 'eu-central' },
})
console.log(`walk at ${serving.url}`)
// #endregion
