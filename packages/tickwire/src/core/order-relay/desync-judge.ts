/**
 * Decides desyncs. The pulses show that players differ; the judge requests the whole hash of all players, takes the
 * majority's state as right, and lets each diverged player search and repair itself with the help of a donor.
 *
 *   difference ──▶ request to all ──▶ reports ──▶ verdict ──▶ asks and answers, passed on ──▶ done ──▶ report
 *
 * It has no game: it compares hashes, and passes on messages that it cannot read. Without a majority a referee decides,
 * or `tie`. Its memory is one case; a player that differs meanwhile is looked at after it.
 */

import {
  DESYNC_CASE_BYTES_MAX, DESYNC_CASE_MS, DESYNC_CASE_MS_MAX, DESYNC_REPORTS_MAX, HEALS_MAX, HEALS_MS,
} from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import { rootText, type DesyncReport, type DesyncVerdict, type DivergedReport } from '../order/desync-report.ts'
import type { Root, SyncMessage } from '../order/sync-messages.ts'
import type { TickLog } from '../order/tick-log.ts'
import { groupsOf, rootOf, type DesyncCase } from './desync-case.ts'
import type { DesyncRules, JudgedPlayer, JudgeEvent, Outgoing } from './desync-rules.ts'

export type { DesyncRules, JudgedPlayer, JudgeEvent, Outgoing } from './desync-rules.ts'

const REPORTS_MS = 4000
/** How often a case looks whether slow players have stepped its tick. */
const LOOK_MS = 500
/** After a case without a difference, a player that claims to differ is ignored for this long, each time longer. */
const LIE_MS = 10_000
const EXCERPT_TICKS = 60
const MOVES_MAX = 3
/** Ticks from the newest tick to the tick that all players compare. */
const MOVE_TICKS = 3
const FINDING_CHARS_MAX = 16_000

/** The judge of one match. */
export class DesyncJudge {
  /** Cases, repaired players, players that could not be repaired, and cases in which all states were equal. */
  readonly counts: { cases: number; healed: number; failed: number; lies: number; void: number } = {
    cases: 0, healed: 0, failed: 0, lies: 0, void: 0,
  }
  readonly #rules: Required<DesyncRules>
  readonly #log: TickLog
  readonly #seed: number
  readonly #players: () => readonly JudgedPlayer[]
  #case: DesyncCase | undefined
  #moves = 0
  #out: Outgoing[] = []
  #events: JudgeEvent[] = []
  /** When a player was repaired, or could not be. */
  readonly #heals = new Map<PeerId, Millis[]>()
  /** Differences of a player up to this tick are known; and until when the player is ignored. */
  readonly #settled = new Map<PeerId, Tick>()
  readonly #mutedUntil = new Map<PeerId, Millis>()
  /** How often a player claimed to differ and did not. */
  readonly #lies = new Map<PeerId, number>()
  /** Reports of cases in which no player differed. */
  #emptyReports = 0

  constructor(log: TickLog, seed: number, players: () => readonly JudgedPlayer[], rules: DesyncRules = {}) {
    this.#log = log
    this.#seed = seed
    this.#players = players
    this.#rules = { tie: 'first', heal: true, hasReferee: false, debugLevel: 0, ...rules }
  }

  /** Whether a player may send a large message now: it is the donor. */
  isDonor(peer: PeerId): boolean {
    return this.#case?.stage === 'search' && this.#case.donor === peer
  }

  /** Messages to send since the last call. */
  take(): readonly Outgoing[] {
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** Decisions since the last call. */
  takeEvents(): readonly JudgeEvent[] {
    const events = this.#events
    if (events.length > 0) this.#events = []
    return events
  }

  /** The pulse of a player differs in a tick. */
  handleDifference(now: Millis, peer: PeerId, tick: Tick): void {
    if (this.#case !== undefined) return
    if (tick <= (this.#settled.get(peer) ?? 0) || now < (this.#mutedUntil.get(peer) ?? 0)) return
    const players = this.#players().map((each) => each.peer)
    if (players.length < 2) return
    this.counts.cases++
    this.#moves = 0
    this.#case = {
      number: this.counts.cases, openedAt: now, firstTick: tick, accused: peer, players, tick, reports: new Map(),
      deadline: now + REPORTS_MS, stage: 'reports', verdict: 'unknown', root: undefined, waiting: [], current: 0,
      donor: 0, donors: [], beganAt: now, bytes: 0, finding: null, results: [],
    }
    this.#request(this.#case)
  }

  handleMessage(now: Millis, peer: PeerId, message: SyncMessage): void {
    const open = this.#case
    if (open === undefined || !('case' in message) || message.case !== open.number) return
    switch (message.kind) {
      case 'report':
        if (open.stage !== 'reports' || message.tick !== open.tick || !open.players.includes(peer)) return
        open.reports.set(peer, message)
        if (open.reports.size === open.players.length) this.#judge(now, open)
        break
      case 'ask':
        if (peer === open.current) this.#pass(now, open, open.donor, message)
        break
      case 'answer':
        if (peer === open.donor) this.#pass(now, open, open.current, message)
        break
      case 'finding':
        if (peer === open.current && message.text.length <= FINDING_CHARS_MAX) open.finding = parsed(message.text)
        break
      case 'done':
        if (peer === open.current && open.stage === 'search') this.#handleDone(now, open, message.outcome, message.tick)
        break
      default:
        break
    }
  }

  /** A player has left or is away. */
  handleGone(now: Millis, peer: PeerId): void {
    const open = this.#case
    if (open === undefined) return
    if (open.stage === 'reports') {
      open.players = open.players.filter((each) => each !== peer)
      open.reports.delete(peer)
      if (open.reports.size >= open.players.length) this.#judge(now, open)
      return
    }
    open.waiting = open.waiting.filter((each) => each !== peer)
    open.donors = open.donors.filter((each) => each !== peer)
    if (open.current === peer) this.#end(now, open, 'timed-out')
    else if (open.donor === peer) this.#retry(now, open)
  }

  /** The referee's hash of the tick that it was asked for. Undefined: it cannot decide. */
  decide(now: Millis, tick: Tick, root: Root | undefined): void {
    const open = this.#case
    if (open === undefined || open.stage !== 'referee' || open.tick !== tick) return
    if (root === undefined) this.#break(now, open)
    else this.#sentence(now, open, 'referee', root)
  }

  tick(now: Millis): void {
    const open = this.#case
    if (open === undefined || now < open.deadline) return
    if (open.stage === 'reports') this.#waitOrJudge(now, open)
    else if (open.stage === 'referee') this.#break(now, open)
    else this.#retry(now, open)
  }

  /** The match is closed: a case that is open is reported with what is known. */
  close(now: Millis): void {
    if (this.#case !== undefined) this.#close(now, this.#case, this.#case.verdict)
  }

  /** When `tick` must be called at the latest. Infinity: there is no case. */
  nextAt(): Millis {
    return this.#case?.deadline ?? Infinity
  }

  /**
   * Some reports are missing. A slow page steps the tick later than the others and reports it then: the time for a
   * report begins when its player has stepped the tick. A majority does not wait.
   */
  #waitOrJudge(now: Millis, open: DesyncCase): void {
    const isSlow = this.#players().some(({ peer, executed }) =>
      executed < open.tick && open.players.includes(peer) && !open.reports.has(peer))
    const isDecided = 2 * (groupsOf(open)[0]?.length ?? 0) > open.players.length
    if (isSlow && !isDecided && now < open.openedAt + DESYNC_CASE_MS_MAX) open.deadline = now + LOOK_MS
    else this.#judge(now, open)
  }

  #request({ number, tick, players }: DesyncCase): void {
    const { debugLevel: level } = this.#rules
    for (const to of players) this.#out.push({ to, message: { kind: 'request', case: number, tick, level } })
  }

  /** All reports are there, or no more are waited for. */
  #judge(now: Millis, open: DesyncCase): void {
    const held = Math.max(...[...open.reports.values()].map((report) => report.held), 0)
    if (held > open.tick && this.#moves < MOVES_MAX) {
      // The tick is too long ago for a player. All compare a future tick: every player keeps it when it steps it, also
      // a page that answers late.
      this.#moves++
      open.tick = Math.max(held, this.#log.newest + MOVE_TICKS)
      open.reports = new Map()
      open.deadline = now + REPORTS_MS
      this.#request(open)
      return
    }
    const groups = groupsOf(open)
    // A diverged player whose report is late does not lie: without it, nothing was compared.
    const isCompared = open.reports.has(open.accused) && open.reports.size > 1
    if (groups.length < 2) return this.#close(now, open, isCompared ? 'equal' : 'unknown')
    const [largest] = groups
    if (2 * largest.length > open.players.length)
      return this.#sentence(now, open, 'majority', rootOf(open, largest[0]))
    // A player that has not reported may make a majority: it is asked again later.
    if (open.reports.size < open.players.length) return this.#close(now, open, 'unknown')
    if (!this.#rules.hasReferee) return this.#break(now, open)
    open.stage = 'referee'
    open.deadline = now + DESYNC_CASE_MS
    this.#events.push({ kind: 'referee', tick: open.tick })
  }

  /** No state has a majority, and there is no referee. */
  #break(now: Millis, open: DesyncCase): void {
    if (this.#rules.tie === 'void') {
      this.counts.void++
      this.#events.push({ kind: 'void' })
    }
    const first = Math.min(...open.reports.keys())
    const root = rootOf(open, first)
    this.#sentence(now, open, this.#rules.tie, root)
  }

  #sentence(now: Millis, open: DesyncCase, verdict: DesyncVerdict, root: Root | undefined): void {
    open.verdict = verdict
    open.root = root
    if (root === undefined) return this.#close(now, open, verdict)
    const isRight = (peer: PeerId): boolean => {
      const own = rootOf(open, peer)
      return own?.low === root.low && own.high === root.high
    }
    const rtt = new Map(this.#players().map(({ peer, rttMs }) => [peer, rttMs]))
    const present = [...open.reports].filter(([peer, report]) => rtt.has(peer) && report.held === open.tick)
    open.waiting = present.map(([peer]) => peer).filter((peer) => !isRight(peer))
    open.donors = present.map(([peer]) => peer).filter(isRight)
      .sort((a, b) => (rtt.get(a) ?? 0) - (rtt.get(b) ?? 0) || a - b)
    open.stage = 'search'
    this.#next(now, open)
  }

  /** The next diverged player. */
  #next(now: Millis, open: DesyncCase): void {
    const next = open.waiting.shift()
    const [donor] = open.donors
    if (next === undefined || donor === undefined) return this.#close(now, open, open.verdict)
    open.current = next
    open.finding = null
    this.#start(now, open, donor)
  }

  #start(now: Millis, open: DesyncCase, donor: PeerId): void {
    const { number, tick, root, current } = open
    if (root === undefined) return
    open.donor = donor
    open.bytes = 0
    open.beganAt = now
    open.deadline = now + DESYNC_CASE_MS
    const mayHeal = this.#rules.heal && open.verdict !== 'void'
    this.#out.push({ to: donor, message: { kind: 'verdict', case: number, tick, role: 'donor', mayHeal, root } })
    this.#out.push({ to: current, message: { kind: 'verdict', case: number, tick, role: 'diverged', mayHeal, root } })
  }

  #pass(now: Millis, open: DesyncCase, to: PeerId, message: Extract<SyncMessage, { bytes: Uint8Array }>): void {
    open.bytes += message.bytes.length
    if (open.bytes > DESYNC_CASE_BYTES_MAX) return this.#retry(now, open)
    // Each round has its own time: pages that draw slowly need half a second for one, and there are a dozen.
    open.deadline = Math.min(now + DESYNC_CASE_MS, open.beganAt + DESYNC_CASE_MS_MAX)
    this.#out.push({ to, message })
  }

  #handleDone(now: Millis, open: DesyncCase, outcome: 'named' | 'healed' | 'refused', tick: Tick): void {
    if (outcome === 'refused' && open.donors.length > 1) return this.#retry(now, open)
    if (outcome === 'healed') this.#settle(open, Math.min(tick, this.#log.newest))
    this.#end(now, open, outcome)
  }

  /** Pulses up to a tick are from before the repair. Between two players, both count as different. */
  #settle({ players }: DesyncCase, tick: Tick): void {
    for (const peer of players) this.#settled.set(peer, Math.max(tick, this.#settled.get(peer) ?? 0))
  }

  /** The donor failed: the next one is tried. */
  #retry(now: Millis, open: DesyncCase): void {
    const { healMs } = (open.finding ?? {}) as { healMs?: unknown }
    // The player is repaired; only the cause is not known.
    if (healMs !== undefined) {
      this.#settle(open, this.#log.newest)
      return this.#end(now, open, 'healed')
    }
    open.donors = open.donors.filter((each) => each !== open.donor)
    const [next] = open.donors
    if (next === undefined) this.#end(now, open, 'timed-out')
    else this.#start(now, open, next)
  }

  /** The search of the current player is over. */
  #end(now: Millis, open: DesyncCase, outcome: DivergedReport['outcome']): void {
    const { current: player, donor, finding } = open
    open.results.push({ player, outcome, donor, finding })
    if (outcome === 'healed') this.counts.healed++
    else if (outcome !== 'named') this.counts.failed++
    if (outcome !== 'named') this.#count(now, player)
    else if (open.verdict === 'void' || open.verdict === 'first') this.#settle(open, Infinity)
    else this.#settled.set(player, Infinity)
    if (outcome !== 'named' && outcome !== 'healed') this.#mutedUntil.set(player, now + LIE_MS)
    this.#next(now, open)
  }

  #count(now: Millis, peer: PeerId): void {
    const recent = [...(this.#heals.get(peer) ?? []), now].filter((at) => at > now - HEALS_MS)
    this.#heals.set(peer, recent)
    if (recent.length >= HEALS_MAX) this.#events.push({ kind: 'desynced', peer })
  }

  #close(now: Millis, open: DesyncCase, verdict: DesyncVerdict): void {
    this.#case = undefined
    if (verdict === 'equal') this.counts.lies++
    const right = open.root
    const players = [...open.reports].sort(([a], [b]) => a - b).map(([player, { tick, root, generator, machine }]) => ({
      player, tick, stateHash: rootText(root), machine,
      isDiverged: right !== undefined && rootText(root) !== rootText(right),
      rngState: generator.map((word) => word.toString(16).padStart(8, '0')).join(''),
    }))
    if (verdict === 'equal') this.#muteLiar(now, open)
    else if (verdict === 'unknown') for (const peer of open.players) this.#mutedUntil.set(peer, now + REPORTS_MS)
    // A player that claims to differ again and again fills no disk.
    if (open.results.length === 0 && ++this.#emptyReports > DESYNC_REPORTS_MAX) return
    const report: DesyncReport = {
      version: 1, seed: this.#seed, tick: open.firstTick, verdict, players,
      stateHash: right === undefined ? '' : rootText(right),
      diverged: open.results, tookMs: now - open.openedAt, orderLogExcerpt: this.#excerpt(open.firstTick),
    }
    this.#events.push({ kind: 'report', report })
    const text = JSON.stringify({ ...report, orderLogExcerpt: [] })
    for (const { peer: to } of this.#players())
      this.#out.push({ to, message: { kind: 'summary', case: open.number, text } })
  }

  /** All states were equal. The pulses of two players do not say which of them lied. */
  #muteLiar(now: Millis, { accused, players }: DesyncCase): void {
    for (const peer of players.length > 2 ? [accused] : players) {
      const lies = (this.#lies.get(peer) ?? 0) + 1
      this.#lies.set(peer, lies)
      this.#mutedUntil.set(peer, now + LIE_MS * lies)
    }
  }

  #excerpt(tick: Tick): (readonly [Tick, string])[] {
    const log = this.#log
    const excerpt: (readonly [Tick, string])[] = []
    for (let each = Math.max(1, tick - EXCERPT_TICKS + 1); each <= Math.min(tick, log.newest); each++) {
      const bytes = log.bytes.subarray(log.startOf(each), log.endOf(each))
      excerpt.push([each, Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')])
    }
    return excerpt
  }
}

/** The JSON of a client. It may be anything: it is only stored. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // reason: a client may send anything
    return null
  }
}
