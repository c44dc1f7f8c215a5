/** The code of the guide to persistence: rooms outlive their server, in files and in a database. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { defineGame, entity, u32, type Game } from 'tickwire'
import { serveRooms, type ServingRooms } from 'tickwire/node'
import { fileStore, keepRooms, sqliteStore, type RoomStore } from '../../docs/guide/examples/persistence.ts'

vi.setConfig({ testTimeout: 60_000 })

const folder = mkdtempSync(join(tmpdir(), 'tickwire-rooms-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const City = entity({ age: u32 }, { name: 'City' })
const makeGame = (tickRate: number): Game => defineGame({
  tickRate,
  input: {},
  entities: [City],
  step(world) {
    if (world.tick === 1) world.spawn(City, {})
    for (const city of world.each(City)) city.age++
  },
})

const open = async (game: Game): Promise<ServingRooms> =>
  await serveRooms(
    { town: { game, capacity: 4, emptyMs: Infinity } },
    { port: 0, webtransport: false, webrtc: false, udp: false, ops: false, signals: false },
  )

const ageOf = (serving: ServingRooms, id: string): number => [...serving.room(id)!.world.each(City)][0]!.age

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 2000) throw new Error('never true')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A room is saved, its server ends, and another server opens it again. */
async function outlive(store: () => RoomStore): Promise<void> {
  const game = makeGame(60)
  const first = await open(game)
  const stopFirst = keepRooms(first, store())
  const { id } = first.create('town', { metadata: { map: 'delta' } })
  const { id: other } = first.create('town')
  await until(() => (first.room(id)?.world.tick ?? 0) > 20)
  first.room(other)!.end()
  await until(() => first.room(other) === undefined)
  stopFirst()
  const age = ageOf(first, id)
  await first.close()
  const second = await open(game)
  const stopSecond = keepRooms(second, store())
  expect(second.list()).toMatchObject([{ id, metadata: { map: 'delta' } }])
  expect(second.room(id)!.isRestored).toBe(true)
  expect(ageOf(second, id)).toBeGreaterThanOrEqual(age)
  await until(() => ageOf(second, id) > age + 10)
  stopSecond()
  await second.close()
  // Another build of the game refuses the image.
  const third = await open(makeGame(30))
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  keepRooms(third, store())()
  expect(warn).toHaveBeenCalledWith(`room ${id} was not restored: other-game`)
  warn.mockRestore()
  await third.close()
}

test('[ROOM20] the guide: rooms are kept in files, over restarts of the server', async () => {
  await outlive(() => fileStore(join(folder, 'rooms')))
})

type Database = Parameters<typeof sqliteStore>[0] & { close(): unknown }

/** The databases that the guide names. Node has one from version 22.13 on; the package is for older ones. */
const DATABASES = { 'node:sqlite': 'DatabaseSync', libsql: 'default' }

for (const [module, name] of Object.entries(DATABASES)) {
  const found = await import(module).catch(() => ({})) as Record<string, new (path: string) => Database>
  const Opened = found[name]
  test.skipIf(Opened === undefined)(`[ROOM20] the guide: rooms are kept in SQLite, by ${module}`, async () => {
    const path = join(folder, `${module.replace(':', '-')}.sqlite`)
    const opened: Database[] = []
    await outlive(() => {
      opened.at(-1)?.close()
      opened.push(new Opened!(path))
      return sqliteStore(opened.at(-1)!)
    })
    opened.at(-1)!.close()
  })
}
