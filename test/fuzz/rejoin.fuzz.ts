/** Hostile bytes to parts of a lockstep match that keep state: the relay's desk for images and its pulses, a client. */

import { LockstepClient } from 'tickwire/lockstep'
import { nobleHashes } from '../../packages/tickwire/src/core/crypto/noble-hashes.ts'
import { decodeSync, encodeSync } from '../../packages/tickwire/src/core/order/sync-messages.ts'
import { TickBodyWriter } from '../../packages/tickwire/src/core/order/tick-body.ts'
import { TickLog } from '../../packages/tickwire/src/core/order/tick-log.ts'
import { PulseTable } from '../../packages/tickwire/src/core/order-relay/pulse-table.ts'
import { RejoinDesk } from '../../packages/tickwire/src/core/order-relay/rejoin-desk.ts'
import { RelayState } from '../../packages/tickwire/src/core/order-relay/relay-state.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { game } from '../sim/lockstep-game.ts'
import desync from '../vectors/desync.json' with { type: 'json' }
import packets from '../vectors/packet.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'

const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const TICKS = 60
const PEERS = [1, 2, 3]
/** What a desk may have for its clients: an image, and the ticks of a short match. */
const TAKEN_BYTES_MAX = 1 << 18

function someTicks(): TickLog {
  const log = new TickLog()
  const body = new TickBodyWriter()
  for (let tick = 1; tick <= TICKS; tick++) {
    body.begin()
    body.end()
    log.append(body.bytes, body.length)
  }
  return log
}

const desk: FuzzTarget = {
  name: 'rejoin-desk',
  /** Input: messages, each after a byte for its sender and its length in two bytes. */
  seeds: () => {
    const all = desync.messages.map(({ bytes }) => unhex(bytes)).filter(({ length }) => length < 500)
    const script = (peer: number): Uint8Array =>
      Uint8Array.from(all.flatMap((each) => [peer, each.length >> 8, each.length & 0xff, ...each]))
    return [script(0), script(1), ...all.map((each) => Uint8Array.of(2, each.length >> 8, each.length & 0xff, ...each))]
  },
  run(bytes) {
    const own = new RejoinDesk({
      log: someTicks(), sha256: (each) => nobleHashes.sha256(each), firstTicks: 0,
      players: () => PEERS.map((peer) => ({ peer, rttMs: 10 * peer, executed: TICKS - peer })),
      newestFor: () => TICKS, waitingBytes: () => 0,
    })
    let taken = 0
    let at = 0
    for (let now = 0; at + 3 <= bytes.length; now += 500) {
      const length = Math.min((bytes[at + 1]! << 8) | bytes[at + 2]!, bytes.length - at - 3)
      const message = decodeSync(bytes.subarray(at + 3, at + 3 + length))
      if (message !== undefined) own.handleMessage(now, PEERS[bytes[at]! % PEERS.length]!, message)
      at += 3 + length
      own.tick(now)
      for (const { message: sent } of own.take()) taken += encodeSync(sent).length
      own.takeDropped(now)
    }
    if (taken > TAKEN_BYTES_MAX + 100 * bytes.length) throw new Error(`${taken} bytes for ${bytes.length}`)
  },
}

const PLAYERS = 8

const pulses: FuzzTarget = {
  name: 'pulse-table',
  /** Input: reports of three bytes each: player and tick, then the pulse. */
  seeds: () => [
    Uint8Array.of(0x08, 0, 1, 0x09, 0, 1, 0x0a, 0, 2, 0x0b, 0, 1), Uint8Array.of(0x10, 0, 1, 0x11, 0, 2),
    Uint8Array.of(0x08, 0, 1, 0x18, 0, 1, 0x09, 0, 3, 0x08, 0, 2),
  ],
  run(bytes) {
    const table = new PulseTable(new RelayState(PLAYERS), PLAYERS)
    const reported = new Map<number, number>()
    for (let at = 0; at + 3 <= bytes.length; at += 3) {
      const [slot, tick] = [bytes[at]! % PLAYERS, bytes[at]! >> 3]
      const known = (reported.get(tick) ?? 0) | (1 << slot)
      reported.set(tick, known)
      const different = table.note(tick, slot, (bytes[at + 1]! << 8) | bytes[at + 2]!, () => PLAYERS - 1)
      if ((different & ~known) !== 0) throw new Error('a player that has not reported differs')
    }
  },
}

const client: FuzzTarget = {
  name: 'lockstep-client',
  seeds: () => packets.packets.map(({ bytes }) => unhex(bytes)),
  run(bytes) {
    const own = new LockstepClient(game, { entropy: new Dice(4), security: { provider: new StubCrypto() } })
    own.connect(0, 'relay')
    let sent = 0
    for (let now = 0; now < 300; now += 100) {
      for (const from of ['relay', 'stranger']) own.handleDatagram(now, from, bytes.slice(), bytes.length)
      own.tick(now)
      own.drain(now, { send: (to) => { if (to === 'relay') sent++ } })
    }
    if (own.runner !== undefined) throw new Error('a stranger has started the match')
    if (sent > 100) throw new Error(`${sent} datagrams`)
  },
}

export const targets: readonly FuzzTarget[] = [desk, pulses, client]
