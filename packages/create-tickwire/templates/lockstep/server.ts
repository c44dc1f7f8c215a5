import { serveLockstep } from 'tickwire/node'
import { game } from './game.ts'

const host = await serveLockstep({ match: { game } }, { port: Number(process.env.PORT ?? 4000), static: './dist' })
console.log(`order relay at ${host.url}`)
