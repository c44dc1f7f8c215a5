import { serve } from 'tickwire/node'
import { makeWilds } from './game.ts'

const host = await serve(makeWilds(Number(process.env.ANIMALS ?? 20_000)), { port: Number(process.env.PORT ?? 4000) })
console.log(`game server at ${host.url}`)
