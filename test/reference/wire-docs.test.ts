/**
 * Statements of docs/wire other than bytes, compared with the engine: the page for authors of clients, and single
 * sentences that once misled a reader.
 */

import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AckBlock } from '../../packages/tickwire/src/core/packet/ack-block.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { Control } from '../../packages/tickwire/src/core/connection/control.ts'
import { KeyRing } from '../../packages/tickwire/src/core/crypto/key-ring.ts'
import type { Role } from '../../packages/tickwire/src/core/crypto/key-schedule.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { Rekey } from '../../packages/tickwire/src/core/crypto/rekey.ts'
import { createSuite } from '../../packages/tickwire/src/core/crypto/suite.ts'
import { AckWindow } from '../../packages/tickwire/src/core/delivery/ack-window.ts'
import { EventCodec } from '../../packages/tickwire/src/core/game/event-codec.ts'
import { callsOf, OWN_CALLS } from '../../packages/tickwire/src/core/game/match-calls.ts'
import { channelOf } from '../../packages/tickwire/src/core/game/message-routes.ts'
import * as kinds from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { TablesSource } from '../../packages/tickwire/src/core/game/tables-source.ts'
import {
  GAME_PATH, INFO_PATH, MATCH_PATH, NAMES_HEADER, ROOMS_PATH, SIGNALLING_PATH,
} from '../../packages/tickwire/src/node/serve-routes.ts'
import { message, u8 } from 'tickwire'
import { serve } from 'tickwire/node'
import { game as hello } from '../../games/hello/game.ts'

const WIRE = new URL('../../docs/wire/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, WIRE), 'utf8')
const CLIENT = read('CLIENT.md')

test('[SERVE5] the page for client authors has the ports and paths of a default server', async () => {
  for (const path of [
    `GET ${INFO_PATH}`,
    `GET ${GAME_PATH}`,
    `GET ${ROOMS_PATH}`,
    `POST ${SIGNALLING_PATH}`,
    `ws://HOST:4000${MATCH_PATH}`,
    NAMES_HEADER,
  ])
    expect(CLIENT).toContain(`\`${path}\``)
  const serving = await serve(hello, {
    port: 0,
    address: '127.0.0.1',
    webrtc: false,
    webtransport: false,
    ops: false,
    log: () => {},
  })
  try {
    const info = await (await fetch(`${serving.url}${INFO_PATH}`)).json() as Record<string, Record<string, unknown>>
    for (const name of ['udp.port', 'websocket.path']) expect(CLIENT).toContain(`\`${name}\``)
    expect(info['websocket']).toEqual({ path: MATCH_PATH })
    expect(info['udp']!['port']).toBeTypeOf('number')
    expect(await (await fetch(`${serving.url}${GAME_PATH}`)).text()).toBe(hello.text)
  } finally {
    await serving.close()
  }
})

test('[TIDY14] every file that the page for writers of clients names exists', () => {
  for (const [, path = ''] of CLIENT.matchAll(/`(test\/[\w/.-]+)`/g))
    expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).toBe(true)
})

test('[ACK4] a packet that could not be used is never `latest`, as the example of the standard says', () => {
  const window = new AckWindow()
  const block = new AckBlock()
  const filled = (): readonly number[] => {
    window.fill(0, block)
    return [block.latest, block.lo & 1]
  }
  for (let sequence = 1; sequence <= 1042; sequence++) window.mark(0, sequence, true)
  // 1043 arrived, and could not be used: nothing is marked.
  expect(filled()).toEqual([1042, 1])
  window.mark(0, 1044, true)
  expect(filled()).toEqual([1044, 0])
  expect(read('STANDARD.md')).toMatch(
    /The next block still has latest 1042\. When 1044 was used, the block has latest 1044 and bit 0/,
  )
})

const suite = createSuite(1, pureProvider)

function side(role: Role, seed: number): { readonly control: Control; readonly ring: KeyRing } {
  const ring = new KeyRing(0, {
    provider: pureProvider,
    suite,
    role,
    secret: new Uint8Array(32).fill(5),
    transcript: new Uint8Array(32),
    rekey: { afterMs: 1000 },
  })
  const control = new Control()
  control.rekey = new Rekey(ring, pureProvider, { fill: (bytes) => bytes.fill(seed) })
  return { control, ring }
}

/** The body of the next frame. */
function frameOf({ control }: { readonly control: Control }, sequence: number): Uint8Array {
  const out = new BitWriter(new Uint8Array(100))
  expect(control.fill(0, sequence, out)).toBe(true)
  return out.bytes.slice(0, out.finish())
}

test('[CRYPTO15] when both sides offer keys, the client answers and its own offer is delivered', () => {
  const [client, server] = [side('client', 1), side('server', 2)]
  client.control.poll(1000)
  server.control.poll(1000)
  const [fromClient, fromServer] = [frameOf(client, 1), frameOf(server, 1)]
  expect(client.control.accept(1001, 1, new BitReader(fromServer))).toBe('ok')
  expect(server.control.accept(1001, 1, new BitReader(fromClient))).toBe('ok')
  expect([fromClient[1], fromClient[2], server.ring.newestEpoch, client.ring.newestEpoch]).toEqual([0, 1, 0, 1])
  client.control.onDelivered(1002, 1)
  const answer = frameOf(client, 2)
  expect([answer[1], answer[2]]).toEqual([1, 2])
  expect(server.control.accept(1003, 2, new BitReader(answer))).toBe('ok')
  expect([server.ring.newestEpoch, client.ring.newestEpoch]).toEqual([1, 1])
  expect(read('STANDARD.md')).toContain('is answered, with the next number')
})

test('[AUTH8, SPEC1] the built-in calls are numbered and delivered as STATE.md says', () => {
  const own = callsOf({ rpcs: [] })
  expect(own.map((rpc) => [rpc.args.name, rpc.target, channelOf(rpc)])).toEqual([
    ['AskAuthority', 'server', 0],
    ['Spectate', 'server', 0],
  ])
  expect(OWN_CALLS).toBe(2)
  const page = read('STATE.md')
  expect(page).toMatch(/\| m \+ c \| \*ask for authority\*[^|]*\| 0: it is `reliable`/)
  expect(page).toMatch(/\| m \+ c \+ 1 \| \*spectate\*[^|]*\| 0: it is `reliable`/)
  expect(page).toMatch(/\| m \+ c \+ 2 \| an event/)
})

test('[PRED6] an event has a number twice: its own, and after seven varints that of the message', () => {
  const [First, Second] = [message({ a: u8 }), message({ b: u8 })]
  const messages = [First, Second] as never
  const bytes = new EventCodec(messages, OWN_CALLS).encode({
    tick: 9,
    object: 1,
    ordinal: 2,
    birth: [3, 4, 5, 6],
    message: Second as never,
    values: { b: 77 },
  })
  expect([...bytes!]).toEqual([4, 9, 1, 2, 3, 4, 5, 6, 1, 77])
  expect(read('STATE.md')).toMatch(
    /a number stands in it twice: first m \+ c \+ 2, and after the seven varints the number\s+of the message/,
  )
})

test('[REPL23] a client that never acknowledges one piece of new tables is sent rows with the old', () => {
  let isHeld = false
  const source = new TablesSource(() => { isHeld = true })
  source.offer({ version: 1, bytes: new Uint8Array(1000) })
  const send = (sequence: number): boolean => source.fill(0, sequence, new BitWriter(new Uint8Array(600)))
  expect([send(1), send(2), send(3)]).toEqual([true, true, false])
  source.onDelivered(0, 1)
  for (let sequence = 2; sequence < 50; sequence++) {
    source.onLost(0, sequence)
    expect(send(sequence + 1)).toBe(true)
  }
  expect(isHeld).toBe(false)
  source.onDelivered(0, 50)
  expect(isHeld).toBe(true)
  expect(read('SNAPSHOTS.md')).toContain('**May a client decline tables?**')
})

test('[SCHEMA5] STATE.md says what a lane is, for every kind of leaf, and has as many as the engine', () => {
  const table = read('STATE.md').split('### Lanes')[1]!.split('\n\n')[2]!
  const lanes = (kind: string): string =>
    table
      .split('\n')
      .find((line) => line.split(' | ')[0]!.includes(kind))!
      .split(' | ')[1]!
  const fields = {
    bool: kinds.bool,
    int: kinds.u8,
    oneOf: kinds.oneOf('a', 'b'),
    fixed: kinds.fixed(0, 1, 0.1),
    angle: kinds.angle(),
    u16: kinds.u16,
    i32Word: kinds.i32Word,
    ref: kinds.ref(),
    f32: kinds.f32,
    quat: kinds.quat(),
    f64: kinds.f64,
    i64: kinds.i64,
    i64Word: kinds.i64Word,
    'long(': kinds.long(0n, 9n),
    text: kinds.text(9),
    fixedText: kinds.fixedText(9),
    bytes: kinds.bytes(9),
    list: kinds.list(u8, 2),
  }
  for (const [kind, it] of Object.entries(fields)) {
    const said = lanes(kind)
    const count = said.startsWith('four') ? 4 : said.startsWith('two') ? 2 : 1
    expect([kind, compileSchema('Thing', { it }).laneCount]).toEqual([kind, count])
  }
})

test('[SEC12] both pages say that a cookie is opaque to a client', () => {
  expect(read('STANDARD.md')).toContain('`cookie` means nothing to the client')
  expect(read('STATE-MACHINE.md')).toContain('The cookie is opaque')
})
