import { describe, expect, test } from 'vitest'
import type { Entropy } from '../base/entropy.ts'
import { GUESTS_MAX } from '../base/limits.ts'
import { KeyRing } from '../crypto/key-ring.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { createSuite } from '../crypto/suite.ts'
import { type Guest, Routes } from './routes.ts'

/** Counts up, so that every draw differs. */
const counting = (): Entropy => {
  let next = 1
  return { fill: (bytes) => bytes.forEach((_, index) => { bytes[index] = next++ }) }
}
const keyOf = (place: number): Uint8Array => new Uint8Array(32).fill(place)

function guestIn(routes: Routes, place: number, address: string, receivedAt: number, bucket: number = 0): Guest {
  const [idLo, idHi] = routes.drawId(place)
  const keys = new KeyRing(0, {
    provider: pureProvider,
    suite: createSuite(1, pureProvider),
    role: 'server',
    secret: new Uint8Array(32),
    transcript: new Uint8Array(32),
  })
  const guest: Guest = {
    address,
    idLo,
    idHi,
    clientKey: keyOf(place),
    cookie: new Uint8Array(16),
    bucket,
    user: new Uint8Array(0),
    welcome: new Uint8Array(0),
    handle: place,
    keys,
    suite: '',
    accepted: new Uint8Array(0),
    receivedAt,
    tokenId: undefined,
  }
  routes.holdGuest(guest)
  return guest
}

describe('routes', () => {
  test('[HS8] a guest takes a place and no seat; when places run out, the guest silent longest is discarded', () => {
    const routes = new Routes(1, counting())
    for (let place = 0; place <= GUESTS_MAX; place++) {
      expect(routes.freePlace(300)).toBe(place)
      guestIn(routes, place, `guest ${place}`, place === 7 ? 100 : 200)
    }
    expect(routes.hasSeat()).toBe(true)
    expect(routes.freePlace(300), 'the one silent longest').toBe(7)
    expect([...routes.guestAddresses(5099)]).toHaveLength(GUESTS_MAX + 1)
    expect([...routes.guestAddresses(5100)], 'gone after 5 s').toHaveLength(GUESTS_MAX)
    expect([...routes.addresses(5200)]).toEqual([])
    expect(routes.freePlace(5200)).toBe(0)
    expect(new Routes(0, counting()).hasSeat()).toBe(false)
  })

  test('[HS6] a guest is found by its id until it expires', () => {
    const routes = new Routes(4, counting())
    const guest = guestIn(routes, 3, 'a', 100)
    expect(routes.findGuest(guest.idLo, guest.idHi, 5099)).toBe(guest)
    expect(routes.findGuest(guest.idLo, guest.idHi + 1, 5099)).toBeUndefined()
    expect(routes.findGuest(guest.idLo ^ 0x2000, guest.idHi, 5099)).toBeUndefined()
    expect(routes.findGuest(guest.idLo, guest.idHi, 5100)).toBeUndefined()
  })

  test('[HS7] a repeated response is known by address and key', () => {
    const routes = new Routes(4, counting())
    const guest = guestIn(routes, 3, 'a', 100)
    expect(routes.findAsking('a', keyOf(3), 150)).toBe(guest)
    expect(routes.findAsking('b', keyOf(3), 150)).toBeUndefined()
    expect(routes.findAsking('a', keyOf(4), 150)).toBeUndefined()
    expect(routes.findAsking('a', keyOf(3), 5100)).toBeUndefined()
  })

  test('[HS10] of the guests at one address, the one with the oldest challenge is found, if older than given', () => {
    const routes = new Routes(4, counting())
    guestIn(routes, 0, 'a', 100, 7)
    const oldest = guestIn(routes, 1, 'a', 300, 5)
    guestIn(routes, 2, 'a', 100, 6)
    guestIn(routes, 3, 'b', 100, 1)
    expect(routes.findOlderGuest('a', 7, 400)).toBe(oldest)
    expect(routes.findOlderGuest('a', 6, 400)).toBe(oldest)
    expect(routes.findOlderGuest('a', 5, 400), 'as old is not older').toBeUndefined()
    expect(routes.findOlderGuest('c', 7, 400)).toBeUndefined()
    expect(routes.findOlderGuest('a', 9, 5200), 'a guest that has expired does not count').toBe(oldest)
    expect(routes.findOlderGuest('a', 9, 5300)).toBeUndefined()
  })

  test('[HS6] ids name their place, differ every time, and are never 0', () => {
    const routes = new Routes(4, { fill: (bytes) => bytes.fill(0) })
    expect(routes.drawId(0)).toEqual([0, 1])
    const seen = new Set<string>()
    const fresh = new Routes(4, counting())
    for (let draw = 0; draw < 30; draw++) seen.add(fresh.drawId(2).join())
    expect(seen.size).toBe(30)
    expect(fresh.drawId(2)[0] & 0x1fff).toBe(2)
  })
})
