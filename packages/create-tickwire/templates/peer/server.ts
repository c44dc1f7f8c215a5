import { serveAll } from '@tickwire/services'

// Runs no game. It introduces players by codes, and relays packets where routers let no direct path through.
const serving = await serveAll({ port: Number(process.env.PORT ?? 4000), relayPort: 0, static: './dist' })
console.log(`codes and relay at ${serving.url}`)
