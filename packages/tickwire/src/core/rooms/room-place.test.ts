import { expect, test } from 'vitest'
import { Dice } from 'tickwire/testing'
import { RoomDirectory } from './room-directory.ts'
import { decodePlaceRequest, encodePlaceRequest, isPlacedHere, placeIndex } from './room-place.ts'
import { TicketMint } from './resume-ticket.ts'
import { pureProvider } from '../crypto/pure-provider.ts'

test('[WORK1] ids, codes and tickets of a room name its process', () => {
  for (const count of [1, 2, 3, 7, 32]) {
    for (let index = 0; index < count; index++) {
      const place = { index, count }
      const directory = new RoomDirectory(new Dice(index + 1), place)
      const mint = new TicketMint(pureProvider, new Dice(9))
      for (let each = 0; each < 5; each++) {
        const { number, id, code } = directory.drawIdentity(true)
        const ticket = mint.make({ room: number, peer: 1, serial: 2 })
        const letters = [{ room: id }, { code }, { resume: ticket }].map((join) =>
          decodePlaceRequest(Object.fromEntries([encodePlaceRequest(join, '').split('=')]) as never).at ?? '')
        expect(letters.map((letter) => placeIndex(letter, count))).toEqual([index, index, index])
        expect([isPlacedHere(id, place), letters.map((letter) => letter.length)]).toEqual([true, [1, 1, 1]])
      }
    }
  }
})

test('[WORK1] a request is read back as it was written', () => {
  const read = (query: string): unknown => decodePlaceRequest(Object.fromEntries(
    query.split('&').map((pair) => pair.split('=').map(decodeURIComponent) as [string, string])))
  const nothing = { at: undefined, type: undefined, metadata: {}, isNew: false, isSpectator: false }
  expect(read(encodePlaceRequest(undefined, 'v'))).toEqual({ ...nothing, visit: 'v' })
  expect(read(encodePlaceRequest({ quick: 'a&b', filter: { 'm=p': 'ü' }, role: 'spectator' }, 'v'))).toEqual(
    { ...nothing, visit: 'v', type: 'a&b', metadata: { 'm=p': 'ü' }, isSpectator: true })
  expect(read(encodePlaceRequest({ create: 'duel', metadata: { map: 'x' }, password: 'secret' }, 'v'))).toEqual(
    { ...nothing, visit: 'v', type: 'duel', isNew: true })
})
