import { describe, expect, test } from 'vitest'
import type { Entropy } from '../base/entropy.ts'
import { KeyRing } from '../crypto/key-ring.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { createSuite } from '../crypto/suite.ts'
import { type Guest, Routes } from './routes.ts'

/** Counts up, so that every draw differs. */
const counting = (): Entropy => {
  let next = 1
  return { fill: (bytes) => bytes.forEach((_, index) => { bytes[index] = next++ }) }
}
const keyOf = (slot: number): Uint8Array => new Uint8Array(32).fill(slot)

function guestIn(routes: Routes, slot: number, address: string, heardAt: number): Guest {
  const [idLo, idHi] = routes.drawId(slot)
  const keys = new KeyRing(0, {
    provider: pureProvider, suite: createSuite(1, pureProvider), role: 'server', secret: new Uint8Array(32), transcript: new Uint8Array(32),
  })
  const guest: Guest = {
    address, idLo, idHi, clientKey: keyOf(slot), cookie: new Uint8Array(16), user: new Uint8Array(0), welcome: new Uint8Array(0), handle: slot,
    keys, suite: '', accepted: new Uint8Array(0), heardAt,
  }
  routes.holdGuest(guest)
  return guest
}

describe('routes', () => {
  test('[HS8] slots run out; a guest gone for 5 s frees his, one silent for 1 s gives way', () => {
    const routes = new Routes(2, counting())
    expect(routes.freeSlot(0)).toBe(0)
    guestIn(routes, 0, 'a', 200)
    guestIn(routes, 1, 'b', 100)
    expect(routes.freeSlot(1099)).toBe(-1)
    expect(routes.freeSlot(1100), 'the one silent longest').toBe(1)
    expect(routes.freeSlot(1300), 'still').toBe(1)
    expect([...routes.addresses(5099)]).toEqual(['a', 'b'])
    expect([...routes.addresses(5100)]).toEqual(['a'])
    expect(new Routes(0, counting()).freeSlot(0)).toBe(-1)
  })

  test('[HS6] a guest is found by his id from his address, while he is expected', () => {
    const routes = new Routes(4, counting())
    const guest = guestIn(routes, 3, 'a', 100)
    expect(routes.findGuest('a', guest.idLo, guest.idHi, 5099)).toBe(guest)
    expect(routes.findGuest('b', guest.idLo, guest.idHi, 5099)).toBeUndefined()
    expect(routes.findGuest('a', guest.idLo, guest.idHi + 1, 5099)).toBeUndefined()
    expect(routes.findGuest('a', guest.idLo ^ 0x1000, guest.idHi, 5099)).toBeUndefined()
    expect(routes.findGuest('a', guest.idLo, guest.idHi, 5100)).toBeUndefined()
  })

  test('[HS7] a repeated response is known by address and key', () => {
    const routes = new Routes(4, counting())
    const guest = guestIn(routes, 3, 'a', 100)
    expect(routes.findAsking('a', keyOf(3), 150)).toBe(guest)
    expect(routes.findAsking('b', keyOf(3), 150)).toBeUndefined()
    expect(routes.findAsking('a', keyOf(4), 150)).toBeUndefined()
    expect(routes.findAsking('a', keyOf(3), 5100)).toBeUndefined()
  })

  test('[HS6] ids name their slot, differ every time, and are never 0', () => {
    const routes = new Routes(4, { fill: (bytes) => bytes.fill(0) })
    expect(routes.drawId(0)).toEqual([0, 1])
    const seen = new Set<string>()
    const fresh = new Routes(4, counting())
    for (let draw = 0; draw < 30; draw++) seen.add(fresh.drawId(2).join())
    expect(seen.size).toBe(30)
    expect(fresh.drawId(2)[0] & 0xfff).toBe(2)
  })
})
