/** Code that must not compile: replies of calls. The same on a server, on a client host and in a page. */

import type { ClientHost } from '../game/client-host.ts'
import type { Match } from '../game/match.ts'
import { rpc } from '../rpc/rpc.ts'
import { oneOf, struct, u8 } from '../schema/field-kinds.ts'
import type { Room } from './room.ts'

const Ask = rpc({ n: u8 }, { to: 'server', reply: { verdict: oneOf('no', 'yes') }, name: 'Ask' })
const Look = rpc({}, { to: 'all', reply: { seen: struct({ kind: oneOf('a', 'b'), n: u8 }) }, name: 'Look' })
const Tell = rpc({}, { to: 'server', name: 'Tell' })

declare const match: Match
declare const host: ClientHost
declare const room: Room

match.handle(Ask, () => ({ verdict: 'yes' }))
match.handle(Ask, ({ n }, { from }) => {
  if (n > 3 || from.id > 3) return { verdict: 'yes' }
  const verdict = 'no' as 'no' | 'yes'
  return { verdict }
})
match.handle(Tell, () => {})
host.handle(Look, () => ({ seen: { kind: 'a', n: 3 } }))
room.handle(Look, () => ({ seen: { kind: 'b', n: 3 } }))

// @ts-expect-error: the reply has no such value
match.handle(Ask, () => ({ verdict: 'maybe' }))
// @ts-expect-error: a value of the reply is missing
match.handle(Ask, () => ({}))
// @ts-expect-error: the reply has no such value
host.handle(Look, () => ({ seen: { kind: 'c', n: 3 } }))
// @ts-expect-error: a value of the reply is missing
room.handle(Look, () => ({ seen: { kind: 'a' } }))
