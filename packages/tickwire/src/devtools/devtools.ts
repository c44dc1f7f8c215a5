/**
 * Devtools of one match: an overlay that opens and closes, weather, ghosts, a recording of the last minute.
 *
 *   const devtools = openDevtools(room)              or import 'tickwire/devtools' and press the key left of 1
 *   devtools.setWeather({ latencyMs: 100, loss: 0.05 })
 *   devtools.readings().rollbacks
 *
 * Closed, nothing of it runs; weather and recordings go on until they are ended, for they were asked for.
 */

import type { Room } from '../browser/room.ts'
import { monotonicNow } from '../browser/clock.ts'
import type { Millis } from '../core/base/time.ts'
import { ClientHost } from '../core/game/client-host.ts'
import { ClientRecorder } from '../core/game/client-recorder.ts'
import { RecordingRing } from '../core/replay/recording-ring.ts'
import type { Shape } from '../core/schema/field.ts'
import { OverlayElement, type Way } from './overlay-element.ts'
import { drawPanels } from './panels.ts'
import type { Readings } from './readings.ts'
import { ToldWorld } from '../core/game/told-world.ts'
import { Watcher } from './watcher.ts'
import { CLEAR, WeatherLine, type LineWeather } from './weather-line.ts'

export interface DevtoolsOptions {
  /** Whether the overlay is shown at once. Default: yes. */
  readonly isOpen?: boolean
  /** Whether ghosts are drawn at once, by a game that draws them (`Play.drawGhosts`). Default: no. */
  readonly hasGhosts?: boolean
  /** The same weather is the same every time with the same seed. Default: 1. */
  readonly weatherSeed?: number
}

/** Weather of both directions. */
export interface Weather {
  /** To the server. */
  readonly out: LineWeather
  /** From the server. */
  readonly in: LineWeather
}

/** Pictures a second: nobody reads faster. */
const PICTURE_MS = 50
/** Words and numbers are looked up less often: they allocate. */
const READ_MS = 200

/** Looks on at a match: a room, or a client host that you drive yourself (which then has no weather of ours). */
export function openDevtools<I extends Shape>(match: Room<I> | ClientHost<I>, options: DevtoolsOptions = {}): Devtools {
  const devtools = match instanceof ClientHost
    ? new Devtools(match as unknown as ClientHost<Shape>, undefined, options)
    : new Devtools(match.tools.host as unknown as ClientHost<Shape>, match as unknown as Room<Shape>, options)
  if (options.isOpen !== false) devtools.open()
  return devtools
}

export class Devtools {
  /** Whom we look at; another after a room has come back to its seat. */
  #host: ClientHost<Shape>
  readonly #room: Room<Shape> | undefined
  #truth: ToldWorld
  readonly #lines: { readonly out: WeatherLine; readonly in: WeatherLine } | undefined
  #watcher: Watcher
  #overlay: OverlayElement | undefined
  #hasGhosts = false
  #request = 0
  #drawnAt: Millis = -Infinity
  #readAt: Millis = -Infinity
  #read: Readings | undefined
  #recording: { readonly ring: RecordingRing; readonly recorder: ClientRecorder } | undefined

  constructor(host: ClientHost<Shape>, room: Room<Shape> | undefined, { hasGhosts = false, weatherSeed = 1 }: DevtoolsOptions) {
    this.#host = host
    this.#room = room
    this.#watcher = new Watcher(host, room)
    this.#truth = new ToldWorld(host)
    const network = room?.tools.network
    this.#lines = network && {
      out: new WeatherLine(monotonicNow, 2 * weatherSeed, (bytes, length) => network.send(bytes, length)),
      in: new WeatherLine(monotonicNow, 2 * weatherSeed + 1, (bytes, length) => network.receive(bytes, length)),
    }
    this.hasGhosts = hasGhosts
  }

  get isOpen(): boolean {
    return this.#overlay !== undefined
  }

  /** Begins to look, from nothing. */
  open(): void {
    if (this.isOpen) return
    this.#follow()
    this.#watcher = new Watcher(this.#host, this.#room)
    this.#watcher.start()
    this.#overlay = new OverlayElement({
      close: () => this.close(),
      toggleGhosts: () => this.hasGhosts = !this.hasGhosts,
      toggleRecording: () => this.#recording === undefined ? this.record() : this.stopRecording(),
      save: () => this.#download(),
      setWeather: (way, weather) => this.setWeather(weather, way),
    }, this.#lines !== undefined)
    this.#overlay.showWeather(this.weather.out)
    this.#overlay.showPressed(this.#hasGhosts, this.#recording !== undefined)
    if (this.#room !== undefined) this.#room.tools.onTicked = (ticks, tookMs) => this.#watcher.handleTicked(ticks, tookMs)
    this.#readAt = this.#drawnAt = -Infinity
    this.#request = requestAnimationFrame(this.#handleDraw)
  }

  /** Looks no more. */
  close(): void {
    cancelAnimationFrame(this.#request)
    this.#watcher.stop()
    if (this.#room !== undefined) this.#room.tools.onTicked = undefined
    this.#overlay?.remove()
    this.#overlay = undefined
  }

  toggle(): void {
    if (this.isOpen) this.close()
    else this.open()
  }

  /** What is shown, as numbers; since the overlay was opened, where they count. */
  readings(): Readings {
    return this.#watcher.read()
  }

  /** What the overlay took of each of the last draws, in milliseconds. */
  costs(): number[] {
    const { costs } = this.#watcher
    return Array.from({ length: costs.length }, (_, at) => costs.at(at))
  }

  /** What one whole picture takes, in milliseconds: drawn so many times over. */
  measure(times: number): Millis {
    const overlay = this.#overlay
    if (overlay === undefined) return 0
    const startedAt = monotonicNow()
    for (let time = 0; time < times; time++) {
      this.#readAt = -Infinity
      this.#draw(overlay, startedAt)
    }
    return (monotonicNow() - startedAt) / times
  }

  /** Whether the game is handed the server's truth to draw. */
  get hasGhosts(): boolean {
    return this.#hasGhosts
  }

  set hasGhosts(hasGhosts: boolean) {
    this.#hasGhosts = hasGhosts
    if (this.#room !== undefined) this.#room.tools.truth = hasGhosts ? () => this.truth() : undefined
  }

  /** What the server told last of everything: for games that draw ghosts by themselves. */
  truth(): ReturnType<ToldWorld['bring']> {
    this.#follow()
    return this.#truth.bring()
  }

  get weather(): Weather {
    return { out: this.#lines?.out.weather ?? CLEAR, in: this.#lines?.in.weather ?? CLEAR }
  }

  /** What became of what went through the weather. */
  get weatherCounts(): { readonly out: Readonly<WeatherLine['counts']>; readonly in: Readonly<WeatherLine['counts']> } | undefined {
    return this.#lines && { out: this.#lines.out.counts, in: this.#lines.in.counts }
  }

  /** Makes the network of a room worse, from now on; what is not named is clear. */
  setWeather(weather: Partial<LineWeather>, way: Way = 'both'): void {
    const lines = this.#lines
    const tools = this.#room?.tools
    if (lines === undefined || tools === undefined) return
    const next = { ...CLEAR, ...weather }
    if (way !== 'in') blow(lines.out, next, (send) => { tools.send = send })
    if (way !== 'out') blow(lines.in, next, (receive) => { tools.receive = receive })
    this.#overlay?.showWeather(way === 'in' ? lines.in.weather : lines.out.weather)
  }

  /** Keeps the last minute of the match from now on. */
  record(): true {
    if (this.#recording === undefined) {
      const ring = new RecordingRing()
      this.#recording = { ring, recorder: new ClientRecorder(this.#host, ring, Math.floor(Date.now() / 1000)) }
    }
    this.#overlay?.showPressed(this.#hasGhosts, true)
    return true
  }

  stopRecording(): false {
    this.#recording?.recorder.close()
    this.#recording = undefined
    return false
  }

  /** The last minute as the bytes of a recording, for `tickwire inspect`; undefined when nobody records. */
  save(): Uint8Array | undefined {
    this.#recording?.recorder.flush()
    return this.#recording?.ring.save()
  }

  #download(): void {
    const bytes = this.save()
    if (bytes === undefined) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: 'application/octet-stream' }))
    link.download = `match-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.twr`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }

  #handleDraw = (): void => {
    if (this.#overlay === undefined) return
    const startedAt = monotonicNow()
    this.#follow()
    const watcher = this.#watcher
    watcher.sample(startedAt)
    if (startedAt - this.#drawnAt >= PICTURE_MS) this.#draw(this.#overlay, startedAt)
    watcher.costs.push(monotonicNow() - startedAt)
    this.#request = requestAnimationFrame(this.#handleDraw)
  }

  /** A room whose line was lost goes on with another client. */
  #follow(): void {
    const host = this.#room?.tools.host as unknown as ClientHost<Shape> | undefined
    if (host === undefined || host === this.#host) return
    this.#host = host
    this.#truth = new ToldWorld(host)
    if (this.isOpen) {
      this.#watcher.stop()
      this.#watcher = new Watcher(host, this.#room)
      this.#watcher.start()
    }
    if (this.#recording === undefined) return
    this.stopRecording()
    this.record()
  }

  #draw(overlay: OverlayElement, now: Millis): void {
    const isRead = this.#read === undefined || now - this.#readAt >= READ_MS
    this.#drawnAt = now
    if (this.#read === undefined || isRead) {
      this.#readAt = now
      this.#read = this.#watcher.read()
      overlay.show(this.#read.transport, this.#read.transportReason)
    }
    if (overlay.pen !== undefined) drawPanels(overlay.pen, this.#watcher, this.#read, !isRead)
  }
}

/** Sets a line's weather; under a clear sky nothing stands in the way. */
function blow(line: WeatherLine, weather: LineWeather, put: (through: ((bytes: Uint8Array, length: number) => void) | undefined) => void): void {
  line.weather = weather
  if (line.isClear) line.clear()
  put(line.isClear ? undefined : (bytes, length) => line.send(bytes, length))
}
