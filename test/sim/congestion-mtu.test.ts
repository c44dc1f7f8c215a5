/**
 * Larger datagrams over a real connection: found by probes, and given up when the path drops them.
 */

import { describe, expect, test } from 'vitest'
import { DATAGRAM_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'

const KIND = 3

/** A pair on a path that drops datagrams larger than `path.bytes`. */
function connect(pathBytes: number) {
  const path = { bytes: pathBytes, largest: 0 }
  const channels = { server: new ReliableOrderedChannel(), client: new ReliableOrderedChannel() }
  const attach = (channel: ReliableOrderedChannel) => (connection: Connection): void => {
    connection.addSource(KIND, channel)
    connection.addSink(KIND, channel)
  }
  const ends = { maxDatagramBytes: DATAGRAM_BYTES_MAX }
  const pair = new Pair({
    weather: { latencyMs: 20 },
    server: { ...ends, assemble: attach(channels.server) }, client: { ...ends, assemble: attach(channels.client) },
  })
  const send = pair.link.send.bind(pair.link)
  pair.link.send = (now, side, bytes, length) => {
    if (length > path.bytes) return
    path.largest = Math.max(path.largest, length)
    send(now, side, bytes, length)
  }
  const connection = pair.connect()
  expect(connection.isOpen).toBe(true)
  return { path, pair, connection, channels }
}

/** Sends for `ms` as much as the channel takes; returns the number of messages received. */
function flood({ pair, channels }: ReturnType<typeof connect>, ms: number): number {
  const out = new Uint8Array(1024)
  let got = 0
  for (const end = pair.now + ms; pair.now < end;) {
    while (channels.client.send(new Uint8Array(100)) === 'queued');
    pair.drive(50)
    while (channels.server.receive(out) >= 0) got++
  }
  return got
}

describe('path mtu over a connection', () => {
  test('[MTU2] an idle connection finds a path of 1350 bytes, and never assumes more', () => {
    const run = connect(1350)
    run.pair.drive(60_000)
    for (const connection of [run.connection, run.pair.accepted]) {
      expect(connection.gate.mtu.bytes).toBeLessThanOrEqual(1350)
      expect(connection.gate.mtu.bytes).toBeGreaterThan(1342)
    }
  })

  test('[MTU1] the larger size that was found is used', () => {
    const run = connect(1500)
    run.pair.drive(5000)
    run.path.largest = 0
    expect(flood(run, 2000)).toBeGreaterThan(100)
    expect(run.path.largest).toBeGreaterThan(1390)
  })

  test('[MTU3] a path that begins to drop large packets costs a moment, not the connection', () => {
    const run = connect(1500)
    run.pair.drive(5000)
    flood(run, 1000)
    expect(run.connection.gate.mtu.bytes).toBe(1500)
    run.path.bytes = 1250
    flood(run, 5000)
    expect(run.connection.gate.mtu.bytes).toBe(1200)
    expect(run.connection.gate.mtu.holeCount).toBe(1)
    expect(flood(run, 5000)).toBeGreaterThan(100)
    expect(run.connection.isOpen).toBe(true)
  })

  test('[MTU5] lost probes do not count as congestion', () => {
    const run = connect(1210)
    run.pair.drive(60_000)
    expect(run.connection.gate.controller).toMatchObject({ mode: 'good' })
  })
})
