/**
 * `tickwire rtype`: a client for servers of the R-Type protocol, in a terminal. It plays by itself, prints what
 * happens, and reports for each rule of docs/wire/RTYPE.md whether the server follows it. With `--play` a person plays.
 */

import { lookup } from 'node:dns/promises'
import { parseArgs } from 'node:util'
import { RTYPE_FLAG } from '../core/rtype/header.ts'
import { RTYPE } from '../core/rtype/values.ts'
import { UsageError, type AsyncCommand, type CommandWorld } from './command.ts'
import { codeOf } from './file-option.ts'
import { readCountOption } from './recording-option.ts'
import { ASKING_CHECKS } from './rtype/asking-checks.ts'
import { Keyboard } from './rtype/keyboard.ts'
import { RECORDED_CHECKS } from './rtype/recorded-checks.ts'
import { drawClientId, MARK, Visit, type VisitRecord } from './rtype/visit.ts'
import { WorldView } from './rtype/world-view.ts'
import type { Arrival, Target } from './rtype/wire.ts'

const OPTIONS = {
  name: { type: 'string', default: 'Tester' },
  seconds: { type: 'string' },
  patience: { type: 'string' },
  only: { type: 'string', multiple: true },
  quick: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  play: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const SECONDS = 6
const SECONDS_MIN = 3
const SECONDS_MAX = 3600
const PATIENCE_MS = 3000
const PORT_MAX = 65_535
const NAME_BYTES_MAX = 31
const STATUS_MS = 1000
const FRAME_MS = 100
const COLUMNS = 76
const ROWS = 18

type Outcome = 'pass' | 'fail' | 'not tried'

interface ReportLine {
  readonly id: string
  readonly outcome: Outcome
  readonly section: string
  readonly says: string
  readonly seen: string
}

/** The checks that a run has. */
export const RTYPE_CHECKS: readonly { readonly id: string; readonly section: string; readonly says: string }[] = [
  ...RECORDED_CHECKS, ...ASKING_CHECKS,
]

/** Plays on an R-Type server, and checks it. */
export const rtype: AsyncCommand = {
  summary: 'play on an R-Type server in the terminal, and check it rule by rule',
  help: `
tickwire rtype HOST:PORT [options]

Connects to a server of the R-Type protocol over UDP, plays by itself for some seconds, prints what happens, and reports
for each rule of docs/wire/RTYPE.md whether the server follows it. The server receives invalid packets, too.

  --name NAME     the player's name, 1 to ${NAME_BYTES_MAX} bytes ("Tester")
  --seconds S     how long it plays, ${SECONDS_MIN} to ${SECONDS_MAX} (${SECONDS})
  --play          play with the keyboard, and check nothing: arrows or WASD to fly, space to fire, x to charge,
                  c for the Force, q to leave
  --only ID       report this check only; may be repeated
  --quick         skip the check that waits for 10 s
  --list          print the checks and run none
  --quiet         print the report only
  --patience MS   how long an answer may take, 200 to 10000 (${PATIENCE_MS})
  --json          print one line of JSON

Exit code: 0 all checks passed; 1 a check failed, or the server accepted no connection.`,
  async run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const chosen = chosenIds(values.only, values.quick)
    if (values.list) {
      for (const { id, says, section } of RTYPE_CHECKS) world.print(`${id.padEnd(18)}${says}  [${section}]`)
      return 0
    }
    const name = nameOption(values.name)
    const seconds = readCountOption('--seconds', values.seconds, SECONDS, SECONDS_MIN, SECONDS_MAX)
    const target = await targetOf(positionals, readCountOption('--patience', values.patience, PATIENCE_MS, 200, 10_000))
    const draw = (): number => drawClientId(world.entropy)
    if (values.play) return await play(target, name, draw(), world)
    const hasStory = !values.quiet && !values.json
    const lines = await examine(target, { name, seconds, draw, chosen }, hasStory ? world : undefined)
    return report(lines, values.json, world)
  },
}

interface Examination {
  readonly name: string
  readonly seconds: number
  readonly draw: () => number
  readonly chosen: ReadonlySet<string>
}

async function examine(
  target: Target, { name, seconds, draw, chosen }: Examination, story: CommandWorld | undefined,
): Promise<ReportLine[]> {
  const narrator = new Narrator(story)
  const record = await Visit.run(target, {
    name, clientId: draw(), playMs: seconds * 1000, isProbing: true, inputAt: autopilot,
    onArrival: (arrival) => narrator.handle(arrival), onStep: () => narrator.step(),
  })
  narrator.end(record)
  const lines: ReportLine[] = []
  if (record.accepted === undefined) requireServer(target, record)
  for (const { id, section, says, judge } of RECORDED_CHECKS) {
    if (!chosen.has(id)) continue
    const isTried = record.accepted !== undefined || id === 'accept'
    const seen = isTried ? (record.accepted === undefined ? refusalOf(record) : judge(record)) : 'not accepted'
    lines.push({ id, section, says, seen: seen ?? '', outcome: outcomeOf(isTried, seen) })
  }
  for (const { id, section, says, run } of ASKING_CHECKS) {
    if (!chosen.has(id)) continue
    const seen = await run(target, draw())
    lines.push({ id, section, says, seen: seen ?? '', outcome: outcomeOf(true, seen) })
  }
  return lines
}

function outcomeOf(isTried: boolean, seen: string | undefined): Outcome {
  if (!isTried) return 'not tried'
  return seen === undefined ? 'pass' : 'fail'
}

/** Throws where there is no server at all. */
function requireServer({ host, port, answerMs }: Target, { rejected, error }: VisitRecord): void {
  if (rejected !== undefined) return
  const cause = error === undefined ? `no answer in ${answerMs} ms` : error
  throw new UsageError(
    `${host}:${port}: no R-Type server answers (${cause}). `
      + `Fix: start one, such as npm start -- shmup --rtype-port ${port}.`,
  )
}

function refusalOf({ rejected }: VisitRecord): string {
  return `rejected with code ${rejected?.rejectCode ?? 255}: ${rejected?.reasonMessage ?? ''}`
}

function report(lines: readonly ReportLine[], isJson: boolean, world: CommandWorld): number {
  const count = (outcome: Outcome): number => lines.filter((line) => line.outcome === outcome).length
  const [pass, fail, notTried] = [count('pass'), count('fail'), count('not tried')]
  if (isJson) world.print(JSON.stringify({ pass, fail, notTried, checks: lines }))
  else {
    for (const { id, outcome, says, seen, section } of lines) {
      world.print(`${outcome.padEnd(11)}${id.padEnd(18)}${says}`)
      if (seen !== '') world.print(`${' '.repeat(29)}but: ${seen}  [${section}]`)
    }
    world.print(`PASS: ${pass} FAIL: ${fail} NOT TRIED: ${notTried} TOTAL: ${lines.length}`)
  }
  return fail + notTried === 0 ? 0 : 1
}

/** Prints what happens, and the state once a second. */
class Narrator {
  readonly #world: CommandWorld | undefined
  readonly #view: WorldView = new WorldView()
  #at: number = 0
  #statusAt: number = STATUS_MS
  #bytes: number = 0
  #count: number = 0
  #acceptedAt: number = 0
  #rttMs: number | undefined = undefined
  /** Sequences of reliable packets: copies of them are not printed. */
  readonly #seen: Set<number> = new Set()

  constructor(world: CommandWorld | undefined) {
    this.#world = world
  }

  handle({ at, bytes, read }: Arrival): void {
    this.#at = at
    this.#count++
    this.#bytes += bytes.length
    if (typeof read === 'string') return this.#say(`a datagram of ${bytes.length} bytes cannot be read: ${read}`)
    const { packet, header } = read
    if ((header.flags & RTYPE_FLAG.RELIABLE) !== 0) {
      if (this.#seen.has(header.sequence)) return
      this.#seen.add(header.sequence)
    }
    if (packet.type === 'SERVER_ACCEPT') {
      if (this.#acceptedAt > 0) return
      this.#acceptedAt = at
    }
    const isPong = packet.type === 'PONG' && packet.clientTimestamp < MARK.magic
    if (isPong) this.#rttMs = Math.max(0, at - this.#acceptedAt - packet.clientTimestamp)
    const event = this.#view.handle(at, packet)
    if (event !== undefined) this.#say(event)
  }

  step(): void {
    if (this.#at < this.#statusAt) return
    this.#statusAt += STATUS_MS
    const rtt = this.#rttMs === undefined ? '' : `, round trip ${this.#rttMs.toFixed(1)} ms`
    this.#say(`${this.#view.summary()}; ${this.#count} packets, ${this.#bytes} bytes${rtt}`)
    this.#count = 0
    this.#bytes = 0
  }

  end({ arrivals }: VisitRecord): void {
    const names = new Set(arrivals.flatMap(({ read }) => typeof read === 'string' ? [] : [read.packet.type]))
    this.#say(`${arrivals.length} datagrams of ${names.size} kinds arrived`)
  }

  #say(text: string): void {
    this.#world?.print(`${(this.#at / 1000).toFixed(1).padStart(6)} s  ${text}`)
  }
}

/** Up and down, with fire, and the other buttons from time to time. */
function autopilot(ms: number): number {
  const { MOVE_UP, MOVE_DOWN, FIRE_PRIMARY, FIRE_SECONDARY, ACTION_SPECIAL } = RTYPE.INPUT
  const way = ms % 1600 < 800 ? MOVE_DOWN : MOVE_UP
  return way | (ms % 3000 < 2400 ? FIRE_PRIMARY : FIRE_SECONDARY) | (ms % 4000 < 50 ? ACTION_SPECIAL : 0)
}

async function play(target: Target, name: string, clientId: number, world: CommandWorld): Promise<number> {
  const { stdin, stdout } = process
  if (!stdin.isTTY) throw new UsageError('--play: standard input is not a terminal. Fix: run it in a terminal.')
  const keyboard = new Keyboard()
  const view = new WorldView()
  let [news, frameAt] = ['', 0]
  const press = (text: Buffer): void => keyboard.press(text.toString(), performance.now())
  stdin.setRawMode(true)
  stdin.on('data', press)
  try {
    const record = await Visit.run(target, {
      name, clientId, playMs: SECONDS_MAX * 1000, isProbing: false,
      inputAt: () => keyboard.bits(performance.now()),
      onArrival: ({ read }) => {
        if (typeof read !== 'string') news = view.handle(performance.now(), read.packet) ?? news
      },
      onStep: (ms) => {
        if (ms < frameAt) return
        frameAt = ms + FRAME_MS
        const field = view.draw(performance.now(), COLUMNS, ROWS).join('\r\n')
        stdout.write(`\u001b[H\u001b[2J${field}\r\n${view.summary()}\r\n${news}\r\n`)
      },
      isOver: () => keyboard.wantsToLeave,
    })
    if (record.accepted === undefined) requireServer(target, record)
    world.print(record.rejected === undefined ? view.summary() : refusalOf(record))
    return record.rejected === undefined ? 0 : 1
  } finally {
    stdin.off('data', press)
    stdin.setRawMode(false)
    stdin.pause()
  }
}

function chosenIds(only: readonly string[] | undefined, isQuick: boolean): ReadonlySet<string> {
  const unknown = only?.find((id) => !RTYPE_CHECKS.some((check) => check.id === id))
  if (unknown !== undefined) throw new UsageError(`--only: unknown check "${unknown}". Fix: --list prints all checks.`)
  const slow = new Set(ASKING_CHECKS.filter(({ isSlow }) => isSlow).map(({ id }) => id))
  return new Set(only ?? RTYPE_CHECKS.map(({ id }) => id).filter((id) => !isQuick || !slow.has(id)))
}

function nameOption(name: string): string {
  const bytes = Buffer.byteLength(name)
  if (bytes >= 1 && bytes <= NAME_BYTES_MAX) return name
  throw new UsageError(`--name: expected 1 to ${NAME_BYTES_MAX} bytes, got ${bytes}. Fix: give another name.`)
}

async function targetOf(positionals: readonly string[], answerMs: number): Promise<Target> {
  const [address] = positionals
  if (address === undefined || positionals.length > 1) throw new UsageError('Give one server, as HOST:PORT.')
  const match = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(address)
  const port = Number(match?.[2])
  if (match === null || port < 1 || port > PORT_MAX)
    throw new UsageError(`"${address}" is not HOST:PORT. Fix: write localhost:4242, with a port from 1 to ${PORT_MAX}.`)
  const host = match[1] ?? ''
  const found = await lookup(host).catch((error: unknown) => {
    throw new UsageError(`${host}: host not found (${codeOf(error)}). Fix: give a host name or an address.`)
  })
  return { host: found.address, port, family: found.family === 6 ? 6 : 4, answerMs }
}
