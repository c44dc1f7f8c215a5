/** The network panel: what the connection does, and buttons that break it on purpose. */

import type { LineWeather, WeatherWire } from 'tickwire/devtools'
import type { DesyncReport, LockstepRoom } from 'tickwire/lockstep'
import { Seat, Unit } from '../definitions.ts'
import { ORDERS } from '../orders.ts'
import { button, element, make, setText } from './dom.ts'
import { SEAT_NAMES } from './palette.ts'

const CUT_MS = 10_000
/** Ticks on the timing bar, and own orders on the time line. */
const BARS = 90
const ORDERS_SHOWN = 8

const WEATHERS: readonly (readonly [name: string, weather: Partial<LineWeather>])[] = [
  ['clear', {}],
  ['home', { latencyMs: 15, jitterMs: 6, loss: 0.005 }],
  ['cafe', { latencyMs: 40, jitterMs: 60, loss: 0.05 }],
  ['other continent', { latencyMs: 100, jitterMs: 15, loss: 0.02 }],
]

interface OwnOrder { readonly name: string; readonly at: number; executedAt: number | undefined; state: string }

export class NetworkPanel {
  readonly #room: LockstepRoom<typeof ORDERS>
  readonly #panel = element('network')
  readonly #bars = make('canvas')
  readonly #numbers = make('p')
  readonly #orders = make('table')
  readonly #peers = make('p')
  readonly #desync = make('pre')
  readonly #stop = new AbortController()
  /** Milliseconds between the steps of the last ticks. */
  readonly #gaps: number[] = []
  readonly #own: OwnOrder[] = []
  #lastTickAt = 0

  constructor(room: LockstepRoom<typeof ORDERS>, wire: WeatherWire | undefined) {
    this.#room = room
    this.#bars.width = 2 * BARS
    this.#bars.height = 60
    this.#bars.title = 'time between ticks: 33 ms is the line'
    this.#panel.replaceChildren(make('h2', 'Network'), this.#bars, this.#numbers, this.#peers, this.#orders,
      this.#desync)
    this.#desync.hidden = true
    if (wire !== undefined) this.#panel.append(this.#buttons(wire))
    element('net').addEventListener('click', () => { this.#panel.hidden = !this.#panel.hidden },
      { signal: this.#stop.signal })
    for (const kind of ORDERS) this.#follow(kind)
  }

  /** Worlds differed: shows which number, both values, the line that wrote it, and what became of it. */
  showDesync({ tick, verdict, diverged, tookMs }: DesyncReport): void {
    const lines = diverged.map(({ player, outcome, finding }) => {
      const { text = 'not found', healMs } = (finding ?? {}) as { text?: string; healMs?: number }
      return `player ${player}: ${outcome}${healMs === undefined ? '' : ` in ${Math.round(healMs)} ms`}\n${text}`
    })
    this.#desync.hidden = false
    this.#panel.hidden = false
    const head = `Desync in tick ${tick}, judged by ${verdict}, ${Math.round(tookMs)} ms`
    setText(this.#desync, [head, ...lines].join('\n'))
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

  update(): void {
    const { rttMs, holdMs, newest, taken, waitingOrders, timing } = this.#room.diagnostics()
    const { roster } = this.#room.runner
    const net = element('net')
    setText(net, this.#room.isAway ? 'no connection' : rttMs === 0 ? 'in this page' : `${Math.round(rttMs)} ms`)
    net.classList.toggle('is-bad', this.#room.isAway || rttMs > 150)
    if (this.#panel.hidden) return
    setText(this.#numbers, `round trip ${rttMs.toFixed(0)} ms, ticks held ${holdMs.toFixed(0)} ms, deadline `
      + `${roster.deadlineMs.toFixed(0)} ms, ${newest - taken} ticks waiting, ${waitingOrders} orders under way`
      + `${timing === undefined ? '' : `, ${timing.lateCount} late`}`)
    const [low = 0, high = 0] = this.#room.runner.hash.value
    const seats = [...this.#room.world.each(Seat)].filter(({ player }) => player !== 0)
    setText(this.#peers, `tick ${this.#room.tick}, state ${hex(high)}${hex(low)}; `
      + seats.map(({ number, name, player }) =>
        `${name || SEAT_NAMES[number]!} ${roster.isAway(player) ? 'away' : 'in sync'}`).join(', '))
    this.#drawBars()
    this.#orders.replaceChildren(...this.#own.map(({ name, at, executedAt, state }) => make('tr', '', make('td', name),
      make('td', executedAt === undefined ? state : `${state} after ${Math.round(executedAt - at)} ms`))))
  }

  #follow(kind: (typeof ORDERS)[number]): void {
    this.#room.onOrder(kind as never, (_values: unknown, state: string) => {
      if (state === 'issued') {
        this.#own.unshift({ name: kind.name, at: performance.now(), executedAt: undefined, state })
        this.#own.length = Math.min(this.#own.length, ORDERS_SHOWN)
        return
      }
      const waiting = this.#own.findLast((order) => order.name === kind.name && order.executedAt === undefined)
      if (waiting !== undefined) Object.assign(waiting, { executedAt: performance.now(), state })
    })
  }

  #buttons(wire: WeatherWire): HTMLElement {
    const weathers = WEATHERS.map(([name, weather]) => button(name, () => wire.set(weather)))
    const row = make('div', '', button('cut my line for 10 s', () => wire.cut(CUT_MS)),
      button('corrupt one number', () => this.#corrupt()), ...weathers)
    row.className = 'row'
    return row
  }

  /** Changes one number of this world only, as a cheat or a broken memory would. The others name it and heal it. */
  #corrupt(): void {
    for (const unit of this.#room.world.each(Unit)) {
      unit.hp = Math.max(1, unit.hp - 7)
      return
    }
  }

  #drawBars(): void {
    const pen = this.#bars.getContext('2d')!
    const { width, height } = this.#bars
    pen.clearRect(0, 0, width, height)
    this.#gaps.forEach((gap, at) => {
      const tall = Math.min(height, (gap / 100) * height)
      pen.fillStyle = gap > 66 ? '#ff5544' : gap > 45 ? '#ffc64c' : '#62e36f'
      pen.fillRect(at * 2, height - tall, 1.5, tall)
    })
    pen.fillStyle = '#ffffff55'
    pen.fillRect(0, height - height / 3, width, 1)
  }
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}
