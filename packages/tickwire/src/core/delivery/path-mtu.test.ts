import { describe, expect, test } from 'vitest'
import { BitWriter } from '../bits/bit-writer.ts'
import { PathMtu } from './path-mtu.ts'

/** Lets probes cross a path that carries `pathBytes`, for `ms`; the sizes that were tried. */
function live(mtu: PathMtu, pathBytes: number, from: number, ms: number): number[] {
  const tried: number[] = []
  let sequence = from + 1
  for (let now = from; now < from + ms; now += 50) {
    if (now < mtu.nextAt) continue
    tried.push(mtu.probeBytes)
    mtu.onProbe(++sequence)
    expect(mtu.nextAt, 'one probe at a time').toBe(Infinity)
    if (mtu.probeBytes <= pathBytes) mtu.onDelivered(now + 40, sequence)
    else mtu.onLost(now + 40, sequence)
  }
  return tried
}

describe('path mtu', () => {
  test('[MTU2] a path that carries everything is found with one probe', () => {
    const mtu = new PathMtu()
    mtu.start(0, 1452)
    expect(live(mtu, 1452, 0, 60_000)).toEqual([1452])
    expect(mtu.bytes).toBe(1452)
  })

  test.each([1200, 1201, 1280, 1350, 1400, 1451])(
    '[MTU2] a path of %d bytes is found from below, to 8 bytes',
    (pathBytes) => {
      const mtu = new PathMtu()
      mtu.start(0, 1452)
      const tried = live(mtu, pathBytes, 0, 60_000)
      expect(mtu.bytes).toBeLessThanOrEqual(pathBytes)
      expect(mtu.bytes).toBeGreaterThan(pathBytes - 8)
      expect(tried.length).toBeLessThan(25)
      expect(tried.slice(0, 3), 'each size three times before it is given up').toEqual([1452, 1452, 1452])
    },
  )

  test('[MTU2] a size that failed is tried again after ten minutes', () => {
    const mtu = new PathMtu()
    mtu.start(0, 1452)
    live(mtu, 1300, 0, 300_000)
    expect(live(mtu, 1452, 300_000, 290_000)).toEqual([])
    live(mtu, 1452, 590_000, 60_000)
    expect(mtu.bytes).toBe(1452)
  })

  test('[MTU1] a transport that carries 1200 is never probed', () => {
    const mtu = new PathMtu()
    mtu.start(0, 1200)
    expect([mtu.nextAt, mtu.bytes]).toEqual([Infinity, 1200])
    mtu.reset(5)
    expect(mtu.nextAt).toBe(Infinity)
  })

  test('[MTU3] six large packets lost in a row: back to 1200 at once, and a new search later', () => {
    const mtu = new PathMtu()
    mtu.start(0, 1452)
    live(mtu, 1452, 0, 1000)
    for (let loss = 0; loss < 5; loss++) mtu.onPacketLost(2000, 1452)
    mtu.onPacketArrived(1452)
    for (let loss = 0; loss < 5; loss++) {
      mtu.onPacketLost(2000, 1452)
      mtu.onPacketLost(2000, 900)
      mtu.onPacketArrived(900)
    }
    expect([mtu.bytes, mtu.holeCount]).toEqual([1452, 0])
    mtu.onPacketLost(2000, 1452)
    expect([mtu.bytes, mtu.holeCount]).toEqual([1200, 1])
    expect(live(mtu, 1300, 2000, 29_000)).toEqual([])
    live(mtu, 1300, 31_000, 60_000)
    expect(mtu.bytes).toBeGreaterThan(1292)
  })

  test('[MTU4] a new path is searched again', () => {
    const mtu = new PathMtu()
    mtu.start(0, 1452)
    live(mtu, 1452, 0, 1000)
    mtu.reset(5000)
    expect(mtu.bytes).toBe(1200)
    live(mtu, 1452, 5000, 1000)
    expect(mtu.bytes).toBe(1452)
  })

  test('[MTU1] padding is one byte and zeros to the end, and is only in probes', () => {
    const mtu = new PathMtu()
    const out = new BitWriter(new Uint8Array(11))
    expect([mtu.fill(0, 3, out), mtu.wantsAt()]).toEqual([false, Infinity])
    mtu.onProbe(3)
    expect(mtu.fill(0, 3, out)).toBe(true)
    expect([...out.bytes.subarray(0, out.finish())]).toEqual([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    expect(mtu.fill(0, 3, out)).toBe(false)
  })
})
