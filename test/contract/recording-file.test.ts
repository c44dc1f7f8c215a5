import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Playback, sourceOf, openRecording } from 'tickwire'
import { createRecordingFile, openRecordingFile, serve } from 'tickwire/node'
import { game } from '../../games/hello/game.ts'

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 500) throw new Error(`never true: ${isTrue}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('[REC16] a match that is served can be recorded, and its end ends the recording', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  try {
    const path = join(folder, 'deep', 'match.twr')
    const serving = await serve(game, { port: 0 })
    const { recorder, close } = serving.record(path)
    serving.host.addBot(() => ({ right: true }))
    await until(() => recorder.tickCount > 30)
    // While it is being written it can be read, up to the last flush.
    expect(openRecording(sourceOf(new Uint8Array(readFileSync(path))))).toMatchObject({ end: 'open', tornBytes: 0 })
    await serving.close()
    const opened = openRecordingFile(path)
    if (typeof opened === 'string') throw new Error(opened)
    expect(opened.recording).toMatchObject({ end: 'closed', damagedCount: 0, head: { startedAt: expect.any(Number) } })
    expect(opened.recording.head.startedAt).toBeGreaterThan(1_700_000_000)
    const playback = new Playback(opened.recording, game)
    expect(playback.last).toBeGreaterThan(30)
    for (let tick = playback.last; tick >= playback.first; tick -= 7) expect(playback.seek(tick)).toBe('ok')
    opened.close()
    close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('[REC5] a folder that cannot be made is an error at once', () => {
  expect(() => createRecordingFile('/dev/null/match.twr')).toThrow()
})

// Writing to address 0 of a process through this file is an error of the device.
test.runIf(process.platform === 'linux')('[REC5] a disk that answers EIO refuses the chunk and throws nothing', () => {
  const file = createRecordingFile('/proc/self/mem')
  expect(() => appendFileSync('/proc/self/mem', 'x')).toThrow('EIO')
  const chunk = { type: 1, flags: 0, tick: 1, offset: 0, length: 9 }
  expect([file.write(new Uint8Array(9), chunk), file.write(new Uint8Array(9), chunk)]).toEqual([false, false])
  file.close()
})
