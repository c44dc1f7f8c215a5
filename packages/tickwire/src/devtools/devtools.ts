/**
 * Devtools of one match: an overlay that opens and closes, simulated network conditions, ghosts, a recording of the
 * last minute.
 *
 *   const devtools = openDevtools(room)              or import 'tickwire/devtools' and press the key left of 1
 *   devtools.setWeather({ latencyMs: 100, loss: 0.05 })
 *   devtools.readings().rollbacks
 *
 * While the overlay is closed, none of its code runs. Simulated conditions and recordings continue until they are
 * ended.
 */

import type { Room } from '../core/client/room.ts'
import { monotonicNow } from '../browser/clock.ts'
import type { Millis } from '../core/base/time.ts'
import { ClientHost } from '../core/game/client-host.ts'
import { ClientRecorder } from '../core/game/client-recorder.ts'
import { RecordingRing } from '../core/replay/recording-ring.ts'
import type { Shape } from '../core/schema/field.ts'
import { OverlayElement, type Way } from './overlay-element.ts'
import { drawPanels } from './panels.ts'
import type { Readings } from './readings.ts'
import { ReceivedWorld } from '../core/game/received-world.ts'
import { Watcher } from './watcher.ts'
import { CLEAR, WeatherLine, type LineWeather } from './weather-line.ts'

/** How the overlay starts. */
export interface DevtoolsOptions {
  /** Whether the overlay is shown at once. Default: yes. */
  readonly isOpen?: boolean
  /** Whether ghosts are drawn at once, by a game that draws them (`Play.drawGhosts`). Default: no. */
  readonly hasGhosts?: boolean
  /** Seed of the simulated network conditions. The same seed gives the same conditions. Default: 1. */
  readonly weatherSeed?: number
}

/** Simulated network conditions in both directions. */
export interface Weather {
  /** To the server. */
  readonly out: LineWeather
  /** From the server. */
  readonly in: LineWeather
}

/** Interval between pictures: a higher rate would not be readable. */
const PICTURE_MS = 50
/** Interval between readings of texts and numbers: they allocate, so they are read less often. */
const READ_MS = 200

/** Observes a match: a room, or a client host that you drive yourself (which has no simulated conditions then). */
export function openDevtools<I extends Shape>(match: Room<I> | ClientHost<I>, options: DevtoolsOptions = {}): Devtools {
  const devtools = match instanceof ClientHost
    ? new Devtools(match as unknown as ClientHost<Shape>, undefined, options)
    : new Devtools(match.tools.host as unknown as ClientHost<Shape>, match as unknown as Room<Shape>, options)
  if (options.isOpen !== false) devtools.open()
  return devtools
}

/** Observes one match: the overlay, simulated network conditions, ghosts and recordings. */
export class Devtools {
  /** The observed host. It changes when a room has reconnected to its seat. */
  #host: ClientHost<Shape>
  readonly #room: Room<Shape> | undefined
  #truth: ReceivedWorld
  readonly #lines: { readonly out: WeatherLine; readonly in: WeatherLine } | undefined
  #watcher: Watcher
  #overlay: OverlayElement | undefined
  #hasGhosts = false
  #request = 0
  #drawnAt: Millis = -Infinity
  #readAt: Millis = -Infinity
  #read: Readings | undefined
  #recording: { readonly ring: RecordingRing; readonly recorder: ClientRecorder } | undefined

  constructor(
    host: ClientHost<Shape>,
    room: Room<Shape> | undefined,
    { hasGhosts = false, weatherSeed = 1 }: DevtoolsOptions,
  ) {
    this.#host = host
    this.#room = room
    this.#watcher = new Watcher(host, room)
    this.#truth = new ReceivedWorld(host)
    const network = room?.tools.network
    this.#lines = network && {
      out: new WeatherLine(monotonicNow, 2 * weatherSeed, (bytes, length) => network.send(bytes, length)),
      in: new WeatherLine(monotonicNow, 2 * weatherSeed + 1, (bytes, length) => network.receive(bytes, length)),
    }
    this.hasGhosts = hasGhosts
    room?.tools.onHost((next) => this.#follow(next))
  }

  /** Whether the overlay is shown. */
  get isOpen(): boolean {
    return this.#overlay !== undefined
  }

  /** Opens the overlay, and starts counting from zero. */
  open(): void {
    if (this.isOpen) return
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
    if (this.#room !== undefined)
      this.#room.tools.onTicked = (ticks, tookMs) => this.#watcher.handleTicked(ticks, tookMs)
    this.#readAt = this.#drawnAt = -Infinity
    this.#request = requestAnimationFrame(this.#handleDraw)
  }

  /** Closes the overlay. */
  close(): void {
    cancelAnimationFrame(this.#request)
    this.#watcher.stop()
    if (this.#room !== undefined) this.#room.tools.onTicked = undefined
    this.#overlay?.remove()
    this.#overlay = undefined
  }

  /** Opens or closes the overlay. */
  toggle(): void {
    if (this.isOpen) this.close()
    else this.open()
  }

  /** The numbers that are shown; counters count since the overlay was opened. */
  readings(): Readings {
    return this.#watcher.read()
  }

  /** The time that the overlay took in each of the last draws, in milliseconds. */
  costs(): number[] {
    const { costs } = this.#watcher
    return Array.from({ length: costs.length }, (_, at) => costs.at(at))
  }

  /** The time of one whole picture, in milliseconds: the mean over `times` drawings. */
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

  /** Whether the game receives the server's state to draw. */
  get hasGhosts(): boolean {
    return this.#hasGhosts
  }

  set hasGhosts(hasGhosts: boolean) {
    this.#hasGhosts = hasGhosts
    if (this.#room !== undefined) this.#room.tools.truth = hasGhosts ? () => this.truth() : undefined
  }

  /** The newest state that the server sent, for games that draw ghosts by themselves. */
  truth(): ReturnType<ReceivedWorld['bring']> {
    return this.#truth.bring()
  }

  /** The simulated network conditions in use. */
  get weather(): Weather {
    return { out: this.#lines?.out.weather ?? CLEAR, in: this.#lines?.in.weather ?? CLEAR }
  }

  /** What happened to the packets that passed the simulated conditions. */
  get weatherCounts():
    { readonly out: Readonly<WeatherLine['counts']>; readonly in: Readonly<WeatherLine['counts']> } | undefined {
    return this.#lines && { out: this.#lines.out.counts, in: this.#lines.in.counts }
  }

  /** Degrades the network of a room from now on. Conditions that are not named are off. */
  setWeather(weather: Partial<LineWeather>, way: Way = 'both'): void {
    const lines = this.#lines
    const tools = this.#room?.tools
    if (lines === undefined || tools === undefined) return
    const next = { ...CLEAR, ...weather }
    if (way !== 'in') blow(lines.out, next, (send) => { tools.send = send })
    if (way !== 'out') blow(lines.in, next, (receive) => { tools.receive = receive })
    this.#overlay?.showWeather(way === 'in' ? lines.in.weather : lines.out.weather)
  }

  /** Keeps a recording of the last minute of the match from now on. */
  record(): true {
    if (this.#recording === undefined) {
      const ring = new RecordingRing()
      this.#recording = { ring, recorder: new ClientRecorder(this.#host, ring, Math.floor(Date.now() / 1000)) }
    }
    this.#overlay?.showPressed(this.#hasGhosts, true)
    return true
  }

  /** Stops the recording and discards it. */
  stopRecording(): false {
    this.#recording?.recorder.close()
    this.#recording = undefined
    return false
  }

  /** The last minute as the bytes of a recording, for `tickwire inspect`; undefined if there is no recording. */
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
    const watcher = this.#watcher
    watcher.sample(startedAt)
    if (startedAt - this.#drawnAt >= PICTURE_MS) this.#draw(this.#overlay, startedAt)
    watcher.costs.push(monotonicNow() - startedAt)
    this.#request = requestAnimationFrame(this.#handleDraw)
  }

  /** A room that reconnected continues with another client host. */
  #follow(host: ClientHost<Shape>): void {
    if (host === this.#host) return
    this.#host = host
    this.#truth = new ReceivedWorld(host)
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

/** Sets the conditions of a line. With none, packets bypass it. */
function blow(
  line: WeatherLine,
  weather: LineWeather,
  put: (through: ((bytes: Uint8Array, length: number) => void) | undefined) => void,
): void {
  line.weather = weather
  if (line.isClear) line.clear()
  put(line.isClear ? undefined : (bytes, length) => line.send(bytes, length))
}
