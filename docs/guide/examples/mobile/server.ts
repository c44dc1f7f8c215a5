import { serve } from 'tickwire/node'
import { game } from './game.ts'

const host = await serve(game, { port: Number(process.env.PORT ?? 4000), static: './public' })
console.log(`open ${host.url}, also on a phone in this network`)
