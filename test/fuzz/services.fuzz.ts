/** Hostile input for services: bodies of HTTP requests, by the schemas that the routes check them with. */

import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import { chooseServers, chooseTargets } from '../../packages/services/src/fleet/choose-server.ts'
import type { GameServer } from '../../packages/services/src/fleet/game-servers.ts'
import { skillWindow } from '../../packages/services/src/fleet/propose.ts'
import {
  Claim, MoveWanted, Result, SeatsWanted, ServerReport, TicketWanted,
} from '../../packages/services/src/fleet/schemas.ts'
import { Join, NewSession, ResumedSession } from '../../packages/services/src/rendezvous/schemas.ts'
import { isRecord } from '../../packages/services/src/store/records.ts'
import { NewListing, Reach, Renewal } from '../../packages/services/src/track/schemas.ts'
import { readListing } from '../../packages/tickwire/src/core/listing/listing.ts'
import { resultBytes } from '../../packages/tickwire/src/node/fleet-results.ts'
import vectors from '../vectors/listing.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'

const SCHEMAS = {
  Claim, MoveWanted, Result, SeatsWanted, ServerReport, TicketWanted, Join, NewSession, ResumedSession, NewListing,
  Reach, Renewal,
}
type Name = keyof typeof SCHEMAS
type Check = (value: unknown) => { readonly value?: unknown; readonly error?: unknown }

// reason: the compiler is typed for a route of Fastify, and reads only the schema.
const compile = TypeBoxValidatorCompiler as unknown as (route: { readonly schema: unknown }) => Check
const CHECKS = Object.entries(SCHEMAS).map(([name, schema]) => [name as Name, compile({ schema })] as const)

const HEX32 = 'ab'.repeat(16)
const HEX64 = 'cd'.repeat(32)
const FINGERPRINT = '0123456789abcdef'
const SERVER = {
  identity: HEX64, port: 4000, isSecure: false, region: 'eu', version: '1.10.2', seats: 100, players: 3, maxRooms: 10,
  audience: 'game', isDraining: false, report: 1, types: [{ name: 'duel', fingerprint: FINGERPRINT, capacity: 2 }],
  rooms: [{
    id: 'ABCDEFGH', number: 1, type: 'duel', players: 1, capacity: 2, spectators: 0, metadata: { map: 'a' },
    isLocked: false, hasPassword: false,
  }],
}
const BODIES: readonly unknown[] = [
  SERVER, { id: HEX32, fingerprint: FINGERPRINT, deadlineMs: 2000, type: 'duel', filter: { map: 'a' }, party: 2 },
  { from: HEX32, type: 'duel', fingerprint: FINGERPRINT, players: 2 }, { move: HEX32, server: HEX32 },
  { id: HEX32, game: 'duel', room: 'ABCDEFGH', at: 1, text: '{}', identity: HEX64, signature: HEX64 + HEX64 },
  { id: HEX32, fingerprint: FINGERPRINT, waitMs: 2000, skill: 12.5, party: 1, attributes: { mode: 'x' } },
  { code: 'IRON-7K3M' }, { fingerprint: FINGERPRINT, identity: HEX64, capacity: 4 },
  { fingerprint: FINGERPRINT, identity: HEX64, capacity: 4, session: HEX32, code: 'IRON-7K3M', key: 'A'.repeat(16),
    secret: HEX64 },
  { listing: vectors.good[0]?.listing }, { lease: HEX32 }, { port: 4000, identity: HEX64 },
  { __proto__: 1, constructor: { prototype: 1 } }, [[[[[[]]]]]], null, 1e999,
]
const LIST = [{ id: HEX32, url: 'http://a', ...SERVER }] as unknown as readonly GameServer[]
const propose = skillWindow()

/** What the routes do with a body that the schema accepts. None of it may throw. */
function use(name: Name, value: never): void {
  const wish = { count: 1, isSpectator: false, isNew: false, ...value as object }
  if (name === 'SeatsWanted') chooseServers(LIST, wish as never)
  else if (name === 'MoveWanted') chooseTargets(LIST, value)
  else if (name === 'ServerReport') chooseServers([value], { ...BODIES[1] as object, count: 1 } as never)
  else if (name === 'NewListing') readListing((value as { listing: unknown }).listing)
  else if (name === 'Result') {
    resultBytes(value)
    isRecord('result', (value as { at: number }).at, JSON.stringify(value))
  } else if (name === 'TicketWanted') {
    const ticket = { type: 'duel', skill: 0, party: 1, attributes: {}, waitedMs: 100, ...value as object }
    propose([ticket, { ...ticket, id: HEX32 }] as never, 2)
  }
}

const bodies: FuzzTarget = {
  name: 'http-bodies',
  seeds: () => BODIES.map((body) => new TextEncoder().encode(JSON.stringify(body))),
  run(bytes) {
    let value: unknown
    try {
      value = JSON.parse(new TextDecoder().decode(bytes))
    } catch {
      return
    }
    for (const [name, check] of CHECKS) if (check(value).error === undefined) use(name, value as never)
    if (({} as { constructor: unknown }).constructor !== Object) throw new Error('a body changed the prototype')
  },
}

export const targets: readonly FuzzTarget[] = [bodies]
