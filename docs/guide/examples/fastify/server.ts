import { fastify } from 'fastify'
import { serve } from 'tickwire/node'
import { game } from '../first-game/game.ts'

const app = fastify()
app.get('/api/players', () => ({ players: serving.rooms.players }))
await app.listen({ port: Number(process.env['PORT'] ?? 4000) })

const serving = await serve(game, { server: app.server })
console.log(`open ${serving.url}`)
