/**
 * Hostile calls: bytes as a player may send them, into the line of an authority that has handlers of every kind.
 *
 * Accepted calls are written again in the same bytes; calls that are not allowed run no handler.
 */

import { UserCode } from '../../packages/tickwire/src/core/base/user-code.ts'
import { list, text, u16, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Rpc } from '../../packages/tickwire/src/core/rpc/rpc.ts'
import { RpcCodec, type RpcHead } from '../../packages/tickwire/src/core/rpc/rpc-codec.ts'
import { RpcHandlers } from '../../packages/tickwire/src/core/rpc/rpc-handlers.ts'
import { RpcLine } from '../../packages/tickwire/src/core/rpc/rpc-line.ts'
import type { FuzzTarget } from './target.ts'

const Buy = new Rpc({ item: u8, note: text(12) }, { to: 'server', reply: { gold: u16 }, name: 'Buy' })
const Steer = new Rpc({ at: list(u16, 4) }, { to: 'server', by: 'owner', name: 'Steer' })
const Shout = new Rpc({ text: text(20) }, { to: 'all', name: 'Shout' })
const RPCS: readonly Rpc[] = [Buy, Steer, Shout] as unknown as readonly Rpc[]
const FIRST = 5
const OWNED = 7
const OTHERS = 9
const PEER = 3
const TICK = 100

function seeds(): Uint8Array[] {
  const codec = new RpcCodec(RPCS, FIRST)
  const made: Uint8Array[] = []
  const say = (
    rpc: unknown,
    kind: RpcHead['kind'],
    object: number,
    call: number,
    values: Record<string, unknown>,
  ): void => {
    made.push(codec.encode({ rpc: rpc as Rpc, kind, tick: TICK, object, call }, values)!.slice())
  }
  say(Buy, 'ask', 0, 1, { item: 3, note: 'please' })
  say(Buy, 'answer', 0, 2, { gold: 500 })
  say(Steer, 'say', OWNED, 0, { at: [1, 2, 3] })
  say(Steer, 'say', OTHERS, 0, { at: [] })
  say(Shout, 'say', 0, 0, { text: 'all of you' })
  made.push(
    codec
      .encodeRefusal({ rpc: Buy as unknown as Rpc, kind: 'refusal', tick: TICK, object: 0, call: 4 }, 'busy')!
      .slice(),
  )
  return made
}

const bytesOf: FuzzTarget = {
  name: 'rpc-bytes',
  seeds,
  run(bytes) {
    const codec = new RpcCodec(RPCS, FIRST)
    const received = codec.decode(bytes, bytes.length)
    if (received === undefined) return
    const again =
      received.refusal === undefined
        ? codec.encode(received, received.values)
        : codec.encodeRefusal(received, received.refusal)
    if (again === undefined || Buffer.compare(again, bytes) !== 0) throw new Error('a call has two encodings')
  },
}

const line: FuzzTarget = {
  name: 'rpc-line',
  /** Input: calls, each behind its length in two bytes. */
  seeds: () => {
    const script = seeds().flatMap((bytes) => [bytes.length >> 8, bytes.length & 0xff, ...bytes])
    return [Uint8Array.from(script), Uint8Array.from([...script, ...script])]
  },
  run(bytes) {
    let ran = 0
    const handlers = new RpcHandlers<number>(new UserCode(() => {}))
    const note = (_values: unknown, context: { object: number }): { gold: number } => {
      if (context.object === OTHERS) throw new Error('a call about an object of another owner')
      ran++
      return { gold: 1 }
    }
    handlers.on(Buy, (values, context) => context.object === OTHERS ? { gold: values.item } : note(values, context))
    handlers.on(Steer, note as never)
    handlers.on(Shout, () => {
      throw new Error('a call that only the authority makes')
    })
    let faults = 0
    const guarded = new RpcHandlers<number>(new UserCode(() => faults++))
    guarded.run = (rpc, values, context, peer) => {
      const outcome = handlers.run(rpc, values, context, peer)
      if (!outcome.isOk && outcome.reason === 'failed') throw new Error('what is not allowed was run')
      return outcome
    }
    const host = {
      tick: TICK,
      isAuthority: true,
      ownerOf: (object: number) => (object === OWNED ? PEER : object === OTHERS ? PEER + 1 : -1),
    }
    const rpcLine = new RpcLine(0, PEER, new RpcCodec(RPCS, FIRST), guarded, host, () => 'queued')
    let asked = 0
    rpcLine.request(Buy as unknown as Rpc, { item: 1, note: '' }, 0, 1_000, () => asked++)
    for (let at = 0; at + 2 <= bytes.length;) {
      const length = (bytes[at]! << 8 | bytes[at + 1]!) % 64
      const call = bytes.subarray(at + 2, at + 2 + length)
      if (!rpcLine.accept(call, call.length)) break
      at += 2 + length
    }
    rpcLine.deliver(TICK)
    rpcLine.deliver(2 ** 53)
    rpcLine.expire(2_000)
    rpcLine.close()
    if (asked !== 1) throw new Error(`a request was settled ${asked} times`)
    if (ran > bytes.length || faults > 0) throw new Error('more calls ran than arrived')
  },
}


export const targets: readonly FuzzTarget[] = [bytesOf, line]
