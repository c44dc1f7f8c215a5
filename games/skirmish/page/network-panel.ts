/** The network panel: what the connection does, and buttons that break it on purpose. */

import type { LineWeather, WeatherWire } from 'tickwire/devtools'
import type { DesyncReport, LockstepRoom } from 'tickwire/lockstep'
import { Seat } from '../definitions.ts'
import { ORDERS } from '../orders.ts'
import { button, element, make, setText } from './dom.ts'
import { drawBars, drawLatencies, drawOrders, type OwnOrder } from './network-graphs.ts'
import { SEAT_NAMES } from './palette.ts'
import type { PeerReports } from './peer-reports.ts'
import type { Sabotage } from './sabotage.ts'

const CUT_MS = 10_000
/** Ticks on the timing bar, and own orders on the time line. */
const BARS = 90
const ORDERS_SHOWN = 8
/** Ticks from the click on the button to the wrong line. */
const WRONG_AFTER = 15
/** For so long a red light shows that worlds differed. */
const ALARM_MS = 4000

const WEATHERS: readonly (readonly [name: string, weather: Partial<LineWeather>])[] = [
  ['clear', {}],
  ['home', { latencyMs: 15, jitterMs: 6, loss: 0.005 }],
  ['cafe', { latencyMs: 40, jitterMs: 60, loss: 0.05 }],
  ['other continent', { latencyMs: 100, jitterMs: 15, loss: 0.02 }],
]

/** What the panel needs of the match. */
export interface NetworkParts {
  readonly room: LockstepRoom<typeof ORDERS>
  readonly reports: PeerReports
  /** Undefined: there is no line to break, as in a replay. */
  readonly wire: WeatherWire | undefined
  readonly sabotage: Sabotage
  /** Whether the server steps the match: orders have no deadline, and no worlds are compared. */
  readonly isServed: boolean
}

export class NetworkPanel {
  readonly #room: LockstepRoom<typeof ORDERS>
  readonly #reports: PeerReports
  readonly #wire: WeatherWire | undefined
  readonly #sabotage: Sabotage
  readonly #isServed: boolean
  readonly #panel = element('network')
  readonly #bars = graph('time between ticks: the line is the length of a tick', 60)
  readonly #orders = graph('own orders, from click to execution: the line is the deadline of the relay', 108)
  readonly #latencies = graph('round trips of all players', 70)
  readonly #numbers = make('p')
  readonly #health = make('ul')
  readonly #desync = make('pre')
  readonly #weathers: HTMLButtonElement[] = []
  readonly #note = make('p')
  readonly #stop = new AbortController()
  /** Milliseconds between the steps of the last ticks. */
  readonly #gaps: number[] = []
  readonly #own: OwnOrder[] = []
  #lastTickAt = 0
  #alarmUntil = 0

  constructor({ room, reports, wire, sabotage, isServed }: NetworkParts) {
    this.#room = room
    this.#reports = reports
    this.#wire = wire
    this.#sabotage = sabotage
    this.#isServed = isServed
    this.#health.className = 'health'
    const lockstep = make('div', '', make('h3', 'your orders'), this.#orders, make('h3', 'players'), this.#latencies,
      this.#health, this.#desync)
    lockstep.hidden = isServed
    this.#panel.replaceChildren(make('h2', 'Network'), this.#numbers, make('h3', 'ticks'), this.#bars, lockstep)
    this.#desync.hidden = true
    if (wire !== undefined) lockstep.append(this.#buttons(wire), this.#note)
    element('net').addEventListener('click', () => { this.#panel.hidden = !this.#panel.hidden },
      { signal: this.#stop.signal })
    for (const kind of ORDERS) this.#follow(kind)
  }

  /** Worlds differed: shows which number, both values, the line that wrote it, and what became of it. */
  showDesync({ tick, verdict, diverged, tookMs }: DesyncReport): void {
    const lines = diverged.map(({ player, outcome, finding }) => {
      const { text = 'not found', healMs } = (finding ?? {}) as { text?: string; healMs?: number }
      const healed = healMs === undefined ? '' : ` in ${Math.round(healMs)} ms`
      return `${this.#nameOf(player)}: ${outcome}${healed}\n${text}`
    })
    this.#desync.hidden = false
    this.#panel.hidden = false
    this.#alarmUntil = performance.now() + ALARM_MS
    const head = `Desync in tick ${tick}, judged by ${verdict}, ${Math.round(tookMs)} ms`
    setText(this.#desync, [head, ...lines].join('\n'))
  }

  /** The own order that was given last. */
  get lastOrder(): OwnOrder | undefined {
    return this.#own[0]
  }

  stop(): void {
    this.#stop.abort()
    this.#panel.hidden = true
  }

  /** Call it after every tick. */
  noteTick(now: number): void {
    this.#gaps.push(now - this.#lastTickAt)
    this.#lastTickAt = now
    if (this.#gaps.length > BARS) this.#gaps.shift()
  }

  update(now: number): void {
    const { rttMs, holdMs, newest, taken, waitingOrders } = this.#room.diagnostics()
    const { roster } = this.#room.runner
    const net = element('net')
    const isLocal = this.#room.transport === 'none' && !this.#room.isAway
    const isBehind = this.#room.status === 'catching-up'
    const behind = isBehind ? `fast forward, ${newest - taken} ticks` : `${Math.round(rttMs)} ms`
    setText(net, this.#room.isAway ? 'no connection' : isLocal ? 'in this page' : behind)
    const isAlarm = now < this.#alarmUntil
    net.classList.toggle('is-bad', this.#room.isAway || rttMs > 250 || isAlarm)
    this.#panel.classList.toggle('is-alarm', isAlarm)
    if (this.#panel.hidden) return
    const { lateCount } = this.#reports
    setText(this.#numbers, isLocal ? 'The match runs in this page: an order is in the very next tick.'
      : this.#isServed ? `round trip ${rttMs.toFixed(0)} ms by ${this.#room.transport}; the server steps the match`
      : `round trip ${rttMs.toFixed(0)} ms by ${this.#room.transport}, ticks held ${holdMs.toFixed(0)} ms, `
        + `${newest - taken} waiting, ${waitingOrders} orders under way, ${lateCount} late so far`)
    this.#showHealth(now)
    drawBars(this.#bars, this.#gaps, 1000 / this.#room.runner.game.tickRate / (roster.speedPercent / 100))
    drawOrders(this.#orders, this.#own, roster.deadlineMs, rttMs)
    drawLatencies(this.#latencies, [...this.#room.world.each(Seat)].filter(({ player }) => player !== 0)
      .map(({ number, player }) => ({ seat: number, rtts: this.#reports.players.get(player)?.rtts ?? [] })))
    const { weather, isCut } = this.#wire ?? {}
    this.#weathers.forEach((made, at) => {
      const [, set] = WEATHERS[at]!
      made.setAttribute('aria-pressed', String(weather?.latencyMs === (set.latencyMs ?? 0)
        && weather?.loss === (set.loss ?? 0)))
    })
    const others = this.#room.players.length - 1
    setText(this.#note, isCut === true ? 'Your line is cut. The match goes on without you, and you will catch up.'
      : others > 0 ? ''
        : 'You are the only machine in this match. Open the page in a second tab: it finds a corrupted number.')
  }

  #showHealth(now: number): void {
    const { roster } = this.#room.runner
    const seats = [...this.#room.world.each(Seat)].filter(({ player }) => player !== 0)
    const lines = seats.map(({ number, name, player }) => {
      const known = this.#reports.players.get(player)
      const isOwn = player === this.#room.player
      const state = roster.isAway(player) ? 'away' : isOwn ? 'this page'
        : this.#reports.isSilent(player, now) ? 'silent' : known?.isEqual === true ? 'in sync' : 'differs'
      const late = known === undefined || known.lateCount === 0 ? '' : `, ${known.lateCount} late`
      return `${name || SEAT_NAMES[number]!}: ${state}, ${known?.rtts.at(-1) ?? '?'} ms${late}`
    })
    const [low = 0, high = 0] = this.#room.runner.hash.value
    lines.push(`tick ${this.#room.tick}, state ${hex(high)}${hex(low)}`)
    if (lines.join() === [...this.#health.children].map(({ textContent }) => textContent).join()) return
    this.#health.replaceChildren(...lines.map((line) => {
      const item = make('li', line)
      item.classList.toggle('is-bad', line.includes(': differs'))
      return item
    }))
  }

  #nameOf(player: number): string {
    const seat = [...this.#room.world.each(Seat)].find((each) => each.player === player)
    const name = seat === undefined ? `player ${player}` : seat.name || SEAT_NAMES[seat.number]!
    return player === this.#room.player ? `${name} (this page)` : name
  }

  #follow(kind: (typeof ORDERS)[number]): void {
    const forget = this.#room.onOrder(kind as never, (_values: unknown, state: string) => {
      if (state === 'issued') {
        this.#own.unshift({ name: kind.name, at: performance.now(), executedAt: undefined, state })
        this.#own.length = Math.min(this.#own.length, ORDERS_SHOWN)
        return
      }
      const waiting = this.#own.findLast((order) => order.name === kind.name && order.executedAt === undefined)
      if (waiting !== undefined) Object.assign(waiting, { executedAt: performance.now(), state })
    })
    this.#stop.signal.addEventListener('abort', forget)
  }

  #buttons(wire: WeatherWire): HTMLElement {
    this.#weathers.push(...WEATHERS.map(([name, weather]) => button(name, () => wire.set(weather))))
    const cut = button('Cut my line for 10 s', () => wire.cut(CUT_MS))
    const corrupt = button('Corrupt one number', () => { this.#sabotage.tick = this.#room.tick + WRONG_AFTER })
    corrupt.title = 'one unit of this page loses health by a wrong line. The others name the line, and heal it'
    const breaks = make('div', '', cut, corrupt, ...killButtons())
    const weathers = make('div', '', make('span', 'weather'), ...this.#weathers)
    breaks.className = 'row'
    weathers.className = 'row'
    return make('div', '', breaks, weathers)
  }
}

/** The button that kills the relay, on the machine of the relay, where a second one takes over. */
function killButtons(): HTMLElement[] {
  const port = new URLSearchParams(location.search).get('standby')
  if (port === null || location.hostname !== 'localhost') return []
  const kill = button('Kill the relay', () => {
    const standby = new URL(location.origin)
    standby.port = port
    void fetch(new URL('/kill', standby), { method: 'POST' })
  })
  kill.title = 'ends the process of the relay at once. The players take the match to the next relay'
  return [kill]
}

function graph(title: string, height: number): HTMLCanvasElement {
  const made = make('canvas')
  made.width = 336
  made.height = height
  made.title = title
  made.setAttribute('aria-label', title)
  return made
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}
