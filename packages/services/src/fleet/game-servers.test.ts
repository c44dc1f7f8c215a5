import { afterEach, expect, test } from 'vitest'
import { MemoryLeases } from '../store/memory-leases.ts'
import { GameServers, type GameServer } from './game-servers.ts'

const open: GameServers[] = []
afterEach(() => {
  for (const servers of open.splice(0)) servers.close()
})

const [A, B] = ['a'.repeat(32), 'b'.repeat(32)] as const

function server(id: string, ...numbers: number[]): GameServer {
  return report(1, id, ...numbers)
}

/** The list in one report of a server, with rooms of these numbers. */
function report(count: number, id: string, ...numbers: number[]): GameServer {
  return {
    id, identity: id + id, url: `http://${id}/`, region: '', version: '1', seats: 8, players: 0, maxRooms: 8,
    audience: '', isDraining: false, report: count, types: [],
    rooms: numbers.map((number) => ({
      id: String(number), number, type: 'duel', players: 1, capacity: 2, spectators: 0, metadata: {}, isLocked: false,
      hasPassword: false,
    })),
  }
}

test('[FLEET5] an instance that has just read the store finds a room that moved since then', async () => {
  const leases = new MemoryLeases()
  const [first, second] = [new GameServers(leases), new GameServers(leases)]
  open.push(first, second)
  await first.report(server(A, 7))
  await second.refresh()
  expect(second.get(A)?.rooms.map(({ number }) => number)).toEqual([7])
  // The room moves to a server that reports to the other instance, and the old server ends.
  await first.report(server(B, 7))
  await first.remove(A, A + A)
  await second.refresh()
  expect(second.get(B)?.rooms.map(({ number }) => number)).toEqual([7])
})

test('[FLEET5] many requests at once share a read, and none gets one that began before it', async () => {
  const leases = new MemoryLeases()
  const [first, second] = [new GameServers(leases), new GameServers(leases)]
  open.push(first, second)
  const startedAt = performance.now()
  const early = Array.from({ length: 50 }, () => second.refresh())
  await first.report(server(A, 1))
  const late = Array.from({ length: 50 }, () => second.refresh())
  await Promise.all([...early, ...late])
  expect(second.get(A)?.rooms.length).toBe(1)
  expect(performance.now() - startedAt).toBeLessThan(2000)
})

test('[FLEET5] of two lists of a server the newer one counts, whichever instance it came to', async () => {
  const leases = new MemoryLeases()
  const [first, second] = [new GameServers(leases), new GameServers(leases)]
  open.push(first, second)
  const numbers = (): number[] => first.get(A)!.rooms.map(({ number }) => number)
  await first.report(report(1, A))
  // A moment later it takes a room, and reports that to the other instance.
  await second.report(report(2, A, 7))
  await first.refresh()
  expect(numbers()).toEqual([7])
  // A request that was overtaken on its way changes nothing, here and in the store.
  expect(await first.report(report(1, A))).toBe('ok')
  await second.refresh()
  expect([numbers(), second.get(A)!.rooms.length]).toEqual([[7], 1])
})
