/**
 * Results of matches. A result is signed by the game server that had the match, is stored once under its id, and is
 * acknowledged only when it is in the records, so that an acknowledged result is never lost.
 */

import { bestProvider, resultBytes } from 'tickwire/node'
import { HttpRefusal, type Site } from '../http/site.ts'
import { isRecord, type Records } from '../store/records.ts'
import { checkSigned } from './routes.ts'
import { Refusal, Result, ResultAnswer, ResultsAsked } from './schemas.ts'

/** The kind of these records. */
const KIND = 'result'

/** What the routes work with. */
export interface ResultDesk {
  readonly records: Records
  readonly secret: string | undefined
}

/** Adds the routes. */
export function addResultRoutes(app: Site, desk: ResultDesk): void {
  const { records } = desk
  app.post('/results', {
    config: { rateLimit: false }, bodyLimit: 65_536,
    schema: { body: Result, response: { 200: ResultAnswer, '4xx': Refusal, '5xx': Refusal }, hide: true },
  }, async (request) => {
    checkSigned(desk, request)
    const { id, at, identity, signature, ...rest } = request.body
    const key = bestProvider().importVerifying(Uint8Array.from(Buffer.from(identity, 'hex')))
    if (!key.verify(resultBytes({ id, at, ...rest }), Uint8Array.from(Buffer.from(signature, 'hex'))))
      throw new HttpRefusal(400, 'signature', 'Not signed by this server.', 'Sign the bytes as they are sent.')
    const body = JSON.stringify({ ...rest, identity, signature })
    if (!isRecord(KIND, at, body))
      throw new HttpRefusal(413, 'too-large', 'The result is too large.', 'Report at most 32 KiB.')
    const added = await records.add(KIND, id, at, body)
    // A result that waits in memory is not acknowledged: its server keeps it, and sends it again.
    if (added === 'waiting') throw new HttpRefusal(503, 'waiting', 'The result is not stored yet.', 'Send it again.')
    if (added === 'failed') throw new HttpRefusal(503, 'failed', 'The result was not stored.', 'Send it again.')
    return { stored: added === 'stored' }
  })
  app.get('/results', {
    config: { rateLimit: false }, schema: { querystring: ResultsAsked, hide: true },
  }, async (request) => {
    checkSigned(desk, request)
    const { after = 0, limit = 100 } = request.query
    const page = await records.page(KIND, after, limit)
    if (page === 'unavailable') throw new HttpRefusal(503, 'store', 'The store does not answer.', 'Try again.')
    const results = page.records.map(({ number, id, at, body }) => ({ number, id, at, ...JSON.parse(body) as object }))
    return { results, next: page.next }
  })
}
