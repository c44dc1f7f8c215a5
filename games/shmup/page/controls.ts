/** Keys, gamepads and touch: what the player holds. */

import { STICK } from '../definitions.ts'

export interface Held {
  side: number
  rise: number
  fire: boolean
  charge: boolean
  special: boolean
}

/** Pixels of a drag for full speed. */
const DRAG = 46

export class Controls {
  isActive = false
  onPress: (code: string) => void = () => {}
  /** Whether the field is turned: up on the screen is to the right on the field. */
  isUpright = false
  readonly #keys = new Set<string>()
  readonly #buttons = new Set<string>()
  #drag: { id: number; x: number; y: number; dx: number; dy: number } | undefined
  #hasTouched = false

  constructor(surface: HTMLElement, beam: HTMLElement, force: HTMLElement) {
    addEventListener('keydown', (event) => {
      if (!this.isActive) return
      if (!event.repeat) this.onPress(event.code)
      this.#keys.add(event.code)
      if (event.code === 'Space' || event.code.startsWith('Arrow')) event.preventDefault()
    })
    addEventListener('keyup', (event) => this.#keys.delete(event.code))
    addEventListener('blur', () => this.#keys.clear())
    surface.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'mouse') return
      this.#hasTouched = true
      this.#drag ??= { id: event.pointerId, x: event.clientX, y: event.clientY, dx: 0, dy: 0 }
    })
    surface.addEventListener('pointermove', (event) => {
      const drag = this.#drag
      if (drag?.id !== event.pointerId) return
      drag.dx = event.clientX - drag.x
      drag.dy = event.clientY - drag.y
      // The centre follows a finger that went too far, so that turning back answers at once.
      const over = Math.hypot(drag.dx, drag.dy) - DRAG
      if (over <= 0) return
      drag.x += (drag.dx / (over + DRAG)) * over
      drag.y += (drag.dy / (over + DRAG)) * over
    })
    for (const name of ['pointerup', 'pointercancel'] as const) {
      surface.addEventListener(name, (event) => {
        if (this.#drag?.id === event.pointerId) this.#drag = undefined
      })
    }
    for (const [element, name] of [[beam, 'beam'], [force, 'force']] as const) {
      element.addEventListener('pointerdown', () => this.#buttons.add(name))
      for (const end of ['pointerup', 'pointercancel', 'pointerleave']) {
        element.addEventListener(end, () => this.#buttons.delete(name))
      }
    }
  }

  sample(): Held {
    if (!this.isActive) return { side: 0, rise: 0, fire: false, charge: false, special: false }
    const has = (...codes: string[]): number => Number(codes.some((code) => this.#keys.has(code)))
    const pad = navigator.getGamepads?.().find((each) => each !== null)
    const axis = (index: number): number => (Math.abs(pad?.axes[index] ?? 0) > 0.15 ? pad!.axes[index]! : 0)
    const pressed = (index: number): boolean => pad?.buttons[index]?.pressed === true
    const { dx = 0, dy = 0 } = this.#drag ?? {}
    const across = has('ArrowRight', 'KeyD') - has('ArrowLeft', 'KeyA') + axis(0) + dx / DRAG
    const down = has('ArrowDown', 'KeyS') - has('ArrowUp', 'KeyW') + axis(1) + dy / DRAG
    const [side, rise] = this.isUpright ? [-down, across] : [across, down]
    const charge = has('KeyX', 'ShiftLeft', 'ShiftRight') === 1 || pressed(1) || this.#buttons.has('beam')
    return {
      side: stick(side), rise: stick(rise), charge,
      fire: has('Space', 'KeyZ', 'KeyY') === 1 || pressed(0) || (this.#hasTouched && !charge),
      special: has('KeyC') === 1 || pressed(2) || this.#buttons.has('force'),
    }
  }
}

function stick(value: number): number {
  return Math.round(Math.max(-1, Math.min(1, value)) * STICK)
}
