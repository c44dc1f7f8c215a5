/** The camera: looks down on the map from the south, at a fixed angle. It moves and zooms, and never turns. */

import * as THREE from 'three'
import { SIZE } from '../map-cells.ts'

/** Height above the ground at the closest and at the farthest zoom, in cells. */
const HEIGHT_MIN = 11
const HEIGHT_MAX = 62
/** How far south of its target the camera stands, in parts of its height. */
const SOUTH = 0.72
const FOV = 42

/** A place on the map, in cells. */
export interface Spot {
  readonly x: number
  readonly y: number
}

export class MapCamera {
  readonly camera: THREE.PerspectiveCamera = new THREE.PerspectiveCamera(FOV, 1, 1, 220)
  /** The cell in the middle of the screen. */
  x: number = SIZE / 2
  y: number = SIZE / 2
  height = 20
  #width = 1
  #screenHeight = 1
  readonly #ray = new THREE.Raycaster()
  readonly #ground = new THREE.Plane(new THREE.Vector3(0, 1, 0), 0)
  readonly #hit = new THREE.Vector3()
  readonly #point = new THREE.Vector2()

  resize(width: number, height: number): void {
    this.#width = width
    this.#screenHeight = height
    this.camera.aspect = width / height
    this.camera.updateProjectionMatrix()
  }

  lookAt({ x, y }: Spot): void {
    this.x = x
    this.y = y
  }

  /** The map from afar: observers and replays have no base to look at. */
  showMap(): void {
    this.lookAt({ x: SIZE / 2, y: SIZE / 2 })
    this.height = HEIGHT_MAX
  }

  /** Moves by a share of what the screen shows. */
  scroll(dx: number, dy: number): void {
    this.x = Math.min(SIZE, Math.max(0, this.x + dx * this.height))
    this.y = Math.min(SIZE, Math.max(0, this.y + dy * this.height))
  }

  /** Zooms. The place under the pointer stays there. */
  zoom(factor: number, pointerX: number, pointerY: number): void {
    const before = this.spotAt(pointerX, pointerY)
    this.height = Math.min(HEIGHT_MAX, Math.max(HEIGHT_MIN, this.height * factor))
    this.place()
    const after = this.spotAt(pointerX, pointerY)
    this.x += before.x - after.x
    this.y += before.y - after.y
    this.scroll(0, 0)
  }

  /** Puts the camera where it belongs, before a frame is drawn. */
  place(): void {
    this.camera.position.set(this.x, this.height, this.y + this.height * SOUTH)
    this.camera.lookAt(this.x, 0, this.y)
    this.camera.updateMatrixWorld()
  }

  /** The place on the ground under a pixel. */
  spotAt(pixelX: number, pixelY: number): Spot {
    this.#point.set((pixelX / this.#width) * 2 - 1, 1 - (pixelY / this.#screenHeight) * 2)
    this.#ray.setFromCamera(this.#point, this.camera)
    const hit = this.#ray.ray.intersectPlane(this.#ground, this.#hit)
    return hit === null ? { x: this.x, y: this.y } : { x: hit.x, y: hit.z }
  }

  /** The pixel over a place. */
  pixelOf(x: number, y: number, height: number = 0): Spot {
    this.#hit.set(x, height, y).project(this.camera)
    return { x: ((this.#hit.x + 1) / 2) * this.#width, y: ((1 - this.#hit.y) / 2) * this.#screenHeight }
  }

  /** The cells that the screen shows, with a margin. */
  bounds(): { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number } {
    const [topLeft, topRight] = [this.spotAt(0, 0), this.spotAt(this.#width, 0)]
    const bottom = this.spotAt(this.#width / 2, this.#screenHeight)
    return { left: topLeft.x - 2, right: topRight.x + 2, top: topLeft.y - 2, bottom: bottom.y + 3 }
  }
}
