import { describe, expect, test } from 'vitest'
import type { Entropy } from '../base/entropy.ts'
import { type Guest, Routes } from './routes.ts'

/** Counts up, so that every draw differs. */
const counting = (): Entropy => {
  let next = 1
  return { fill: (bytes) => bytes.forEach((_, index) => { bytes[index] = next++ }) }
}

function guestIn(routes: Routes, slot: number, address: string, expiresAt: number): Guest {
  const [idLo, idHi] = routes.drawId(slot)
  const guest: Guest = {
    address, idLo, idHi, saltLo: slot, saltHi: 9, user: new Uint8Array(0), welcome: new Uint8Array(0), expiresAt, handle: slot,
  }
  routes.holdGuest(guest)
  return guest
}

describe('routes', () => {
  test('[HS8] slots run out, and an expired guest frees his', () => {
    const routes = new Routes(2, counting())
    expect(routes.freeSlot(0)).toBe(0)
    guestIn(routes, 0, 'a', 100)
    guestIn(routes, 1, 'b', 200)
    expect(routes.freeSlot(99)).toBe(-1)
    expect(routes.freeSlot(100)).toBe(0)
    expect(new Routes(0, counting()).freeSlot(0)).toBe(-1)
  })

  test('[HS6] a guest is found by his id from his address, while he is expected', () => {
    const routes = new Routes(4, counting())
    const guest = guestIn(routes, 3, 'a', 100)
    expect(routes.findGuest('a', guest.idLo, guest.idHi, 99)).toBe(guest)
    expect(routes.findGuest('b', guest.idLo, guest.idHi, 99)).toBeUndefined()
    expect(routes.findGuest('a', guest.idLo, guest.idHi + 1, 99)).toBeUndefined()
    expect(routes.findGuest('a', guest.idLo ^ 0x1000, guest.idHi, 99)).toBeUndefined()
    expect(routes.findGuest('a', guest.idLo, guest.idHi, 100)).toBeUndefined()
  })

  test('[HS7] a repeated request is known by address and salt', () => {
    const routes = new Routes(4, counting())
    const guest = guestIn(routes, 3, 'a', 100)
    expect(routes.findAsking('a', 3, 9, 50)).toBe(guest)
    expect(routes.findAsking('b', 3, 9, 50)).toBeUndefined()
    expect(routes.findAsking('a', 4, 9, 50)).toBeUndefined()
    expect(routes.findAsking('a', 3, 9, 100)).toBeUndefined()
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
