import { serve } from 'tickwire/node'
import { game } from './game.ts'

const host = await serve(game, { port: 4000, static: './public' })
console.log(`open ${host.url} in two tabs`)
