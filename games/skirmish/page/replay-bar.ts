/** The scrubber of a replay. Seeking back starts the replay again and steps up to the place, in slices. */

import type { LockstepPlace, PlayedMatch } from 'tickwire/lockstep'
import { TICK_RATE } from '../rules.ts'
import { clock, element, setText } from './dom.ts'
import type { Session } from './session.ts'

/** How much faster a replay runs towards a place. */
const SEEK_SPEED = 1000

export class ReplayBar {
  readonly #match: PlayedMatch
  readonly #placeOf: (speed: number) => LockstepPlace
  readonly #enter: (place: LockstepPlace) => Promise<Session>
  readonly #stop = new AbortController()
  #session: Session | undefined
  #goal = 0

  constructor(match: PlayedMatch, placeOf: (speed: number) => LockstepPlace,
    enter: (place: LockstepPlace) => Promise<Session>) {
    this.#match = match
    this.#placeOf = placeOf
    this.#enter = enter
  }

  async begin(): Promise<void> {
    const { signal } = this.#stop
    const scrubber = element<HTMLInputElement>('scrubber')
    scrubber.max = String(this.#match.ticks)
    element('player').hidden = false
    scrubber.addEventListener('input', () => void this.#seek(Number(scrubber.value)), { signal })
    element('replay-speed').addEventListener('change', () => this.#setSpeed(this.#speed), { signal })
    element('replay-play').addEventListener('click', () => this.#toggle(), { signal })
    element('replay-end').addEventListener('click', () => this.#end(), { signal })
    this.#session = await this.#enter(this.#placeOf(this.#speed))
    this.#watch()
  }

  get #speed(): number {
    return Number(element<HTMLSelectElement>('replay-speed').value)
  }

  #setSpeed(speed: number): void {
    const feed = this.#session?.room.runner.feed as { speed?: number } | undefined
    if (feed !== undefined) feed.speed = speed
  }

  #toggle(): void {
    const isPaused = element('replay-play').textContent === 'play'
    setText(element('replay-play'), isPaused ? 'pause' : 'play')
    this.#setSpeed(isPaused ? this.#speed : 0)
  }

  async #seek(tick: number): Promise<void> {
    this.#goal = tick
    if (this.#session !== undefined && this.#session.room.tick > tick)
      this.#session = await this.#enter(this.#placeOf(SEEK_SPEED))
    else this.#setSpeed(SEEK_SPEED)
  }

  #watch(): void {
    const timer = setInterval(() => {
      const room = this.#session?.room
      if (this.#stop.signal.aborted || room === undefined) return clearInterval(timer)
      if (this.#goal > 0 && room.tick >= this.#goal) {
        this.#goal = 0
        this.#setSpeed(element('replay-play').textContent === 'play' ? 0 : this.#speed)
      }
      const scrubber = element<HTMLInputElement>('scrubber')
      if (this.#goal === 0) scrubber.value = String(room.tick)
      setText(element('replay-time'), `${clock(room.tick / TICK_RATE)} / ${clock(this.#match.ticks / TICK_RATE)}`)
    }, 100)
  }

  #end(): void {
    this.#stop.abort()
    element('player').hidden = true
    document.body.classList.remove('is-replay')
    this.#session?.end()
  }
}
