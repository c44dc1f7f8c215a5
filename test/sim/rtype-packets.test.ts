/** What a session does with the headers of its packets: it numbers them, times them, and drops what is wrong. */

import { expect, test } from 'vitest'
import { RTYPE } from '../../packages/tickwire/src/core/rtype/values.ts'
import { RtypeClient } from '../../packages/tickwire/src/core/rtype-session/client.ts'
import { RtypeServer } from '../../packages/tickwire/src/core/rtype-session/server.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { readRtype, writeRtype } from '../reference/rtype-checker.ts'
import { A, B, RtypeStage } from './rtype-stage.ts'

test('[RTSES5] each sender counts its packets one by one, and its time begins at 0 with the accept', () => {
  const stage = new RtypeStage()
  const client = stage.add(A, 1)
  for (let levelId = 1; levelId <= 10; levelId++) {
    stage.run(300)
    stage.send({ type: 'LEVEL_START', levelId, levelName: 'The Drift', estimatedDurationS: 60 })
  }
  stage.run(100)
  expect(client.state).toBe('open')
  const headers = stage.sent.filter(({ to }) => to === A).map(({ bytes }) => readRtype(bytes))
  const [accept, ...others] = headers
  expect([accept!.name, accept!.timestamp]).toEqual(['SERVER_ACCEPT', 0])
  expect(others.length).toBeGreaterThan(10)
  // One by one, and no number twice: nothing was lost, so nothing was repeated.
  expect(headers.map(({ sequence }) => sequence)).toEqual(headers.map((_, at) => accept!.sequence + at))
  const times = others.map(({ timestamp }) => timestamp)
  expect(times[0]).toBeLessThan(100)
  expect(times.at(-1)).toBeGreaterThan(2800)
  expect(times.at(-1)).toBeLessThan(3100)
  expect(times).toEqual([...times].sort((a, b) => a - b))
})

test('[RTYPE2] wrong packets are counted by their fault, have no answer, and end nothing', () => {
  const stage = new RtypeStage()
  const client = stage.add(A, 1)
  stage.run(200)
  const good = writeRtype({
    name: 'PING', flags: 0, sequence: 5000, timestamp: 0, fields: { client_timestamp: 1, client_id: 1 },
  })
  const changed = (at: number, value: number): Uint8Array => good.map((byte, index) => (index === at ? value : byte))
  const forge = { name: 'CLIENT_DISCONNECT', flags: 1, sequence: 5001, timestamp: 0 } as const
  const leaving = writeRtype({ ...forge, fields: { client_id: 1, reason: 0 } })
  const wrong = {
    magic: changed(0, 0x53), range: changed(2, 0x80), unassigned: changed(2, 0x23), short: good.slice(0, 11),
    unreliable: leaving.map((byte, at) => (at === 3 ? 0 : byte)),
  }
  const answers = stage.sent.length
  for (const bytes of Object.values(wrong)) {
    for (const from of [A, B]) stage.server.handleDatagram(stage.now, from, bytes, bytes.length)
  }
  stage.server.drain(stage.now, (to) => { throw new Error(`an answer to ${to}`) })
  expect(stage.sent).toHaveLength(answers)
  for (const fault of Object.keys(wrong)) expect(stage.server.drops.get(fault as never), fault).toBe(2)
  stage.run(200)
  expect([client.state, stage.server.peers.length]).toEqual(['open', 1])
  // The same packet with its flag ends the connection.
  stage.server.handleDatagram(stage.now, A, leaving, leaving.length)
  expect(stage.server.peers).toEqual([])
})

test('[RTSES1] a client of the engine has the tick rate of its server, and counts entities of unknown types', () => {
  const server = new RtypeServer({ tickRate: 45, maxPlayers: 3, gameInstanceId: 9 }, new Dice(3))
  const client = new RtypeClient(0, { name: 'Bo', clientId: 3 })
  const step = (now: number): void => {
    client.drain(now, (bytes, length) => { server.handleDatagram(now, A, bytes.slice(0, length), length) })
    while (server.poll() !== undefined) continue
    server.drain(now, (_, bytes, length) => { client.handleDatagram(now, bytes, length) })
  }
  for (let now = 0; now < 500; now += 10) step(now)
  expect(client.accepted).toMatchObject({ serverTickrate: 45, maxPlayers: 3, gameInstanceId: 9 })
  const spawn = {
    type: 'ENTITY_SPAWN', entityId: 7, entityType: RTYPE.ENTITY.ENEMY, posX: 1, posY: 2, mobVariant: 0,
    initialHealth: 9, velX: 0, velY: 0, isPlayable: false,
  } as const
  server.send(500, server.peers[0]!, spawn)
  server.drain(500, (_, bytes, length) => {
    const unknown = bytes.slice(0, length)
    unknown[16] = 9
    client.handleDatagram(500, unknown, length)
    expect([client.drops, client.poll()]).toEqual([1, undefined])
    client.handleDatagram(500, bytes, length)
    expect(client.poll()?.packet).toEqual(spawn)
  })
})

