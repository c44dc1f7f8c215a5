import { serveLockstep } from 'tickwire/node'
import { game } from './game.ts'

const port = Number(process.env.PORT ?? 9090)
const serving = await serveLockstep({ match: { game } }, { port, static: './public' })
console.log(`open ${serving.url} in two tabs`)
