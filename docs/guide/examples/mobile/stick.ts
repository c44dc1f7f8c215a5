// #region stick
/** A stick for one thumb. It knows its own finger, so that the other thumb can press a button meanwhile. */
export class Stick {
  x = 0
  y = 0
  readonly #element: HTMLElement
  #finger: number | undefined

  constructor(element: HTMLElement) {
    this.#element = element
    element.addEventListener('pointerdown', (event) => {
      if (this.#finger !== undefined) return
      this.#finger = event.pointerId
      // The finger may leave the element, and still steers.
      element.setPointerCapture(event.pointerId)
      this.#move(event)
    })
    element.addEventListener('pointermove', (event) => this.#move(event))
    // A call, a notification or a gesture of the system takes the finger away without pointerup.
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
      element.addEventListener(end, (event) => { if (event.pointerId === this.#finger) this.release() })
  }

  release(): void {
    this.#finger = undefined
    this.x = this.y = 0
  }

  #move({ pointerId, clientX, clientY }: PointerEvent): void {
    if (pointerId !== this.#finger) return
    const { left, top, width, height } = this.#element.getBoundingClientRect()
    this.x = Math.max(-1, Math.min(2 * (clientX - left) / width - 1, 1))
    this.y = Math.max(-1, Math.min(2 * (clientY - top) / height - 1, 1))
  }
}
// #endregion
