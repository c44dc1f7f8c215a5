/**
 * The wire documents against a real server: a process serves games with every kind of field over real sockets under
 * loss, and logs its rows. A reader made from docs/wire alone reads the packets that clients received. Every row must
 * equal the one that the server logged for that tick.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerInfo } from 'tickwire/node'
import { endPrograms, Program } from '../contract/program.ts'
import { form } from '../form.ts'
import { fromJson } from './bits-checker.ts'
import { ClientReader } from './client-reader.ts'
import { digestOfRow } from './digest-reference.ts'
import type { PriorsFile } from './entropy-tables.ts'
import { fingerprintOf, readGameText, writeGameText, type PlainGame } from './game-text-reference.ts'
import { makeGame, MATCHES, NIBBLES, type RealMatch } from './real-rows-game.ts'
import { draw, learn } from './real-rows-priors.ts'
import { OwnClient } from './own-client.ts'
import { openTap, type Tap } from './real-rows-tap.ts'
import type { PlainShape, Values } from './schema-reference.ts'
import { lanesOfField } from './value-lanes.ts'

/**
 * How long a match is played, and how many at once: the server must keep up on a machine that may be busy.
 * `npm run prove -- real-rows` plays longer.
 */
const PLAY_MS = form(2000, 20_000)
const PLAY_MS_MAX = 60_000
const PACKETS_MIN = form(90, 400)
const AT_ONCE = 2
const ATTEMPTS = 4
const folder = mkdtempSync(join(tmpdir(), 'real-rows-'))
const learnt = learn(1)
/**
 * First the tables of the fingerprints, then the tables to send: trained ones without those of `Everything`, which are
 * large, and some random ones.
 */
const priors = [
  learnt,
  draw(2),
  Object.fromEntries(Object.entries(learnt).filter(([name]) => name !== 'Everything')),
  draw(4),
]

interface Played {
  readonly match: RealMatch
  readonly text: string
  readonly names: readonly string[]
  /** Clients of the engine, and last the one made from the pages, if it plays. */
  readonly taps: readonly Tap[]
}

/** By number of their match. The short form plays one match of each kind of coder and each stride. */
const played = new Map<number, Played>()
const NUMBERS = form([0, 3, 5, 7], MATCHES.map((_, number) => number))

beforeAll(async () => {
  writeFileSync(join(folder, 'priors.json'), JSON.stringify(priors))
  const server = new Program(new URL('./real-rows-server.ts', import.meta.url), [folder])
  for (let first = 0; first < NUMBERS.length; first += AT_ONCE) {
    const numbers = NUMBERS.slice(first, first + AT_ONCE)
    server.child.stdin.write(`${JSON.stringify(numbers)}\n`)
    const now = await Promise.all(numbers.map((number) => playIn(server, number)))
    await wait(PLAY_MS)
    for (
      let waited = PLAY_MS;
      waited < PLAY_MS_MAX && now.some(({ taps }) => taps.some(({ packets }) => packets.length < PACKETS_MIN));
      waited += 500
    )
      await wait(500)
    for (const { taps } of now) for (const tap of taps) tap.close()
    for (const [at, number] of numbers.entries()) played.set(number, now[at]!)
  }
  server.child.kill('SIGKILL')
  await server.ended
}, 400_000)

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Joins, more than once if the machine is too busy for a handshake. */
async function joinAgain(...to: Parameters<typeof openTap>): Promise<Tap> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openTap(...to)
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}

/** Joins two clients to a match. */
async function playIn(server: Program, number: number): Promise<Played> {
  const match = MATCHES[number]!
  const [, url] = await server.says(new RegExp(`match ${number} at (\\S+)\n`), 60_000)
  const { udp, identity } = await (await fetch(`${url}/tickwire/info`)).json() as ServerInfo
  const answer = await fetch(`${url}/tickwire/game`)
  const names = JSON.parse(decodeURIComponent(answer.headers.get('x-tickwire-entities')!)) as string[]
  const game = makeGame(match, learnt)
  const to = { url: url!, udpPort: udp!.port, isWebSocket: match.transport === 'websocket' }
  const text = await answer.text()
  const taps: Tap[] = [await joinAgain(game, to), await joinAgain(game, to)]
  if (match.hasOwnClient === true) taps.push(await openOwn(text, names, udp!.port, identity))
  return { match, text, names, taps }
}

/** Joins the client made from the pages. */
async function openOwn(text: string, names: readonly string[], port: number, identity: string): Promise<Tap> {
  const reader = new ClientReader(readGameText(text, { nibbles: NIBBLES as never }), { names })
  const key = Buffer.from(/^tickwire-server-public:(.+)$/.exec(identity)![1]!, 'base64url').toString('hex')
  const client = new OwnClient({ port, fingerprint: fingerprintOf(text), identity: key, reader, loss: 0.05 })
  for (let waited = 0; client.peer === 0 && waited < 20_000; waited += 100) await wait(100)
  expect(client.peer).toBeGreaterThan(0)
  return client
}

afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true })
})

/** A row as the server logged it. */
interface LoggedRow {
  readonly id: number
  readonly type: number
  readonly owner: number
  readonly values: unknown
}

/**
 * What a server logged, by tick and object: lanes field by field, so that fields of other audiences can be left out.
 */
class Log {
  readonly #ticks = new Map<number, Map<number, LoggedRow>>()
  /** By field and value: most values are those of the tick before. */
  readonly #lanes = new Map<string, readonly number[]>()
  readonly #game: PlainGame

  constructor(file: string, game: PlainGame) {
    this.#game = game
    for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
      const { tick, rows } = JSON.parse(line) as { readonly tick: number; readonly rows: readonly LoggedRow[] }
      this.#ticks.set(tick, new Map(rows.map((row) => [row.id, row])))
    }
  }

  /** The lanes of an object at a tick, by field. */
  lanes(
    tick: number,
    id: number,
  ): { readonly owner: number; readonly fields: readonly (readonly number[])[] } | undefined {
    const row = this.#ticks.get(tick)?.get(id)
    if (row === undefined) return undefined
    const { shape } = this.#game.entities[row.type]!
    const fields = Object.entries(shape).map(([name, field]) => {
      const value = valuesOf(this.#rated(name, tick, row))[name]
      const key = `${row.type} ${name} ${JSON.stringify(value)}`
      const lanes = this.#lanes.get(key) ?? lanesOfField(field, fromJson(value))
      this.#lanes.set(key, lanes)
      return lanes
    })
    return { owner: row.owner, fields }
  }

  /**
   * The digest of everything that a player owns at a tick, shared objects aside; undefined of a tick that was not
   * logged.
   */
  digest(tick: number, peer: number): number | undefined {
    const rows = this.#ticks.get(tick)
    return (
      rows
      && [...rows.values()]
        .filter(({ owner, type }) => owner === peer && !this.#game.entities[type]!.isShared)
        .reduce(
          (sum, { id, type, values }) =>
            (sum
              + digestOfRow(
                id,
                this.#game.entities[type]!.shape,
                fromJson(values) as Values,
                (name) => name === 'slow',
              ))
            >>> 0,
          0,
        )
    )
  }

  /** `slow` is sent at 10 a second, by object in turn (docs/spec/replication.md). */
  #rated(name: string, tick: number, row: LoggedRow): LoggedRow {
    const { id } = row
    if (name !== 'slow') return row
    let due = tick
    while ((due + Math.floor(id / 65_536)) % 3 !== 0 && this.#ticks.get(due - 1)?.has(id) === true) due--
    return this.#ticks.get(due)!.get(id)!
  }
}

function valuesOf({ values }: LoggedRow): Values {
  return values as Values
}

const AUDIENCES = ['all', 'team', 'owner']

/** The fields of a row that differ from the log. */
function wrongFields(
  shape: PlainShape,
  set: number,
  row: readonly number[],
  logged: readonly (readonly number[])[],
): string[] {
  let lane = 0
  return Object.entries(shape).flatMap(([name, { options }], at) => {
    const lanes = row.slice(lane, lane += logged[at]!.length)
    const reach = AUDIENCES.indexOf(options.audience)
    return reach < 0 || reach > set || lanes.every((value, index) => value === logged[at]![index])
      ? []
      : [`${name}: ${lanes} is not ${logged[at]}`]
  })
}

const game = (number: number): PlainGame => readGameText(played.get(number)!.text, { nibbles: NIBBLES as never })
const counted = { rows: 0, wrong: 0, frames: 0, unacknowledged: 0, digests: 0 }

/** Reads the packets that a client received, and returns the differences from the log. */
function readAll(
  number: number,
  { packets, peer }: Tap,
  log: Log,
): { readonly wrong: string[]; readonly sets: Set<string>; readonly versions: Set<number>; readonly rows: number } {
  const { match, names } = played.get(number)!
  const { entities } = game(number)
  const reader = new ClientReader(game(number), {
    names,
    ...(match.codec === 'priors' && { priors: learnt as unknown as { [name: string]: PriorsFile } }),
  })
  const [wrong, sets, versions]: [string[], Set<string>, Set<number>] = [[], new Set(), new Set()]
  let rows = 0
  reader.onRow = ({ tick, id, type, set, owner, row }, version) => {
    rows++
    sets.add(`${names[type]} ${set}`)
    versions.add(version)
    const logged = log.lanes(tick, id)
    if (logged === undefined) wrong.push(`object ${id} is not there in tick ${tick}`)
    else
      wrong.push(
        ...(logged.owner === owner ? [] : [`owner ${owner} is not ${logged.owner}`]),
        ...wrongFields(entities[type]!.shape, set, row, logged.fields),
      )
  }
  reader.onTiming = ({ tick, digest }) => {
    const known = log.digest(tick, peer)
    if (digest === undefined || known === undefined) return
    counted.digests++
    if (digest !== known) wrong.push(`the digest of tick ${tick} is ${digest}, not ${known}`)
  }
  for (const packet of packets) reader.acceptPacket(packet)
  if (reader.broken > 0) wrong.push(`${reader.broken} frames are malformed`)
  counted.rows += rows
  counted.wrong += wrong.length
  counted.frames += [5, 9].reduce((sum, kind) => sum + (reader.counts.get(kind) ?? 0), 0)
  counted.unacknowledged += reader.unacknowledged
  return { wrong, sets, versions, rows }
}

test.each(NUMBERS.map((number) => [MATCHES[number]!.name, number] as const))(
  '[CODEC15] every row and digest of a real server is read from docs/wire alone: %s',
  (_name, number) => {
    const { match, taps } = played.get(number)!
    const log = new Log(join(folder, `${number}.jsonl`), game(number))
    for (const tap of taps) {
      const { wrong, sets, versions, rows } = readAll(number, tap, log)
      expect(wrong.slice(0, 5)).toEqual([])
      expect(rows).toBeGreaterThan(300)
      // Every field set (everyone's, the team's, the owner's) and every entity occurred.
      expect([...sets]).toEqual(
        expect.arrayContaining([
          'Everything 0',
          'Everything 1',
          'Everything 2',
          'Flyer 0',
          'Drifter 0',
          'Slider 0',
          'Crate 0',
        ]),
      )
      expect(versions.size > 1).toBe(match.retrains === true)
    }
  },
)

test('[CODEC15] thousands of rows were read, and next to no frame had a lost baseline', () => {
  console.log(
    `${counted.rows} rows in ${counted.frames} snapshot frames and ${counted.digests} digests compared, `
      + `${counted.wrong} wrong; ${counted.unacknowledged} frames without baseline`,
  )
  expect(counted.wrong).toBe(0)
  expect(counted.rows).toBeGreaterThan(300 * 2 * NUMBERS.length)
  expect(counted.digests).toBeGreaterThan(100)
  expect(counted.unacknowledged / counted.frames).toBeLessThan(0.02)
})

test('[ACK4] a client made from docs/wire joins a real server, and its acks set baselines', () => {
  for (const { match, taps } of played.values()) {
    if (match.hasOwnClient !== true) continue
    expect(taps).toHaveLength(3)
    const { packets } = taps[2]!
    const bytes = packets.reduce((sum, { length }) => sum + length, 0)
    const [sent = { packets: [] }] = taps
    const theirs = sent.packets.reduce((sum, { length }) => sum + length, 0)
    // Without acknowledgements every row would be full, and several times as long.
    expect(bytes / packets.length).toBeLessThan((2 * theirs) / sent.packets.length)
  }
})

test('[SCHEMA24] the text of a real game is written again from the grammar, with its fingerprint', () => {
  for (const { match, text } of played.values()) {
    expect(writeGameText(readGameText(text, { nibbles: NIBBLES as never }))).toBe(text)
    expect(fingerprintOf(text)).toBe(Buffer.from(makeGame(match, learnt).fingerprint).toString('hex'))
  }
})
