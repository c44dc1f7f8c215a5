/**
 * The overlay in the page: a box with buttons, one canvas, and the sliders of the network conditions. It only displays;
 * `devtools.ts` decides.
 */

import { PANELS_HEIGHT } from './panels.ts'
import { Pen } from './pen.ts'
import { STYLE } from './stylesheet.ts'
import { CLEAR, type LineWeather } from './weather-line.ts'

/** The direction that conditions apply to. */
export type Way = 'both' | 'out' | 'in'

const WAYS: readonly (readonly [Way, string])[] = [['both', 'both'], ['out', 'to server'], ['in', 'from server']]

interface Slider {
  readonly of: keyof LineWeather
  readonly label: string
  readonly max: number
  readonly step: number
  readonly text: (value: number) => string
  /** Factor from the slider's value to the unit of the condition. */
  readonly unit: number
}

/** Networks to try, one way. */
const PRESETS: readonly (readonly [name: string, title: string, weather: Partial<LineWeather>])[] = [
  ['home', 'cable or fibre: 30 ms round trip, little loss', { latencyMs: 15, jitterMs: 6, loss: 0.005 }],
  ['cafe', 'a shared radio network: 80 ms and more, 5 % loss', { latencyMs: 40, jitterMs: 60, loss: 0.05 }],
  ['other continent', 'a far server: 200 ms, 2 % loss', { latencyMs: 100, jitterMs: 15, loss: 0.02 }],
]

const SLIDERS: readonly Slider[] = [
  { of: 'latencyMs', label: 'latency', max: 400, step: 5, unit: 1, text: (ms) => `${ms} ms` },
  { of: 'jitterMs', label: 'jitter', max: 200, step: 5, unit: 1, text: (ms) => `${ms} ms` },
  { of: 'loss', label: 'loss', max: 50, step: 1, unit: 0.01, text: (percent) => `${percent} %` },
  { of: 'duplication', label: 'duplication', max: 50, step: 1, unit: 0.01, text: (percent) => `${percent} %` },
  { of: 'reordering', label: 'reordering', max: 50, step: 1, unit: 0.01, text: (percent) => `${percent} %` },
  {
    of: 'rateKbps',
    label: 'rate',
    max: 1000,
    step: 20,
    unit: 1,
    text: (kbps) => (kbps === 0 ? 'no limit' : `${kbps} kbit/s`),
  },
]

/** Actions of the buttons. */
export interface OverlayActions {
  close(): void
  toggleGhosts(): boolean
  toggleRecording(): boolean
  save(): void
  setWeather(way: Way, weather: LineWeather): void
}

export class OverlayElement {
  readonly element: HTMLElement
  readonly pen: Pen | undefined
  readonly #transport: HTMLElement
  readonly #why: HTMLElement
  readonly #sliders: readonly HTMLInputElement[]
  readonly #outputs: readonly HTMLOutputElement[]
  readonly #buttons: {
    readonly ghosts: HTMLButtonElement
    readonly record: HTMLButtonElement
    readonly save: HTMLButtonElement
    readonly weather: HTMLButtonElement
  }
  #way: Way = 'both'

  constructor(actions: OverlayActions, hasWeather: boolean) {
    this.element = document.createElement('tickwire-devtools')
    const root = this.element.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
    const panel = make('section', 'panel')
    panel.setAttribute('aria-label', 'Tickwire devtools')
    const header = make('header')
    const title = make('h1')
    title.textContent = 'tickwire'
    const reason = make('p', 'reason')
    this.#transport = make('strong')
    this.#why = make('span')
    reason.append(this.#transport, this.#why)
    const weather = make('fieldset', 'weather')
    weather.hidden = true
    this.#buttons = {
      ghosts: button('ghosts', "the server's truth beside what is drawn", () =>
        press(this.#buttons.ghosts, actions.toggleGhosts()),
      ),
      weather: button('weather', 'a worse network', () => {
        weather.hidden = !weather.hidden
        press(this.#buttons.weather, !weather.hidden)
      }),
      record: button('● rec', 'keep the last minute', () => {
        const isOn = actions.toggleRecording()
        press(this.#buttons.record, isOn)
        this.#buttons.save.hidden = !isOn
      }),
      save: button('save', 'download the last minute', () => actions.save()),
    }
    this.#buttons.record.classList.add('record')
    this.#buttons.save.hidden = true
    this.#buttons.weather.hidden = !hasWeather
    header.append(
      title,
      this.#buttons.ghosts,
      this.#buttons.weather,
      this.#buttons.record,
      this.#buttons.save,
      button('✕', 'close', () => actions.close()),
    )
    const canvas = document.createElement('canvas')
    this.#sliders = SLIDERS.map(({ max, step, label }) => makeSlider(max, step, label))
    this.#outputs = SLIDERS.map(() => document.createElement('output'))
    this.#fillWeather(weather, actions)
    panel.append(header, reason, weather, canvas)
    root.append(panel)
    // Games listen for keys and pointers everywhere: events in the overlay must not reach them.
    for (const kind of ['pointerdown', 'mousedown', 'touchstart', 'click', 'wheel', 'keydown']) {
      this.element.addEventListener(kind, (event) => {
        if (kind !== 'keydown' || root.activeElement instanceof HTMLInputElement) event.stopPropagation()
      })
    }
    document.body.append(this.element)
    this.pen = penOn(canvas, canvas.clientWidth)
    // The rows and graphs are pixels: the canvas has the tooltip of the one below the pointer.
    canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
      canvas.title = this.pen?.explanationAt(offsetX, offsetY) ?? ''
    })
  }

  /** Shows the transport, and why it is used. */
  show(transport: string, reason: string): void {
    if (this.#transport.textContent !== transport) this.#transport.textContent = transport
    const why = reason === '' ? '' : `: ${reason}`
    if (this.#why.textContent !== why) this.#why.textContent = why
  }

  showPressed(isGhosts: boolean, isRecording: boolean): void {
    press(this.#buttons.ghosts, isGhosts)
    press(this.#buttons.record, isRecording)
    this.#buttons.save.hidden = !isRecording
  }

  /** Sets the sliders to the current conditions. */
  showWeather(weather: LineWeather): void {
    SLIDERS.forEach(({ of, unit, text }, at) => {
      const value = Math.round(weather[of] / unit)
      this.#sliders[at].value = String(value)
      this.#outputs[at].textContent = text(value)
    })
  }

  remove(): void {
    this.element.remove()
  }

  #fillWeather(weather: HTMLElement, actions: OverlayActions): void {
    const ways = make('div', 'ways')
    const title = make('strong')
    title.textContent = 'Weather'
    ways.append(title)
    const buttons = WAYS.map(([way, label]) => button(label, `weather ${label}`, () => {
      this.#way = way
      buttons.forEach((each, at) => press(each, WAYS[at][0] === way))
    }))
    press(buttons[0], true)
    ways.append(...buttons, button('clear', 'a clear sky', () => {
      this.showWeather(CLEAR)
      actions.setWeather('both', CLEAR)
    }))
    const presets = make('div', 'ways')
    presets.append(...PRESETS.map(([name, title, preset]) => button(name, title, () => {
      const chosen = { ...CLEAR, ...preset }
      this.showWeather(chosen)
      actions.setWeather(this.#way, chosen)
    })))
    weather.append(ways, presets)
    SLIDERS.forEach(({ label, text }, at) => {
      const name = make('label')
      name.textContent = label
      this.#sliders[at].addEventListener('input', () => {
        this.#outputs[at].textContent = text(Number(this.#sliders[at].value))
        actions.setWeather(this.#way, this.#chosen())
      })
      weather.append(name, this.#sliders[at], this.#outputs[at])
    })
    this.showWeather(CLEAR)
  }

  #chosen(): LineWeather {
    return Object.fromEntries(
      SLIDERS.map(({ of, unit }, at) => [of, Number(this.#sliders[at].value) * unit]),
    ) as unknown as LineWeather
  }
}

function make(tag: string, className = ''): HTMLElement {
  const element = document.createElement(tag)
  if (className !== '') element.className = className
  return element
}

function button(text: string, title: string, onClick: () => void): HTMLButtonElement {
  const element = document.createElement('button')
  element.type = 'button'
  element.textContent = text
  element.title = title
  element.addEventListener('click', onClick)
  return element
}

function press(element: HTMLButtonElement, isPressed: boolean): void {
  element.setAttribute('aria-pressed', String(isPressed))
}

function makeSlider(max: number, step: number, label: string): HTMLInputElement {
  const slider = document.createElement('input')
  slider.type = 'range'
  slider.min = '0'
  slider.max = String(max)
  slider.step = String(step)
  slider.setAttribute('aria-label', label)
  return slider
}

function penOn(canvas: HTMLCanvasElement, width: number): Pen | undefined {
  const scale = Math.min(devicePixelRatio, 3)
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(PANELS_HEIGHT * scale)
  const context = canvas.getContext('2d')
  if (context === null) return undefined
  context.scale(scale, scale)
  return new Pen(context, width)
}
