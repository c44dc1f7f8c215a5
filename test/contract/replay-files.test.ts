/** Recordings of real relays: written in the background, killed, verified by the command and by the page of Python. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { relay } from 'tickwire/lockstep'
import { bestProvider, connect } from 'tickwire/node'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import { MatchFile } from '../../packages/tickwire/src/core/replay/match-file.ts'
import { openRecording, type Recording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { verifyMatch } from '../../packages/tickwire/src/core/replay/verify-match.ts'
import { form } from '../form.ts'
import { game, Spawn, Take } from '../sim/lockstep-game.ts'
import { endPrograms, Program } from './program.ts'

let folder = ''
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), 'tickwire-replays-')) })
afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

const PYTHON = fileURLToPath(new URL('../reference/verify_replay.py', import.meta.url))
const VECTOR = fileURLToPath(new URL('../vectors/replay.twr', import.meta.url))
const HANDED = fileURLToPath(new URL('../vectors/replay-handover.twr', import.meta.url))
const GAME = fileURLToPath(new URL('../sim/lockstep-game.ts', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0

async function tickwire(...args: string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  const print = (line: string): void => { lines.push(line) }
  const entropy = { fill: () => {} }
  const code = await startTickwire(args, { print, complain: print, nowSeconds: () => 0, entropy })
  return { code, lines }
}

function python(path: string): { code: number | null; result: Record<string, unknown> } {
  const { status, stdout } = spawnSync('python3', [PYTHON, path], { encoding: 'utf8' })
  return { code: status, result: JSON.parse(stdout) as Record<string, unknown> }
}

test('[SEAL4, SEAL6] a relay that is killed leaves a replay that is valid up to its last write', async () => {
  const replays = join(folder, 'killed')
  const server = new URL('./lockstep-server-process.ts', import.meta.url)
  const program = new Program(server, ['', '-', '', replays])
  const [, , udp = ''] = await program.says(/http (\S+) udp (\S+)/)
  const rooms = [await connect(game, relay(udp)), await connect(game, relay(udp))]
  for (let round = 0; round < 40; round++) {
    rooms[round % 2]!.order(Take, { crate: round })
    rooms[round % 2]!.order(Spawn, { count: 1 })
    await new Promise((resolve) => { setTimeout(resolve, 60) })
  }
  program.child.kill('SIGKILL')
  await program.ended
  for (const room of rooms) room.leave()
  const [name = ''] = readdirSync(replays)
  const path = join(replays, name)
  const { code, lines } = await tickwire('verify', path, '--step', GAME)
  expect(lines.join('\n')).toMatch(/^(\d{2,}) ticks/)
  expect(code).toBe(0)
  expect(Number(/^(\d+) ticks/.exec(lines[0]!)![1])).toBeGreaterThan(30)
})

test('[SEAL2, SEAL3, SEAL6] the command verifies the vector, one tick of it, and finds an altered byte', async () => {
  const whole = await tickwire('verify', VECTOR, '--step', GAME)
  expect(whole.lines.at(-1)).toBe('genuine')
  expect(whole.code).toBe(0)
  expect((await tickwire('verify', VECTOR, '--tick', '300')).lines[0]).toMatch(/^genuine: tick 300 .* by 8 hashes$/)
  const bytes = new Uint8Array(readFileSync(VECTOR))
  const altered = join(folder, 'altered.twr')
  for (let at = 600; at < bytes.length - 300; at += 1100) {
    writeFileSync(altered, bytes.map((byte, each) => each === at ? byte ^ 1 : byte))
    expect((await tickwire('verify', altered)).code, `byte ${at}`).toBe(1)
  }
})

test.runIf(hasPython)('[SEAL6] a page of Python, written from the document, agrees with the engine', () => {
  const { code, result } = python(VECTOR)
  expect(result['problems']).toEqual([])
  expect(code).toBe(0)
  expect(result).toMatchObject({ ticks: 1016, sealed: 1016, seals: 4, lost: 0 })
  const bytes = new Uint8Array(readFileSync(VECTOR))
  const altered = join(folder, 'altered-too.twr')
  writeFileSync(altered, bytes.map((byte, each) => each === 2500 ? byte ^ 1 : byte))
  expect(python(altered).code).not.toBe(0)
})

function opened(bytes: Uint8Array): Recording {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  return recording
}

/** Everything that a verification says of a file. */
function verdictOf(bytes: Uint8Array): string {
  const provider = bestProvider()
  const options = {
    sha256: (part: Uint8Array) => provider.sha256(part),
    verify: (key: Uint8Array, message: Uint8Array, signature: Uint8Array) =>
      provider.importVerifying(key).verify(message, signature),
  }
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') return recording
  const { players, ...rest } = verifyMatch(new MatchFile(recording), options)
  return JSON.stringify([rest, [...players]])
}

test('[SEAL2] a change of any byte of the match shows: in the problems, or in what is left of it', () => {
  const bytes = new Uint8Array(readFileSync(VECTOR))
  const genuine = verdictOf(bytes)
  expect(genuine).toContain('"problems":[]')
  // After the chunks is an index, without which they are found too.
  const end = Math.max(...opened(bytes).chunks.filter(({ type }) => type === 1 || (type >= 10 && type <= 16))
    .map(({ offset, length }) => offset + 12 + length + 4))
  expect(end).toBeGreaterThan(5000)
  for (let at = 0; at < end; at += form(23, 1)) {
    const altered = bytes.slice()
    altered[at]! ^= 1 << (at % 8)
    expect(verdictOf(altered), `byte ${at}`).not.toBe(genuine)
  }
})

test('[SEAL2] a chunk that claims four gigabytes is refused at once', () => {
  const bytes = new Uint8Array(readFileSync(VECTOR))
  const genuine = verdictOf(bytes)
  const { offset } = opened(bytes).chunks.find(({ type }) => type === 10)!
  new DataView(bytes.buffer).setUint32(offset + 8, 0xffff_ffff, true)
  // With the index, and without it.
  for (const file of [bytes, bytes.slice(0, bytes.length - 40)]) {
    const [before, heap] = [process.cpuUsage(), process.memoryUsage().arrayBuffers]
    const match = new MatchFile(opened(file))
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(50)
    expect(process.memoryUsage().arrayBuffers - heap).toBeLessThan(1_000_000)
    expect(match.last).toBeLessThanOrEqual(1016)
    expect(verdictOf(file)).not.toBe(genuine)
  }
})

test('[HAND12] the command names both relays of a match that was handed over, and takes their keys', async () => {
  const [first = '', second = ''] = [1, 2].map((byte) =>
    keyToText('server-public', bestProvider().importSigning(new Uint8Array(32).fill(byte)).publicKey))
  const { code, lines } = await tickwire('verify', HANDED, '--key', first, '--key', second, '--step', GAME)
  expect(lines).toEqual(expect.arrayContaining([
    '371 ticks, 371 sealed by 2 seals',
    `relay ${first} signed ticks 1 to 128`,
    '3 players held the ticks up to 144',
    `relay ${second} continued from tick 145 on`,
    'genuine',
  ]))
  expect(code).toBe(0)
  expect((await tickwire('verify', HANDED, '--key', second)).lines).toContain(
    `relay ${first} (its key was not given) signed ticks 1 to 128`,
  )
  expect((await tickwire('verify', HANDED, '--key', first)).code).toBe(1)
  const { lines: [json = ''] } = await tickwire('verify', HANDED, '--json')
  expect(JSON.parse(json)).toMatchObject({
    publicKey: second, handover: { relayKey: first, signedTick: 128, tick: 144, holders: 3 },
  })
})

test.runIf(hasPython)('[HAND12] the page of Python finds an altered handover', () => {
  const { code, result } = python(HANDED)
  expect(result).toMatchObject({ ticks: 371, handover: { tick: 144, signed: 128 }, problems: [] })
  expect(code).toBe(0)
  const bytes = new Uint8Array(readFileSync(HANDED))
  // Behind the id of the match.
  const relayKey = bestProvider().importSigning(new Uint8Array(32).fill(1)).publicKey
  const at = Buffer.from(bytes).indexOf(relayKey)
  const altered = join(folder, 'altered-handover.twr')
  for (const offset of [0, 38, 60]) {
    writeFileSync(altered, bytes.map((byte, each) => each === at + offset ? byte ^ 1 : byte))
    expect(python(altered).result['problems'], `byte ${offset}`).not.toEqual([])
  }
})
