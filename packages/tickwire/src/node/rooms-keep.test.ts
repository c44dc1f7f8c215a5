import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeKeptRooms } from './rooms-keep.ts'

test('[ROOM10] kept rooms count for a minute, and also if the clock was set back since they were written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  try {
    const path = join(folder, 'rooms.json')
    const taken = (ageSeconds: number): unknown => {
      writeFileSync(path, '{"rooms":[]}')
      const changedAt = Date.now() / 1000 - ageSeconds
      utimesSync(path, changedAt, changedAt)
      return takeKeptRooms(path)
    }
    expect([taken(30), taken(90), taken(-3600)]).toEqual([{ rooms: [] }, undefined, { rooms: [] }])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
