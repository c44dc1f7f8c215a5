/** The scrubber of a replay. */

import type { LockstepRoom, PlayedMatch } from 'tickwire/lockstep'
import type { ORDERS } from '../orders.ts'
import { TICK_RATE } from '../rules.ts'
import { clock, element, setText } from './dom.ts'

const PAUSED = 0

export class ReplayBar {
  readonly #room: LockstepRoom<typeof ORDERS>
  readonly #match: PlayedMatch
  readonly #stop = new AbortController()
  #isPaused = false

  /** `onSeek`: the next tick does not follow the last one. `onClose`: the replay is over. */
  constructor(room: LockstepRoom<typeof ORDERS>, match: PlayedMatch, onSeek: () => void, onClose: () => void) {
    this.#room = room
    this.#match = match
    const { signal } = this.#stop
    const scrubber = element<HTMLInputElement>('scrubber')
    scrubber.max = String(match.ticks)
    element('player').hidden = false
    scrubber.addEventListener('input', () => {
      room.seek(Number(scrubber.value))
      onSeek()
    }, { signal })
    element('replay-speed').addEventListener('change', () => this.#setSpeed(), { signal })
    element('replay-play').addEventListener('click', () => {
      this.#isPaused = !this.#isPaused
      this.#setSpeed()
    }, { signal })
    element('replay-end').addEventListener('click', () => {
      this.stop()
      onClose()
    }, { signal })
    this.#setSpeed()
    this.#watch()
  }

  stop(): void {
    this.#stop.abort()
    element('player').hidden = true
    document.body.classList.remove('is-replay')
  }

  #setSpeed(): void {
    setText(element('replay-play'), this.#isPaused ? 'play' : 'pause')
    this.#room.setSpeed(this.#isPaused ? PAUSED : Number(element<HTMLSelectElement>('replay-speed').value))
  }

  #watch(): void {
    const timer = setInterval(() => {
      if (this.#stop.signal.aborted) return clearInterval(timer)
      const { tick } = this.#room
      const scrubber = element<HTMLInputElement>('scrubber')
      if (document.activeElement !== scrubber) scrubber.value = String(tick)
      setText(element('replay-time'), `${clock(tick / TICK_RATE)} / ${clock(this.#match.ticks / TICK_RATE)}`)
    }, 100)
  }
}
