/** Controls the time of a stage: speed, pause, and single ticks. */

import { element } from './element.ts'

const SPEEDS = [['1', 'real time'], ['0.25', 'a quarter'], ['0.1', 'a tenth']] as const
const TICK_MS = 1000 / 60

export class TimeBar {
  readonly root: HTMLElement
  readonly #pause = element('button', { type: 'button', class: 'pause' })
  readonly #speed = element(
    'select',
    { 'aria-label': 'Speed' },
    ...SPEEDS.map(([value, words]) => element('option', { value }, words)),
  )
  #isPaused = matchMedia('(prefers-reduced-motion: reduce)').matches
  #owedMs = 0

  constructor() {
    const step = element('button', { type: 'button' }, 'One tick')
    step.addEventListener('click', () => {
      this.#setPaused(true)
      this.#owedMs += TICK_MS
    })
    this.#pause.addEventListener('click', () => this.#setPaused(!this.#isPaused))
    this.root = element('div', { class: 'time', role: 'group', 'aria-label': 'Time' }, this.#pause, step, this.#speed)
    this.#setPaused(this.#isPaused)
  }

  /** How much simulated time passes when `elapsedMs` of real time have passed. */
  pass(elapsedMs: number): number {
    const owed = this.#owedMs
    this.#owedMs = 0
    return owed + (this.#isPaused ? 0 : elapsedMs * Number(this.#speed.value))
  }

  #setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    this.#pause.textContent = isPaused ? 'Play' : 'Pause'
    this.#pause.setAttribute('aria-pressed', `${isPaused}`)
  }
}
