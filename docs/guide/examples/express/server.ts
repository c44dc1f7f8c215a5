import express from 'express'
import { serve } from 'tickwire/node'
import { game } from '../first-game/game.ts'

const app = express()
app.use(express.json())
app.use(express.static('./public'))
app.get('/api/players', (_request, response) => {
  response.json({ players: serving.rooms.players })
})

const serving = await serve(game, { port: Number(process.env['PORT'] ?? 4000), handler: app })
console.log(`open ${serving.url}`)
