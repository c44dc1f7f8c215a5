/** The minimap: the whole map in a corner. A click moves the camera, a right click orders. */

import type { World } from 'tickwire'
import { Building, Crystal, mapKindOf, Unit } from '../definitions.ts'
import { makeMap } from '../map.ts'
import { CELLS, columnOf, rowOf, SIZE } from '../map-cells.ts'
import { BUILDINGS } from '../rules.ts'
import type { MapCamera, Spot } from './camera.ts'
import type { Fog } from './fog.ts'
import { cssColour, SEAT_COLOURS } from './palette.ts'

export class Minimap {
  onOrder: (spot: Spot) => void = () => {}
  /** A click. True: a command that waited for its place used it, and the camera stays. */
  onAim: (spot: Spot) => boolean = () => false
  readonly #pen: CanvasRenderingContext2D
  readonly #image: ImageData
  readonly #pixels: Uint32Array
  #ground: Uint32Array = new Uint32Array(CELLS)
  #starts: readonly number[] = []
  #seed = -1
  #kind = 0
  readonly #alarms: { readonly x: number; readonly y: number; until: number
    readonly colour: string }[] = []

  constructor(canvas: HTMLCanvasElement, camera: MapCamera) {
    canvas.width = SIZE
    canvas.height = SIZE
    this.#pen = canvas.getContext('2d')!
    this.#image = this.#pen.createImageData(SIZE, SIZE)
    this.#pixels = new Uint32Array(this.#image.data.buffer)
    let isDragging = false
    const spotOf = (event: PointerEvent): Spot => {
      const { left, top, width, height } = canvas.getBoundingClientRect()
      return { x: ((event.clientX - left) / width) * SIZE, y: ((event.clientY - top) / height) * SIZE }
    }
    canvas.addEventListener('pointerdown', (event) => {
      event.preventDefault()
      const spot = spotOf(event)
      isDragging = false
      if (event.button === 2) this.onOrder(spot)
      else if (!this.onAim(spot)) {
        isDragging = true
        camera.lookAt(spot)
      }
    })
    canvas.addEventListener('pointermove', (event) => {
      if (isDragging && (event.buttons & 1) === 1) camera.lookAt(spotOf(event))
    })
    canvas.addEventListener('contextmenu', (event) => event.preventDefault())
  }

  /** Something happens here: rings for a moment. Default: red, the player is under attack. */
  alarm(x: number, y: number, now: number, colour: string = '#ff5544'): void {
    if (this.#alarms.length < 6) this.#alarms.push({ x, y, until: now + 2500, colour })
  }

  draw(world: World, fog: Fog, camera: MapCamera, seat: number, now: number): void {
    if (this.#seed !== world.seed || this.#kind !== mapKindOf(world)) this.#makeGround(world.seed, mapKindOf(world))
    const pixels = this.#pixels
    for (let cell = 0; cell < CELLS; cell++) {
      const [x, y] = [columnOf(cell), rowOf(cell)]
      pixels[cell] = fog.isVisible(x, y) ? this.#ground[cell]! : fog.isExplored(x, y) ? 0xff2a1a14 : 0xff0f0805
    }
    for (const { at } of world.each(Crystal)) if (fog.isExplored(columnOf(at), rowOf(at))) pixels[at] = 0xffffe07a
    for (const building of world.each(Building)) {
      const { size } = BUILDINGS[building.kind]!
      if (building.seat !== seat && !fog.isKnown(building.id)) continue
      for (let row = 0; row < size; row++)
        for (let column = 0; column < size; column++) pixels[building.at + row * SIZE + column] = paint(building.seat)
    }
    for (const { x, y, seat: owner } of world.each(Unit)) {
      if (owner !== seat && !fog.isVisible(x, y)) continue
      pixels[Math.floor(y) * SIZE + Math.floor(x)] = paint(owner)
    }
    this.#pen.putImageData(this.#image, 0, 0)
    this.#drawStarts()
    this.#drawFrame(camera, now)
  }

  /** Rings where the seats began: where to look for them. */
  #drawStarts(): void {
    this.#starts.forEach((start, seat) => {
      this.#pen.strokeStyle = `${cssColour(seat)}99`
      this.#pen.strokeRect(columnOf(start) - 2.5, rowOf(start) - 2.5, 6, 6)
    })
  }

  #drawFrame(camera: MapCamera, now: number): void {
    const pen = this.#pen
    const { left, right, top, bottom } = camera.bounds()
    pen.strokeStyle = '#ffffffcc'
    pen.lineWidth = 1
    pen.strokeRect(Math.round(left) + 0.5, Math.round(top) + 0.5, Math.round(right - left), Math.round(bottom - top))
    for (let each = this.#alarms.length - 1; each >= 0; each--) {
      const alarm = this.#alarms[each]!
      if (alarm.until < now) this.#alarms.splice(each, 1)
      const wave = ((alarm.until - now) / 400) % 1
      pen.strokeStyle = alarm.colour
      pen.beginPath()
      pen.arc(alarm.x, alarm.y, 3 + 9 * Math.max(0, wave), 0, 7)
      pen.stroke()
    }
  }

  #makeGround(seed: number, kind: number): void {
    this.#seed = seed
    this.#kind = kind
    const { rocks, starts } = makeMap(seed, kind)
    this.#starts = starts
    this.#ground = Uint32Array.from(rocks, (rock) => (rock === 1 ? 0xff4a3530 : 0xff6e564c))
  }
}

/** The colour of a seat as bytes of an image: red is the lowest. */
function paint(seat: number): number {
  const colour = SEAT_COLOURS[seat]!
  return (0xff00_0000 | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0
}
