/** The maps of the lobby: a small picture of each, made from the seed of the match, and the one that is chosen. */

import type { World } from 'tickwire'
import { mapKindOf } from '../definitions.ts'
import { LAYOUTS } from '../layouts.ts'
import { makeMap } from '../map.ts'
import { CELLS, columnOf, rowOf, SIZE } from '../map-cells.ts'
import { element, make, setText } from './dom.ts'
import { cssColour } from './palette.ts'

/** Colours as bytes of an image: red is the lowest. */
const GROUND = 0xff6e564c
const ROCK = 0xff2e211c
const CRYSTAL = 0xffffe07a
/** Cells of the mark of a start, to each side. */
const MARK = 4

export class MapChoice {
  readonly #buttons: readonly HTMLButtonElement[]
  readonly #pictures: readonly HTMLCanvasElement[]
  #seed = -1

  constructor(onChoice: (kind: number) => void) {
    this.#pictures = LAYOUTS.map(() => {
      const canvas = make('canvas')
      canvas.width = SIZE
      canvas.height = SIZE
      canvas.setAttribute('aria-hidden', 'true')
      return canvas
    })
    this.#buttons = LAYOUTS.map(({ name, hint }, kind) => {
      const made = make('button', '', this.#pictures[kind]!, make('span', name))
      made.type = 'button'
      made.title = hint
      made.addEventListener('click', () => onChoice(kind))
      return made
    })
    element('maps').replaceChildren(...this.#buttons)
  }

  /** `isAllowed`: the local player sits in the lobby. */
  update(world: World, isAllowed: boolean): void {
    if (world.seed !== this.#seed) this.#pictures.forEach((canvas, kind) => drawMap(canvas, world.seed, kind))
    this.#seed = world.seed
    const chosen = mapKindOf(world)
    this.#buttons.forEach((made, kind) => {
      made.disabled = !isAllowed
      made.setAttribute('aria-pressed', String(kind === chosen))
    })
    setText(element('map-hint'), `${LAYOUTS[chosen]!.name}: ${LAYOUTS[chosen]!.hint}.`)
  }
}

function drawMap(canvas: HTMLCanvasElement, seed: number, kind: number): void {
  const { rocks, starts, deposits } = makeMap(seed, kind)
  const pen = canvas.getContext('2d')!
  const image = pen.createImageData(SIZE, SIZE)
  const pixels = new Uint32Array(image.data.buffer)
  for (let cell = 0; cell < CELLS; cell++) pixels[cell] = rocks[cell] === 1 ? ROCK : GROUND
  for (const cell of deposits) for (const at of [cell, cell + 1, cell + SIZE, cell + SIZE + 1]) pixels[at] = CRYSTAL
  pen.putImageData(image, 0, 0)
  starts.forEach((start, seat) => {
    pen.fillStyle = cssColour(seat)
    pen.fillRect(columnOf(start) - MARK, rowOf(start) - MARK, 2 * MARK, 2 * MARK)
  })
}
