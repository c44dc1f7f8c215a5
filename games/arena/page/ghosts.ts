/** Ghosts for devtools: a wireframe at each fighter's newest position from the server, beside the drawn one. */

import * as THREE from 'three'
import type { View } from 'tickwire'
import { Fighter } from '../definitions.ts'

const RADIUS = 0.45
const LENGTH = 0.9
const COLOUR = 0x9fe8ff

export class Ghosts {
  readonly #group = new THREE.Group()
  readonly #shape = new THREE.CapsuleGeometry(RADIUS, LENGTH, 3, 10)
  readonly #material = new THREE.MeshBasicMaterial({
    color: COLOUR,
    wireframe: true,
    transparent: true,
    opacity: 0.45,
    depthWrite: false,
  })
  readonly #bodies = new Map<number, THREE.Mesh>()
  #isPlaced = false

  constructor(scene: THREE.Scene) {
    this.#group.visible = false
    scene.add(this.#group)
  }

  /** Places all ghosts. They are visible in the next draw, as long as this is called between draws. */
  place(truth: View): void {
    this.#isPlaced = true
    const seen = new Set<number>()
    for (const { id, at } of truth.each(Fighter)) {
      seen.add(id)
      let body = this.#bodies.get(id)
      if (body === undefined) {
        body = new THREE.Mesh(this.#shape, this.#material)
        this.#bodies.set(id, body)
        this.#group.add(body)
      }
      body.position.set(at.x, at.y + RADIUS + LENGTH / 2, at.z)
    }
    for (const [id, body] of this.#bodies) {
      if (seen.has(id)) continue
      this.#group.remove(body)
      this.#bodies.delete(id)
    }
  }

  /** Called before a draw: hides the ghosts when they were not placed since the last one. */
  prepare(): void {
    this.#group.visible = this.#isPlaced
    this.#isPlaced = false
  }
}
