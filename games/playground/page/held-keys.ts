/**
 * A visitor's input: arrow keys, or a finger on a screen, whose direction from the middle counts.
 *
 * A visitor without input for a while has left; then bots continue.
 */

import type { Hands } from '../lab.ts'

const ARROWS = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const
const GONE_MS = 2500
/** A fraction of the screen: nearer to the middle, there is no direction. */
const DEAD = 0.12

type Direction = (typeof ARROWS)[keyof typeof ARROWS]

export class HeldKeys implements Hands {
  readonly #held = new Set<Direction>()
  readonly #listening = new AbortController()
  #lastAt = -Infinity

  constructor() {
    const { signal } = this.#listening
    addEventListener('keydown', (event) => {
      if (!(event.key in ARROWS) || hasArrows(event.target) || event.ctrlKey || event.altKey || event.metaKey) return
      event.preventDefault()
      this.#press(event.key)
    }, { signal })
    addEventListener('keyup', (event) => this.#release(event.key), { signal })
    addEventListener('blur', () => this.#held.clear(), { signal })
  }

  /** Lets a finger, or a mouse with its button held down, steer on an element. */
  steerOn(surface: HTMLElement): void {
    const { signal } = this.#listening
    const steer = (event: PointerEvent): void => {
      if (event.buttons === 0) return
      const { left, top, width, height } = surface.getBoundingClientRect()
      const [x, y] = [(event.clientX - left) / width - 0.5, (event.clientY - top) / height - 0.5]
      this.#held.clear()
      if (Math.abs(x) > DEAD) this.#press(x < 0 ? 'ArrowLeft' : 'ArrowRight')
      if (Math.abs(y) > DEAD * 2) this.#press(y < 0 ? 'ArrowUp' : 'ArrowDown')
    }
    surface.addEventListener('pointerdown', steer, { signal })
    surface.addEventListener('pointermove', steer, { signal })
    for (const name of ['pointerup', 'pointercancel', 'pointerleave'] as const)
      surface.addEventListener(name, () => this.#held.clear(), { signal })
  }

  get keys(): Hands['keys'] {
    if (this.#held.size > 0) this.#lastAt = performance.now()
    if (performance.now() - this.#lastAt > GONE_MS) return undefined
    const has = (direction: Direction): boolean => this.#held.has(direction)
    return { left: has('left'), right: has('right'), up: has('up'), down: has('down') }
  }

  close(): void {
    this.#listening.abort()
  }

  #press(key: string): void {
    this.#held.add(ARROWS[key as keyof typeof ARROWS])
  }

  #release(key: string): void {
    this.#held.delete(ARROWS[key as keyof typeof ARROWS])
  }
}

/** Whether an element uses the arrow keys itself. */
function hasArrows(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, select, pre') !== null
}
