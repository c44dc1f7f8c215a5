/**
 * Fog of war, for the eyes only: what the local team sees now, and what it has seen. Every peer of a lockstep match
 * simulates everything, so this hides nothing from a program that reads the memory of the page.
 */

import * as THREE from 'three'
import type { ObjectId } from 'tickwire'
import { CELLS, SIZE } from '../map-cells.ts'
import { SIGHT } from '../rules.ts'

/** Darkness of a cell that was seen, and of one that never was, of 255. */
const SEEN = 100
const UNSEEN = 215

export class Fog {
  readonly texture: THREE.DataTexture
  /** Whether everything is visible: for observers and replays. */
  isOff = false
  /** 1: the local team sees the cell. */
  readonly #visible = new Uint8Array(CELLS)
  /** 1: the local team has seen the cell. */
  readonly #explored = new Uint8Array(CELLS)
  /** Buildings that the local team has seen. */
  readonly #buildings = new Set<ObjectId>()
  /** Two channels a cell: an alpha map is read from the second. */
  readonly #pixels = new Uint8Array(CELLS * 2)

  constructor() {
    this.texture = new THREE.DataTexture(this.#pixels, SIZE, SIZE, THREE.RGFormat)
    this.texture.magFilter = THREE.LinearFilter
    this.texture.minFilter = THREE.LinearFilter
    this.forget()
  }

  /** Everything is dark again: another match, or another seat. */
  forget(): void {
    this.#visible.fill(0)
    this.#explored.fill(0)
    this.#buildings.clear()
    this.#pixels.fill(UNSEEN)
    this.texture.needsUpdate = true
  }

  /** Begins a new look at what is visible. */
  begin(): void {
    this.#visible.fill(0)
  }

  /** An own object at (x, y) sees. */
  see(x: number, y: number, sight: number = SIGHT): void {
    const [top, bottom] = [Math.max(0, Math.floor(y - sight)), Math.min(SIZE - 1, Math.floor(y + sight))]
    for (let row = top; row <= bottom; row++) {
      const across = Math.sqrt(Math.max(0, sight * sight - (row + 0.5 - y) * (row + 0.5 - y)))
      const left = row * SIZE + Math.max(0, Math.floor(x - across))
      const right = row * SIZE + Math.min(SIZE - 1, Math.floor(x + across))
      this.#visible.fill(1, left, right + 1)
    }
  }

  /** Ends the look: the texture follows. */
  end(): void {
    for (let cell = 0; cell < CELLS; cell++) {
      if (this.#visible[cell] === 1) this.#explored[cell] = 1
      const dark = this.isOff || this.#visible[cell] === 1 ? 0 : this.#explored[cell] === 1 ? SEEN : UNSEEN
      // Smooth in time: a third of the way in each look.
      this.#pixels[cell * 2 + 1]! += Math.round((dark - this.#pixels[cell * 2 + 1]!) * 0.34)
    }
    this.texture.needsUpdate = true
  }

  /** A building stands at (x, y): the local team knows it from the time on at which it sees it. */
  noteBuilding(id: ObjectId, x: number, y: number): void {
    if (this.isVisible(x, y)) this.#buildings.add(id)
  }

  /** Whether the local team has seen a building. What is built in the dark later is not shown. */
  isKnown(id: ObjectId): boolean {
    return this.isOff || this.#buildings.has(id)
  }

  isVisible(x: number, y: number): boolean {
    return this.isOff || this.#visible[Math.floor(y) * SIZE + Math.floor(x)] === 1
  }

  isExplored(x: number, y: number): boolean {
    return this.isOff || this.#explored[Math.floor(y) * SIZE + Math.floor(x)] === 1
  }
}
