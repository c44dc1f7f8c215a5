/**
 * Mouse, keyboard and fingers.
 *
 *   mouse    left: select, drag a box; right: order; wheel: zoom; middle: drag the map; edges: scroll
 *   fingers  drag: select; tap: select or order; two fingers: scroll and zoom
 */

import type { Spot } from './camera.ts'
import type { Hand } from './hand.ts'

/** Pixels that a press may move and still be a click. */
const CLICK_REACH = 7
const DOUBLE_MS = 320
/** Pixels at the edge of the screen that scroll, and the speed, in screens a second. */
const EDGE = 6
const SCROLL_SPEED = 0.9
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
}

interface Press { readonly button: number; readonly from: Spot; at: Spot; readonly isTouch: boolean }

export class Controls {
  /** Keys that no command has: for the page. */
  onKey: (event: KeyboardEvent) => void = () => {}
  readonly #canvas: HTMLCanvasElement
  readonly #hand: Hand
  readonly #box: HTMLElement
  /** Indexed by pointer id. */
  readonly #presses = new Map<number, Press>()
  readonly #held = new Set<string>()
  readonly #stop = new AbortController()
  #pointer: Spot | undefined
  #clickedAt = 0
  #wasPinch = false

  constructor(canvas: HTMLCanvasElement, hand: Hand, box: HTMLElement) {
    this.#canvas = canvas
    this.#hand = hand
    this.#box = box
    const { signal } = this.#stop
    canvas.addEventListener('pointerdown', (event) => this.#down(event), { signal })
    canvas.addEventListener('pointermove', (event) => this.#move(event), { signal })
    canvas.addEventListener('pointerup', (event) => this.#up(event), { signal })
    canvas.addEventListener('pointercancel', (event) => this.#presses.delete(event.pointerId), { signal })
    canvas.addEventListener('pointerleave', () => { this.#pointer = undefined }, { signal })
    canvas.addEventListener('contextmenu', (event) => event.preventDefault(), { signal })
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault()
      hand.camera.zoom(event.deltaY > 0 ? 1.12 : 0.89, event.clientX, event.clientY)
    }, { signal, passive: false })
    addEventListener('keydown', (event) => this.#key(event), { signal })
    addEventListener('keyup', (event) => this.#held.delete(event.key), { signal })
    addEventListener('blur', () => this.#held.clear(), { signal })
  }

  /** Listens no more. */
  stop(): void {
    this.#stop.abort()
    this.#box.hidden = true
  }

  /** Scrolls by keys and edges. Call it once a frame. */
  update(seconds: number): void {
    let [dx, dy] = [0, 0]
    for (const key of this.#held) {
      const arrow = ARROWS[key]
      if (arrow !== undefined) [dx, dy] = [dx + arrow[0], dy + arrow[1]]
    }
    const at = this.#pointer
    if (at !== undefined && this.#presses.size === 0 && document.hasFocus()) {
      if (at.x < EDGE) dx = -1
      if (at.x > innerWidth - EDGE) dx = 1
      if (at.y < EDGE) dy = -1
      if (at.y > innerHeight - EDGE) dy = 1
    }
    if (dx !== 0 || dy !== 0) this.#hand.camera.scroll(dx * SCROLL_SPEED * seconds, dy * SCROLL_SPEED * seconds)
    if (at !== undefined) this.#hand.pointed = this.#hand.camera.spotAt(at.x, at.y)
  }

  #down(event: PointerEvent): void {
    const at = { x: event.clientX, y: event.clientY }
    const isTouch = event.pointerType === 'touch'
    try {
      this.#canvas.setPointerCapture(event.pointerId)
    } catch {
      // A pointer that is gone already cannot be captured, and needs not be.
    }
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    this.#presses.set(event.pointerId, { button: event.button, from: at, at, isTouch })
    if (isTouch && this.#presses.size > 1) {
      this.#wasPinch = true
      this.#box.hidden = true
    }
    if (event.button === 2) {
      if (this.#hand.aim !== undefined) this.#hand.aim = undefined
      else this.#hand.command(at, event.shiftKey)
    }
  }

  #move(event: PointerEvent): void {
    const at = { x: event.clientX, y: event.clientY }
    if (event.pointerType !== 'touch') this.#pointer = at
    const press = this.#presses.get(event.pointerId)
    if (press === undefined) return
    if (press.isTouch && this.#presses.size === 2) this.#pinch(event.pointerId, press, at)
    else if (press.button === 1) this.#drag(press.at, at)
    press.at = at
    if (press.button === 0 && !this.#wasPinch && this.#hand.aim === undefined) this.#showBox(press)
  }

  #up(event: PointerEvent): void {
    const press = this.#presses.get(event.pointerId)
    this.#presses.delete(event.pointerId)
    this.#box.hidden = true
    if (press === undefined || press.button !== 0) return
    if (this.#wasPinch) {
      if (this.#presses.size === 0) this.#wasPinch = false
      return
    }
    const hand = this.#hand
    if (hand.useAim(press.at, event.shiftKey)) return
    if (apart(press.from, press.at) > CLICK_REACH) return hand.selectBox(press.from, press.at, event.shiftKey)
    const isDouble = event.timeStamp - this.#clickedAt < DOUBLE_MS
    this.#clickedAt = event.timeStamp
    const isOrder = press.isTouch && hand.selection.ids.size > 0 && !hand.isOwn(press.at)
    if (isOrder) hand.command(press.at, false)
    else hand.select(press.at, event.shiftKey, isDouble || event.ctrlKey)
  }

  #pinch(id: number, press: Press, at: Spot): void {
    const [other] = [...this.#presses].filter(([each]) => each !== id).map(([, each]) => each)
    if (other === undefined) return
    const [before, after] = [apart(press.at, other.at), apart(at, other.at)]
    const middle = { x: (at.x + other.at.x) / 2, y: (at.y + other.at.y) / 2 }
    if (before > 10 && after > 10) this.#hand.camera.zoom(before / after, middle.x, middle.y)
    this.#drag({ x: press.at.x / 2, y: press.at.y / 2 }, { x: at.x / 2, y: at.y / 2 })
  }

  /** Moves the map with the pointer. */
  #drag(from: Spot, to: Spot): void {
    const { camera } = this.#hand
    const [a, b] = [camera.spotAt(from.x, from.y), camera.spotAt(to.x, to.y)]
    camera.scroll((a.x - b.x) / camera.height, (a.y - b.y) / camera.height)
    camera.place()
  }

  #showBox({ from, at }: Press): void {
    this.#box.hidden = apart(from, at) <= CLICK_REACH
    const { style } = this.#box
    style.left = `${Math.min(from.x, at.x)}px`
    style.top = `${Math.min(from.y, at.y)}px`
    style.width = `${Math.abs(from.x - at.x)}px`
    style.height = `${Math.abs(from.y - at.y)}px`
  }

  #key(event: KeyboardEvent): void {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return
    const hand = this.#hand
    const { key } = event
    if (key in ARROWS) {
      this.#held.add(key)
      return
    }
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1]
    if (digit !== undefined) {
      event.preventDefault()
      return hand.group(Number(digit), event.ctrlKey || event.metaKey || event.altKey)
    }
    const command = hand.commands.find((each) => each.key === key.toUpperCase())
    if (command !== undefined && !event.ctrlKey && !event.metaKey) return hand.run(command)
    if (key === 'Escape') {
      if (hand.aim !== undefined) hand.aim = undefined
      else hand.selection.replace([])
    } else if (key === '.') hand.nextWorker()
    else if (key === 'f' || key === 'F') hand.selectArmy()
    else if (key === 'b' || key === 'B') hand.goHome()
    else this.onKey(event)
  }
}

function apart(a: Spot, b: Spot): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
