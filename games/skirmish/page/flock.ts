/**
 * Many copies of one shape in one draw call. A frame begins with `clear`, adds copies, and ends with `commit`.
 *
 * The buffers have a fixed size: no GPU object is made after the start.
 */

import * as THREE from 'three'

export class Flock {
  readonly mesh: THREE.InstancedMesh
  readonly #matrices: Float32Array
  readonly #colours: Float32Array
  readonly #colour = new THREE.Color()
  #count = 0

  constructor(shape: THREE.BufferGeometry, material: THREE.Material, capacity: number, hasColours: boolean = true) {
    this.mesh = new THREE.InstancedMesh(shape, material, capacity)
    this.mesh.frustumCulled = false
    this.mesh.count = 0
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage)
    this.#matrices = this.mesh.instanceMatrix.array as Float32Array
    this.#colours = new Float32Array(hasColours ? capacity * 3 : 0)
    if (!hasColours) return
    this.mesh.instanceColor = new THREE.InstancedBufferAttribute(this.#colours, 3)
    this.mesh.instanceColor.setUsage(THREE.DynamicDrawUsage)
  }

  get count(): number {
    return this.#count
  }

  clear(): void {
    this.#count = 0
  }

  /** Adds a copy that stands at (x, y) on the map and looks towards `heading`. `colour`: 0xrrggbb. */
  add(
    x: number, height: number, y: number, heading: number, colour: number,
    scaleX: number = 1, scaleY: number = scaleX, scaleZ: number = scaleX,
  ): void {
    const at = this.#count
    if (at >= this.#matrices.length / 16) return
    const [sin, cos] = [Math.sin(heading), Math.cos(heading)]
    const m = this.#matrices
    const from = at * 16
    m[from] = cos * scaleX
    m[from + 1] = 0
    m[from + 2] = -sin * scaleX
    m[from + 3] = 0
    m[from + 4] = 0
    m[from + 5] = scaleY
    m[from + 6] = 0
    m[from + 7] = 0
    m[from + 8] = sin * scaleZ
    m[from + 9] = 0
    m[from + 10] = cos * scaleZ
    m[from + 11] = 0
    m[from + 12] = x
    m[from + 13] = height
    m[from + 14] = y
    m[from + 15] = 1
    if (this.#colours.length > 0) this.#colour.setHex(colour).toArray(this.#colours, at * 3)
    this.#count++
  }

  /** Hands the copies of this frame to the GPU. */
  commit(): void {
    const { mesh } = this
    mesh.count = this.#count
    mesh.visible = this.#count > 0
    if (this.#count === 0) return
    mesh.instanceMatrix.clearUpdateRanges()
    mesh.instanceMatrix.addUpdateRange(0, this.#count * 16)
    mesh.instanceMatrix.needsUpdate = true
    if (mesh.instanceColor === null) return
    mesh.instanceColor.clearUpdateRanges()
    mesh.instanceColor.addUpdateRange(0, this.#count * 3)
    mesh.instanceColor.needsUpdate = true
  }
}
