/**
 * A client's part in a desync: keeps the last ticks, reports, answers as the donor, and searches and heals as the
 * diverged client.
 *
 *   request ──▶ report, at once ──▶ verdict ──▶ donor: answers
 *                                         └──▶ diverged: search, finding, heal, trace, finding, done
 *
 * The report is made of what was kept when the tick was stepped, and is sent before code of the game runs, so that it
 * arrives even if a later part throws. Only a tick that was not hashed whole is hashed first: if that fails, the report
 * has no hash. A part that throws later ends the search, and its error is in the finding. The relay decides which state
 * is right; this class trusts only the root that the relay gives it.
 */

import type { Millis, Tick } from '../../base/time.ts'
import type { Sha256 } from '../../order/seed-share.ts'
import type { Root, SyncMessage } from '../../order/sync-messages.ts'
import type { LockstepRunner, RunnerWatch } from '../lockstep-runner.ts'
import type { CodeSite } from './code-site.ts'
import { decodeQuestion, encodeQuestion, type Question } from './descent-wire.ts'
import { CaseFile } from './donor.ts'
import { findingText, nameDifferences, type DesyncFinding } from './finding.ts'
import { ImageDonor } from '../image-donor.ts'
import { isCheckTick } from '../check-schedule.ts'
import { PlayerSealer } from '../player-sealer.ts'
import type { SealSigner } from '../../order/tick-sealer.ts'
import { StateHash } from '../../world/state-hash.ts'
import { History, type KeptWorld } from './history.ts'
import type { TraceRecord } from './write-trace.ts'
import { searchRepair, searchTrace, type Repair, type Search, type TraceFinding } from './search.ts'

/** The options of an agent. */
export interface AgentOptions {
  /** Sends a message to the relay. */
  readonly send: (message: SyncMessage) => void
  /** SHA-256, for the digests of images. */
  readonly sha256: Sha256
  /** Signs the local player's orders, if the match is recorded. Default: nothing is signed. */
  readonly signer?: SealSigner
  /** The engine and the build, for reports. */
  readonly machine: string
  /** Finds the line of the source for a line of a bundle. */
  readonly sourceLine?: (site: CodeSite) => Promise<CodeSite>
  /** This client differed, and was named or healed. */
  readonly onFinding?: (finding: DesyncFinding) => void
  /** A report about a desync of any client has arrived, as JSON. */
  readonly onReport?: (json: string) => void
}

type Case = Extract<SyncMessage, { kind: 'verdict' }>

/** A search that waits for an answer. */
interface Running {
  readonly verdict: Case
  readonly beganAt: Millis
  readonly seen: Root
  search: Search<Repair> | Search<TraceFinding>
  rounds: number
  bytes: number
  finding: DesyncFinding | undefined
  /** The tick up to which the repaired world was stepped. */
  healedTick: Tick
}

const GENERATOR_WORDS = 4
const PROBLEM_CHARS_MAX = 1000
const NO_BYTES = new Uint8Array(0)
const NO_ROOT: Root = { low: 0, high: 0 }

/** Takes part in finding and repairing differences between peers. */
export class DesyncAgent implements RunnerWatch {
  readonly #runner: LockstepRunner
  readonly #history: History
  readonly #options: AgentOptions
  readonly #donor: ImageDonor
  /** The watch that the runner had before. */
  readonly #before: RunnerWatch | undefined
  /** How often this client was repaired. */
  heals = 0
  /** A request for a tick that is not stepped yet. */
  #asked: Extract<SyncMessage, { kind: 'request' }> | undefined
  #sealer: PlayerSealer | undefined
  #file: CaseFile | undefined
  #fileCase = 0
  /** What code of the game has thrown in this case. Empty: nothing. */
  #problem = ''
  #running: Running | undefined

  constructor(runner: LockstepRunner, options: AgentOptions) {
    this.#runner = runner
    this.#options = options
    this.#history = new History(runner.game, runner.world)
    this.#donor = new ImageDonor(this.#history, options.sha256, options.send)
    this.#before = runner.watch
    runner.watch = this
  }

  handleStepped(_tick: Tick, low: number, high: number): void {
    this.#before?.handleStepped(_tick, low, high)
    const { tick, roster, world } = this.#runner
    this.#history.save(roster, low, high)
    if (isCheckTick(tick, world, roster)) this.#options.send({ kind: 'root', tick, root: { low, high } })
    this.#sealer?.handleStepped(tick)
    if (this.#asked !== undefined && this.#asked.tick <= this.#runner.tick) this.#report(this.#asked)
    this.#donor.handleStepped(this.#runner.tick)
  }

  handleReplaced(tick: Tick): void {
    this.#before?.handleReplaced?.(tick)
  }

  handleDesync(level: number): void {
    this.#before?.handleDesync?.(level)
  }

  /** There is a new connection: requests on the old one are void. */
  restart(): void {
    this.#asked = undefined
    this.#running = undefined
    this.#donor.restart()
    this.#closeFile()
  }

  /** Goes back to a past tick of the match. False: its world is not kept. */
  rewind(tick: Tick): boolean {
    const kept = this.#history.open(tick)
    if (kept === undefined) return false
    this.#runner.rewind(kept.world, kept.roster)
    this.#history.discard(kept.world)
    this.#sealer?.rewind(tick)
    return true
  }

  handleMessage(now: Millis, message: SyncMessage): void {
    switch (message.kind) {
      case 'request':
        if (message.tick > this.#runner.tick) this.#asked = message
        else this.#report(message)
        break
      case 'verdict':
        this.#handleVerdict(now, message)
        break
      case 'ask':
        this.#handleAsk(message.case, message.bytes)
        break
      case 'answer':
        if (this.#running?.verdict.case === message.case) this.#resume(now, this.#running, message.bytes)
        break
      case 'sealing':
        this.#beginSealing(message.tick)
        break
      case 'wanted':
        this.#donor.handleWanted(message, this.#runner.tick)
        break
      case 'summary':
        this.#options.onReport?.(message.text)
        break
      default:
        break
    }
  }

  /** The match is recorded. `from`: its newest tick, if this process has just taken the seat. */
  #beginSealing(from: Tick): void {
    const { signer, sha256, send } = this.#options
    if (signer !== undefined) this.#sealer ??= new PlayerSealer(this.#runner, from, sha256, signer, send)
  }

  /** Sends the report. After that it makes the worlds of the case, which runs code of the game. */
  #report(request: Extract<SyncMessage, { kind: 'request' }>): void {
    this.#asked = undefined
    const { case: number, tick, level } = request
    const history = this.#history
    const kept = history.has(tick) ? tick : history.oldest > tick ? history.oldest : 0
    this.#problem = ''
    const known = knownRoot(history.rootOf(tick))
    const early = known === undefined && kept > 0 ? this.#attempt(() => openHashed(history, kept)) : undefined
    const held = known === undefined && early === undefined ? 0 : kept
    this.#options.send({
      kind: 'report', case: number, tick, held, machine: this.#options.machine, root: known ?? early?.root ?? NO_ROOT,
      generator: history.generatorOf(kept) ?? new Array<number>(GENERATOR_WORDS).fill(0),
    })
    this.#closeFile()
    this.#runner.watch?.handleDesync?.(level)
    this.#fileCase = number
    if (held > 0) this.#file = this.#attempt(() => this.#openFile(held, early?.kept))
  }

  #openFile(held: Tick, early: KeptWorld | undefined): CaseFile | undefined {
    const history = this.#history
    const kept = early ?? history.open(held)
    return kept && new CaseFile(this.#runner, history, kept, this.#attempt(() => history.open(held - 1)))
  }

  /** Runs code that makes worlds. Undefined: it has thrown, and the error is kept for the finding. */
  #attempt<T>(run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      // reason: the game's code may throw anything
      this.#problem = String(error)
      return undefined
    }
  }

  #closeFile(): void {
    this.#file?.close()
    this.#file = undefined
  }

  #handleVerdict(now: Millis, verdict: Case): void {
    if (this.#fileCase !== verdict.case || verdict.role !== 'diverged') return
    const file = this.#file
    if (file?.tick !== verdict.tick) return this.#refuse(verdict)
    const [low, high] = file.hash.value
    this.#running = {
      verdict, beganAt: now, seen: { low, high }, search: searchRepair(file, verdict.root), rounds: 0, bytes: 0,
      finding: undefined, healedTick: 0,
    }
    this.#resume(now, this.#running, undefined)
  }

  #handleAsk(number: number, bytes: Uint8Array): void {
    const question = decodeQuestion(bytes)
    const file = this.#file
    if (question === undefined || this.#fileCase !== number) return
    // No bytes are no answer: the diverged client asks the next donor at once.
    const answer = file && this.#attempt(() => this.#history.borrow(() => file.answer(question)))
    this.#options.send({ kind: 'answer', case: number, bytes: answer ?? NO_BYTES })
  }

  /** Goes on with the answer to the last question. */
  #resume(now: Millis, running: Running, answer: Uint8Array | undefined): void {
    running.bytes += answer?.length ?? 0
    const next = this.#attempt(() => running.search.next(answer as Uint8Array))
    if (next === undefined) {
      if (running.finding === undefined) this.#refuse(running.verdict)
      else void this.#handleTrace(running, { kind: 'unknown' })
      return
    }
    if (next.done !== true) {
      this.#ask(running, next.value)
      return
    }
    if (running.finding === undefined) this.#handleRepair(now, running, next.value as Repair)
    else void this.#handleTrace(running, next.value as TraceFinding)
  }

  #ask(running: Running, question: Question): void {
    const bytes = encodeQuestion(question)
    running.rounds++
    running.bytes += bytes.length
    this.#options.send({ kind: 'ask', case: running.verdict.case, bytes })
  }

  /** The majority's world is known: name the differences, repair the local world, and look for the cause. */
  #handleRepair(now: Millis, running: Running, { world, indexes, entities }: Repair): void {
    const { verdict, rounds, bytes } = running
    const file = this.#file
    if (world === undefined || file === undefined) return this.#refuse(verdict)
    const differences = this.#history.borrow(() => nameDifferences(file.world, world, indexes))
    const finding: DesyncFinding = {
      tick: verdict.tick, objects: indexes.length, entities, differences, rounds, bytes,
      text: findingText(verdict.tick, differences),
    }
    this.#send(verdict.case, finding)
    running.finding = finding
    if (verdict.mayHeal) {
      this.#heal(file, world)
      running.healedTick = this.#runner.tick
      running.finding = { ...finding, healMs: now - running.beganAt }
      this.#send(verdict.case, running.finding)
    }
    this.#history.discard(world)
    running.search = searchTrace(file, verdict.root, running.seen)
    this.#resume(now, running, undefined)
  }

  /** Makes the live world the majority's, and steps it up to the present. */
  #heal(file: CaseFile, repaired: CaseFile['world']): void {
    const runner = this.#runner
    const { tick: present } = runner
    this.#history.replaceBy(repaired)
    runner.roster.restore(file.roster)
    for (const cache of runner.game.derived ?? []) cache.rebuild(runner.world)
    this.#keep()
    for (let tick = file.tick + 1; tick <= present; tick++) {
      runner.replay(runner.world, runner.roster, tick)
      this.#keep()
    }
    this.heals++
    runner.watch?.handleReplaced?.(present)
  }

  #keep(): void {
    const [low, high] = this.#runner.hash.update()
    this.#history.save(this.#runner.roster, low, high)
  }

  async #handleTrace(running: Running, found: TraceFinding): Promise<void> {
    const { verdict, finding } = running
    const { sourceLine } = this.#options
    const hasSite = found.own?.site !== undefined || found.theirs?.site !== undefined
    const trace = sourceLine === undefined || !hasSite ? found : await inSource(found, sourceLine)
    if (finding === undefined || this.#running !== running) return
    this.#send(verdict.case, { ...finding, trace, text: findingText(finding.tick, finding.differences, trace) })
    this.#options.send({
      kind: 'done', case: verdict.case, outcome: verdict.mayHeal ? 'healed' : 'named', tick: running.healedTick,
    })
    this.#end()
  }

  #send(number: number, finding: DesyncFinding): void {
    this.#options.send({ kind: 'finding', case: number, text: JSON.stringify(finding) })
    if (finding.trace !== undefined) this.#options.onFinding?.(finding)
  }

  /** This donor is of no use. The worlds are kept: the relay gives the next donor. */
  #refuse({ case: number, tick }: Case): void {
    if (this.#problem !== '') {
      const text = `tick ${tick}: code of the game has thrown: ${this.#problem}`.slice(0, PROBLEM_CHARS_MAX)
      this.#options.send({ kind: 'finding', case: number, text: JSON.stringify({ tick, text }) })
    }
    this.#options.send({ kind: 'done', case: number, outcome: 'refused', tick: this.#runner.tick })
    this.#running = undefined
  }

  #end(): void {
    this.#running = undefined
    this.#closeFile()
  }
}

/** The finding with lines of the source instead of lines of a bundle, where they can be found. */
async function inSource(
  found: TraceFinding, sourceLine: (site: CodeSite) => Promise<CodeSite>,
): Promise<TraceFinding> {
  const mapped = async (record: TraceRecord | undefined): Promise<TraceRecord | undefined> => {
    if (record?.site === undefined) return record
    try {
      return { ...record, site: await sourceLine(record.site) }
    } catch {
      // reason: without a map the line of the bundle is still a line
      return record
    }
  }
  return { ...found, own: await mapped(found.own), theirs: await mapped(found.theirs) }
}

/** Undefined when the tick was not hashed whole. */
function knownRoot(root: Root | undefined): Root | undefined {
  return root === undefined || (root.low === 0 && root.high === 0) ? undefined : root
}

/** A kept world and its hash. Undefined: not kept. */
function openHashed(history: History, tick: Tick): { readonly kept: KeptWorld; readonly root: Root } | undefined {
  const kept = history.open(tick)
  if (kept === undefined) return undefined
  const [low, high] = new StateHash(kept.world).update()
  return { kept, root: { low, high } }
}
