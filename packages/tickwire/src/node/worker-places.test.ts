import { expect, test } from 'vitest'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import { decodePlaceRequest, encodePlaceRequest } from '../core/rooms/room-place.ts'
import { queryOf } from './serve-routes.ts'
import { WorkerPlaces, type PlacedWorker } from './worker-places.ts'

function room(id: string, players: number, more: Partial<RoomListing> = {}): RoomListing {
  const listing = { id, type: 'duel', players, capacity: 2, spectators: 0, metadata: {} }
  return { ...listing, isLocked: false, hasPassword: false, ...more }
}

function workers(...each: readonly (readonly RoomListing[])[]): PlacedWorker[] {
  return each.map((rooms) => ({ isOpen: true, rooms, players: rooms.reduce((sum, { players }) => sum + players, 0) }))
}

let visits = 0
const quick = (filter = {}): ReturnType<typeof decodePlaceRequest> =>
  decodePlaceRequest(queryOf(`?${encodePlaceRequest({ quick: 'duel', filter }, `v${++visits}`)}`))

test('[WORK1] a letter leads to the worker of a room, and to none while that one is down', () => {
  const places = new WorkerPlaces([...workers([], []), { isOpen: false, rooms: [], players: 0 }], () => 2)
  expect(['A', 'b', 'C', 'D', '9', '?', ''].map((at) => places.find(0, decodePlaceRequest({ at })))).toEqual(
    [0, 1, undefined, 0, 1, 0, 0])
})

test('[WORK2] a quick seat is in the fullest room that fits, and clients on their way count', () => {
  const places = new WorkerPlaces(workers(
    [room('A1', 0), room('A2', 1, { isLocked: true }), room('A3', 1, { hasPassword: true })],
    [room('B1', 1), room('B2', 1, { metadata: { map: 'dust' } }), room('B3', 2)],
  ), () => 2)
  expect(places.find(0, quick({ map: 'dust' }))).toBe(1)
  expect([places.find(0, quick()), places.find(0, quick())]).toEqual([1, 0])
  // This client takes the last free seat, in A1. With the clients on their way all rooms are full, so the next one
  // starts a room.
  expect(places.find(0, quick())).toBe(0)
  const spectator = decodePlaceRequest({ visit: 'w', watch: '1', type: 'duel' })
  expect(places.find(0, spectator)).toBe(1)
})

test('[WORK2] clients that ask together for a room that is not there share a worker; new rooms are spread', () => {
  const places = new WorkerPlaces(workers([], [], []), () => 3)
  const together = [quick(), quick(), quick()].map((request) => places.find(0, request))
  expect(new Set(together).size).toBe(1)
  const made = [1, 2, 3, 4].map((visit) =>
    places.find(0, decodePlaceRequest({ visit: `n${visit}`, new: '1', type: 'duel' })))
  expect(made).toEqual([1, 2, 1, 2])
  // The room that three clients share is full by then, and a later client does not wait for it.
  const [full, later] = [places.find(0, quick()), new WorkerPlaces(workers([], []), () => 9)]
  expect(full).not.toBe(together[0])
  expect([later.find(0, quick()), later.find(1999, quick()), later.find(4000, quick())]).toEqual([0, 0, 1])
})

test('[WORK1] all transports of one visit lead to one worker, until it is forgotten', () => {
  const places = new WorkerPlaces(workers([], []), () => undefined)
  const first = quick()
  const filler = quick({ map: 'other' })
  const at = places.find(0, first)
  expect(places.find(0, filler)).not.toBe(at)
  expect([places.find(9999, first), places.find(9999, first)]).toEqual([at, at])
  for (let visit = 0; visit < 10_000; visit++) places.find(10, decodePlaceRequest({ visit: `f${visit}`, new: '1' }))
  expect(places.find(10, decodePlaceRequest({ visit: 'last' }))).toBeDefined()
})
