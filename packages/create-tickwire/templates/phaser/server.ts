import { serve } from 'tickwire/node'
import { game } from './game.ts'

const host = await serve(game, { port: Number(process.env.PORT ?? 4000), static: './dist' })
console.log(`game server at ${host.url}`)
