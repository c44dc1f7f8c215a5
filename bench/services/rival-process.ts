/** A plain list of games: Fastify and Redis, filtered and written as JSON for each request. `argv`: url of Redis. */

import { fastify } from 'fastify'
import { Redis } from 'ioredis'
import { report } from './report.ts'

const redis = new Redis(process.argv[2] ?? '')
const app = fastify()
app.get('/v1/listings', async () => {
  const all = Object.values(await redis.hgetall('listings')).map((text) => JSON.parse(text) as { game: string })
  return { listings: all.filter(({ game }) => game === 'arena').slice(0, 100) }
})
await app.listen({ port: 0, host: '127.0.0.1' })
report((app.server.address() as { port: number }).port)
