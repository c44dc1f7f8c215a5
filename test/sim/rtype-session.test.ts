import { describe, expect, test } from 'vitest'
import { RTYPE_UNACKED_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import type { RtypeHeader } from '../../packages/tickwire/src/core/rtype/header.ts'
import type { RtypePacket } from '../../packages/tickwire/src/core/rtype/packet-table.ts'
import { RTYPE } from '../../packages/tickwire/src/core/rtype/values.ts'
import { RtypeClient } from '../../packages/tickwire/src/core/rtype-session/client.ts'
import { Inbox, priorityOf } from '../../packages/tickwire/src/core/rtype-session/inbox.ts'
import { isNewer32, SerialWindow } from '../../packages/tickwire/src/core/rtype-session/serial-window.ts'
import { RtypeServer } from '../../packages/tickwire/src/core/rtype-session/server.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { readRtype } from '../reference/rtype-checker.ts'
import { A, B, CONNECT, RtypeStage as Stage } from './rtype-stage.ts'

const kinds = (stage: Stage): string[] => stage.events.filter(({ kind }) => kind !== 'input').map(({ kind }) => kind)
const level = (levelId: number): RtypePacket => (
  { type: 'LEVEL_START', levelId, levelName: 'The Drift', estimatedDurationS: 60 }
)

describe('R-Type sessions', () => {
  test('[RTSES1] a client connects, learns its id, the rate and the match, and plays', () => {
    const stage = new Stage({ tickRate: 30, gameInstanceId: 77, maxPlayers: 2 })
    const client = stage.add(A, 5, 'Ada')
    client.input = 0x11
    stage.run(300)
    expect(client.state).toBe('open')
    const [accept] = client.packets('SERVER_ACCEPT')
    expect(accept).toMatchObject({ max_players: 2, game_instance_id: 77, server_tickrate: 30 })
    expect(stage.peer).toMatchObject({ name: 'Ada', clientId: 5, playerId: client.playerId, address: A })
    expect(stage.events.at(-1)).toMatchObject({ kind: 'input', input: { inputState: 0x11, aimX: 1000 } })
    expect(client.rttMs).toBeGreaterThanOrEqual(40)
    expect(client.rttMs).toBeLessThan(60)
    client.leave(stage.now)
    stage.run(100)
    expect(kinds(stage)).toEqual(['join', 'leave'])
    expect(stage.events.at(-1)).toMatchObject({ reason: RTYPE.DISCONNECT.NORMAL })
    expect(client.packets('ACKNOWLEDGMENT')).toHaveLength(1)
    expect(stage.server.peers).toEqual([])
  })

  test('[RTSES2] each reject code is sent with a reason', () => {
    const { REJECT } = RTYPE
    const rejected = (stage: Stage, address: string, id: number, name: string = 'Eve'): number => {
      const client = stage.add(address, id, name)
      stage.run(1200)
      expect(client.state).toBe('rejected')
      const { reject_code: code, reason_message: text } = client.packets('SERVER_REJECT')[0]!
      expect(String(text)).toMatch(/\.$/)
      return Number(code)
    }
    const stage = new Stage({ maxPlayers: 1, isBanned: (clientId) => clientId === 13 })
    stage.add(A, 1)
    stage.run(200)
    expect(rejected(stage, B, 2)).toBe(REJECT.SERVER_FULL)
    expect(rejected(stage, '198.51.100.9:4001', 13)).toBe(REJECT.BANNED_CLIENT)
    expect(rejected(stage, '198.51.100.9:4002', 3, '')).toBe(REJECT.INVALID_PLAYER_NAME)
    expect(rejected(stage, '198.51.100.9:4003', 3, 'x'.repeat(32))).toBe(REJECT.INVALID_PLAYER_NAME)
    expect(rejected(stage, '198.51.100.9:4004', 3, 'a\u001b[2J')).toBe(REJECT.INVALID_PLAYER_NAME)
    stage.server.close(stage.now)
    expect(rejected(stage, '198.51.100.9:4005', 4)).toBe(REJECT.GENERIC_ERROR)
    const old = { ...CONNECT, fields: { ...CONNECT.fields, protocol_version: 2 } }
    for (let time = 0; time < 2; time++) stage.forge('198.51.100.9:4006', old)
    stage.run(8)
    expect(readRtype(stage.sent.at(-1)!.bytes).fields['reject_code']).toBe(REJECT.INCOMPATIBLE_PROTOCOL_VERSION)
  })

  test('[RTSES3] a client without a heartbeat is removed after 10 s with TIMEOUT, one with heartbeats stays', () => {
    const stage = new Stage()
    const [silent, alive] = [stage.add(A, 1), stage.add(B, 2)]
    stage.run(3000)
    silent.hasHeartbeat = false
    const from = stage.now
    stage.run(8400)
    expect(stage.server.peers).toHaveLength(2)
    stage.run(2200)
    expect(stage.now - from).toBeLessThan(11_000)
    expect(stage.server.peers.map(({ clientId }) => clientId)).toEqual([2])
    expect(silent.packets('CLIENT_DISCONNECT')).toEqual([{ client_id: 1, reason: RTYPE.DISCONNECT.TIMEOUT }])
    expect(alive.state).toBe('open')
  })

  test('[RTSES4] reliable packets all arrive once at 30 % loss, and are repeated every 250 ms at most', () => {
    const stage = new Stage()
    const client = stage.add(A, 1)
    stage.run(200)
    stage.loss = 0.3
    for (let id = 0; id < 200; id++) {
      stage.send(level(id % 250))
      stage.run(20)
    }
    stage.run(6000)
    expect(client.packets('LEVEL_START').map(({ level_id: id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 200 }, (_, id) => id),
    )
    const { resent, unacked } = stage.server.statsOf(stage.peer)
    expect(unacked).toBe(0)
    expect(resent).toBeGreaterThan(60)
    // One acknowledgement for each arrival: copies are acknowledged too.
    expect([...client.reliable.values()].some((count) => count > 1)).toBe(true)
  })

  test('[RTSES4] a client that acknowledges nothing is removed, and holds a bounded number of packets', () => {
    const stage = new Stage()
    const client = stage.add(A, 1)
    stage.run(200)
    client.doesAcknowledge = false
    const { peer } = stage
    for (let id = 0; id < RTYPE_UNACKED_MAX; id++) stage.send(level(id & 0xff), peer)
    expect(stage.server.statsOf(peer).unacked).toBe(RTYPE_UNACKED_MAX)
    stage.send(level(1), peer)
    expect(stage.server.peers).toEqual([])
    expect(stage.server.send(stage.now, peer, level(1))).toBe('closed')
  })

  test('[RTSES5] sequences are compared as serial numbers and copies are found within 1,024, across the wrap', () => {
    expect([isNewer32(1, 0xffff_ffff), isNewer32(0xffff_ffff, 1), isNewer32(5, 5)]).toEqual([true, false, false])
    const window = new SerialWindow()
    const first = 0xffff_ff00
    for (let at = 0; at < 2000; at += 2) {
      const sequence = (first + at) >>> 0
      expect(window.peek(sequence)).toBe('new')
      window.mark(sequence)
      expect(window.peek(sequence)).toBe('duplicate')
    }
    const newest = first + 1998
    expect(window.peek((newest - 1) >>> 0)).toBe('new')
    expect(window.peek((newest - 1022) >>> 0)).toBe('duplicate')
    expect(window.peek((newest - 1024) >>> 0)).toBe('old')
    const zero = new SerialWindow()
    expect(zero.peek(0)).toBe('new')
    zero.mark(0)
    expect([zero.peek(0), zero.peek(0xffff_ffff)]).toEqual(['duplicate', 'new'])
  })

  test('[RTSES6] packets with RELIABLE or PRIORITY and control packets go first, snapshots last', () => {
    const header = (code: number, flags: number = 0): RtypeHeader => ({ code, flags, sequence: 0, timestamp: 0 })
    expect([0x24, 0x42, 0x10, 0x60, 0x64, 0x01].map((code) => priorityOf(header(code)))).toEqual([2, 1, 1, 0, 0, 0])
    expect([priorityOf(header(0x24, 0x10)), priorityOf(header(0x40, 0x01))]).toEqual([0, 0])
    const inbox = new Inbox<string>()
    inbox.add(2, 'snapshot')
    inbox.add(1, 'event')
    inbox.add(1, 'event 2')
    inbox.add(0, 'spawn')
    expect([inbox.poll(), inbox.poll(), inbox.poll(), inbox.poll(), inbox.poll()]).toEqual([
      'spawn', 'event', 'event 2', 'snapshot', undefined,
    ])
    for (let count = 0; count < 300; count++) inbox.add(2, `${count}`)
    expect([inbox.poll(), inbox.dropped]).toEqual(['44', 44])
  })

  test('[RTSES6] inputs that arrive behind a newer one are dropped', () => {
    const stage = new Stage()
    const client = stage.add(A, 1)
    stage.run(200)
    stage.clients.delete(A)
    stage.run(60)
    stage.events.length = 0
    const input = (sequence: number, bits: number): void => stage.forge(A, {
      name: 'PLAYER_INPUT', sequence,
      fields: { player_id: client.playerId, input_state: bits, aim_direction_x: 0, aim_direction_y: 0 },
    })
    for (const [sequence, bits] of [[500, 1], [499, 2], [500, 4], [501, 8]] as const) input(sequence, bits)
    stage.run(8)
    const bits = stage.events.map((event) => (event.kind === 'input' ? event.input.inputState : 0))
    expect(bits.filter((each) => each !== 0)).toEqual([1, 8])
    expect(stage.server.drops.get('stale')).toBe(1)
    expect(stage.server.drops.get('copy')).toBe(1)
  })
})

describe('the R-Type door', () => {
  test('[RTDOOR1] a stranger never gets more bytes than were sent in its name, whatever it sends', () => {
    const stage = new Stage({ maxPlayers: 1 })
    stage.add(A, 1)
    stage.run(200)
    const sentBefore = stage.sent.length
    let bytesIn = 0
    let most = 0
    for (const [index, client_id] of [1, 2, 3, 4, 5, 6, 7, 8].entries()) {
      const forged = { ...CONNECT, fields: { ...CONNECT.fields, client_id, protocol_version: index % 2 } }
      stage.forge(B, forged)
      bytesIn += 49
      stage.run(8)
      const bytesOut = stage.sent.slice(sentBefore).filter(({ to }) => to === B)
        .reduce((sum, { bytes }) => sum + bytes.length, 0)
      most = Math.max(most, bytesOut / bytesIn)
    }
    expect(most).toBeLessThan(1)
    // Other packets of strangers are not answered at all.
    const count = stage.sent.length
    stage.forge(B, { name: 'PING', fields: { client_timestamp: 1, client_id: 2 } })
    stage.forge(B, { name: 'CLIENT_DISCONNECT', flags: 1, fields: { client_id: 2, reason: 0 } })
    stage.run(4)
    expect(stage.sent.slice(count).filter(({ to }) => to === B)).toEqual([])
    expect(stage.server.drops.get('stranger')).toBe(2)
  })

  test('[RTDOOR2] an accepted address gets nothing and holds no seat before it has shown its player id', () => {
    const stage = new Stage({ maxPlayers: 1 })
    stage.forge(B, CONNECT)
    stage.forge(B, { name: 'HEARTBEAT', fields: { player_id: 12_345 } })
    stage.run(2000)
    expect(stage.sent.filter(({ to }) => to === B)).toHaveLength(1)
    expect([stage.server.peers.length, stage.server.guests]).toEqual([0, 1])
    const client = stage.add(A, 1)
    stage.run(300)
    expect(client.state).toBe('open')
    expect(stage.server.peers).toHaveLength(1)
    stage.run(5000)
    expect(stage.server.guests).toBe(0)
  })

  test('[RTDOOR3] packets without the ids of a client do nothing to it: no end, no acknowledgement, no gap', () => {
    const stage = new Stage()
    const client = stage.add(A, 0x1234_5678)
    stage.run(200)
    for (let guess = 0; guess < 50; guess++) {
      const fields = { client_id: guess, reason: 0 }
      stage.forge(A, { name: 'CLIENT_DISCONNECT', flags: 1, sequence: 2 ** 31 - 1, fields })
      stage.forge(A, { name: 'HEARTBEAT', sequence: 2 ** 30 + guess, fields: { player_id: guess } })
      stage.forge(A, { ...CONNECT, sequence: guess })
    }
    stage.send(level(3))
    stage.run(2000)
    expect(client.state).toBe('open')
    expect(stage.server.peers).toHaveLength(1)
    expect(stage.server.drops.get('identity')).toBe(100)
    expect(client.packets('LEVEL_START')).toHaveLength(1)
    expect(client.packets('ACKNOWLEDGMENT')).toEqual([])
  })

  test('[RTDOOR4] one origin has limits: guests, seats and requests per second', () => {
    const stage = new Stage()
    for (let port = 1; port <= 200; port++) stage.forge(`203.0.113.5:${port}`, CONNECT)
    expect(stage.server.guests).toBe(4)
    expect(stage.server.drops.get('limited')).toBe(196)
    for (let host = 1; host <= 250; host++) stage.forge(`198.51.100.${host}:1`, CONNECT)
    expect(stage.server.guests).toBe(254)
    stage.run(200)
    const honest = stage.add(B, 9)
    stage.run(1500)
    expect(honest.state).toBe('open')
    const few = new Stage({ limits: { connections: 2 } })
    const clients = [1, 2, 3].map((id) => few.add(`203.0.113.5:${id}`, id))
    few.run(1000)
    expect(few.server.peers).toHaveLength(2)
    // It was accepted before the seats were taken, and a SERVER_REJECT would be longer than what it sent (RTDOOR1).
    expect(clients[2]!.packets('CLIENT_DISCONNECT')).toEqual([{ client_id: clients[2]!.clientId, reason: 2 }])
    expect(clients[2]!.state).toBe('ended')
  })

  test('[RTDOOR5] a client that floods loses its packets, and is removed at ten times the limit', () => {
    const stage = new Stage()
    const [flooder, other] = [stage.add(A, 1), stage.add(B, 2)]
    stage.run(200)
    const ping = { name: 'PING', fields: { client_timestamp: 1, client_id: 1 } } as const
    for (let count = 0; count < 2000; count++) stage.forge(A, { ...ping, sequence: 100 + count })
    expect(stage.server.drops.get('flood')).toBeGreaterThan(900)
    expect(stage.server.peers).toHaveLength(2)
    for (let count = 0; count < 9000; count++) stage.forge(A, { ...ping, sequence: 3000 + count })
    stage.run(300)
    expect(flooder.packets('CLIENT_DISCONNECT')).toEqual([{ client_id: 1, reason: RTYPE.DISCONNECT.CLIENT_ERROR }])
    expect([stage.server.peers.length, other.state]).toEqual([1, 'open'])
  })

  test('[RTSES7] a client that connects again from another address takes its own seat again', () => {
    const stage = new Stage({ maxPlayers: 1 })
    stage.add(A, 7)
    stage.run(300)
    const before = stage.peer
    stage.clients.delete(A)
    const again = stage.add(B, 7)
    stage.run(300)
    expect(again.state).toBe('open')
    expect(stage.server.peers.map(({ address }) => address)).toEqual([B])
    expect(stage.events.filter(({ kind }) => kind === 'join').at(-1)).toMatchObject({ replaces: before })
    expect(kinds(stage)).toEqual(['join', 'join'])
  })
})

describe('the client of the engine', () => {
  /** Runs a client and a server of the engine against each other. */
  function pair(ms: number, clientId: number = 3): { client: RtypeClient; server: RtypeServer; connects: number } {
    const server = new RtypeServer({}, new Dice(3))
    const client = new RtypeClient(0, { name: 'Bo', clientId })
    let connects = 0
    for (let now = 0; now < ms; now += 10) {
      client.drain(now, (bytes, length) => {
        if (bytes[2] === 1) connects++
        server.handleDatagram(now, A, bytes.slice(0, length), length)
      })
      while (server.poll() !== undefined) continue
      server.drain(now, (_, bytes, length) => client.handleDatagram(now, bytes, length))
    }
    return { client, server, connects }
  }

  test('[RTSES8] it connects, stays for longer than 10 s, measures the round trip and leaves', () => {
    const { client, server } = pair(15_000)
    expect([client.state, client.rttMs, server.peers.length]).toEqual(['open', 0, 1])
    server.send(15_000, server.peers[0]!, level(4))
    server.drain(15_000, (_, bytes, length) => client.handleDatagram(15_000, bytes, length))
    expect(client.poll()?.packet).toEqual(level(4))
    client.disconnect(15_000)
    client.drain(15_000, (bytes, length) => server.handleDatagram(15_000, A, bytes, length))
    expect(server.peers).toEqual([])
    server.drain(15_000, (_, bytes, length) => client.handleDatagram(15_000, bytes, length))
    client.drain(15_010, () => {})
    expect([client.state, client.endReason]).toEqual(['closed', RTYPE.DISCONNECT.NORMAL])
  })

  test('[RTSES8] it repeats its request every 500 ms for 10 s, and then gives up', () => {
    const client = new RtypeClient(0, { name: 'Bo', clientId: 3 })
    const at: number[] = []
    for (let now = 0; now <= 10_100; now += 10) client.drain(now, () => at.push(now))
    expect(at).toEqual(Array.from({ length: 20 }, (_, index) => index * 500))
    expect([client.state, client.endReason]).toEqual(['closed', RTYPE.DISCONNECT.TIMEOUT])
  })
})
