/**
 * The shapes of units and buildings. Each has parts of plain metal and parts in the colour of its seat, in one mesh.
 * Few triangles: a machine that draws with its processor takes about two microseconds for each.
 */

import * as THREE from 'three'
import { mergeGeometries, mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js'

/** The two parts of a shape. One cell is one unit long; the front is towards +z. */
interface Model {
  readonly metal: THREE.BufferGeometry
  readonly paint: THREE.BufferGeometry
}

/** Both parts in one shape. The attribute `painted` is 1 in the colour of the seat, and 0 on metal. */
function assemble({ metal, paint }: Model): THREE.BufferGeometry {
  for (const [part, painted] of [[metal, 0], [paint, 1]] as const) {
    const flags = new Float32Array(part.getAttribute('position').count).fill(painted)
    part.setAttribute('painted', new THREE.BufferAttribute(flags, 1))
  }
  return mergeGeometries([metal, paint])
}

/** The first corner of the bottom of a box. */
const BOTTOM_FROM = 18

type Part = readonly [geometry: THREE.BufferGeometry, x: number, y: number, z: number, turnX?: number, turnY?: number]

/** A box without its bottom, which is never seen. */
function box(width: number, height: number, depth: number): THREE.BufferGeometry {
  const made = new THREE.BoxGeometry(width, height, depth)
  const faces = [...made.index!.array]
  faces.splice(BOTTOM_FROM, 6)
  made.setIndex(faces)
  return made.toNonIndexed()
}

function pipe(radius: number, length: number, sides: number = 8, top: number = radius): THREE.BufferGeometry {
  return new THREE.CylinderGeometry(top, radius, length, sides).toNonIndexed()
}

function ball(radius: number, detail: number = 1): THREE.BufferGeometry {
  return new THREE.IcosahedronGeometry(radius, detail)
}

function join(parts: readonly Part[]): THREE.BufferGeometry {
  const placed = parts.map(([geometry, x, y, z, turnX = 0, turnY = 0]) => {
    // Materials are flat-shaded: a face gets its normal from its place. So faces share corners, and a box has eight.
    geometry.deleteAttribute('uv')
    geometry.deleteAttribute('normal')
    geometry.rotateX(turnX)
    geometry.rotateY(turnY)
    geometry.translate(x, y, z)
    return geometry
  })
  return mergeGeometries(placed.map((geometry) => mergeVertices(geometry)))
}

const LEVEL = Math.PI / 2

/** Indexed by kind of unit. */
export function unitModels(): readonly THREE.BufferGeometry[] {
  return [
    {
      metal: join([[box(0.42, 0.22, 0.5), 0, 0.2, 0], [box(0.08, 0.08, 0.4), 0.16, 0.3, 0.3],
        [box(0.08, 0.08, 0.4), -0.16, 0.3, 0.3]]),
      paint: join([[box(0.3, 0.22, 0.26), 0, 0.42, -0.06], [box(0.46, 0.05, 0.12), 0, 0.12, 0.12]]),
    },
    {
      metal: join([[box(0.1, 0.24, 0.12), 0.09, 0.12, 0], [box(0.1, 0.24, 0.12), -0.09, 0.12, 0],
        [ball(0.12, 0), 0, 0.68, 0], [box(0.07, 0.07, 0.48), 0.2, 0.42, 0.18]]),
      paint: join([[box(0.34, 0.32, 0.24), 0, 0.42, 0], [box(0.14, 0.1, 0.16), 0.22, 0.54, 0],
        [box(0.14, 0.1, 0.16), -0.22, 0.54, 0]]),
    },
    {
      metal: join([[pipe(0.02, 0.9, 6, 0.2), 0, 0.24, 0.12, LEVEL], [pipe(0.13, 0.14), 0.22, 0.16, -0.2],
        [pipe(0.13, 0.14), -0.22, 0.16, -0.2]]),
      paint: join([[box(0.5, 0.06, 0.3), 0, 0.28, -0.18], [box(0.06, 0.26, 0.26), 0.22, 0.38, -0.28],
        [box(0.06, 0.26, 0.26), -0.22, 0.38, -0.28], [ball(0.13, 0), 0, 0.38, 0.02]]),
    },
    {
      metal: join([[box(0.22, 0.26, 0.95), 0.33, 0.15, 0], [box(0.22, 0.26, 0.95), -0.33, 0.15, 0],
        [pipe(0.07, 0.75), 0, 0.5, 0.5, LEVEL]]),
      paint: join([[box(0.52, 0.24, 0.86), 0, 0.26, 0], [box(0.44, 0.24, 0.46), 0, 0.5, -0.06]]),
    },
    {
      metal: join([[box(0.62, 0.18, 0.8), 0, 0.14, -0.1], [pipe(0.1, 1.15, 8, 0.07), 0, 0.62, 0.28, LEVEL - 0.5],
        [box(0.12, 0.16, 0.5), 0.38, 0.1, -0.45, 0, 0.3], [box(0.12, 0.16, 0.5), -0.38, 0.1, -0.45, 0, -0.3]]),
      paint: join([[box(0.42, 0.3, 0.36), 0, 0.36, -0.18], [box(0.66, 0.06, 0.2), 0, 0.25, 0.2]]),
    },
  ].map(assemble)
}

/** Indexed by kind of building. */
export function buildingModels(): readonly THREE.BufferGeometry[] {
  return [
    {
      metal: join([[box(2.8, 0.5, 2.8), 0, 0.25, 0], [box(2, 0.7, 2), 0, 0.8, 0], [pipe(0.07, 1.4), 0.9, 1.4, -0.9],
        [box(0.5, 0.9, 0.5), 1.1, 0.5, 1.1], [box(0.5, 0.9, 0.5), -1.1, 0.5, 1.1],
        [box(0.5, 0.9, 0.5), -1.1, 0.5, -1.1], [box(0.5, 0.9, 0.5), 1.1, 0.5, -1.1]]),
      paint: join([[ball(0.8, 2), 0, 1.15, 0], [box(2.84, 0.24, 2.84), 0, 0.35, 0], [ball(0.15), 0.9, 2.15, -0.9]]),
    },
    {
      metal: join([[box(1.8, 0.6, 1.8), 0, 0.3, 0], [pipe(0.82, 1.7, 12), 0, 0.6, 0, LEVEL],
        [box(0.5, 0.5, 0.2), 0, 0.25, 0.9]]),
      paint: join([[box(1.84, 0.1, 1.84), 0, 0.56, 0], [box(0.2, 1.5, 0.24), 0, 0.72, -0.4],
        [box(0.2, 1.5, 0.24), 0, 0.72, 0.4]]),
    },
    {
      metal: join([[box(1.8, 0.9, 1.5), 0, 0.45, -0.1], [pipe(0.16, 1.1), 0.6, 1.2, -0.5],
        [pipe(0.16, 1.1), 0.2, 1.2, -0.5], [box(1.2, 0.6, 0.3), 0, 0.3, 0.75]]),
      paint: join([[box(1.84, 0.12, 1.54), 0, 0.86, -0.1], [box(1, 0.34, 0.1), 0, 0.3, 0.92],
        [box(0.5, 0.4, 0.6), -0.5, 1.05, -0.2]]),
    },
    {
      metal: join([[pipe(0.42, 0.5, 8, 0.32), 0, 0.25, 0], [pipe(0.06, 0.7), 0.12, 0.82, 0.35, LEVEL],
        [pipe(0.06, 0.7), -0.12, 0.82, 0.35, LEVEL], [pipe(0.2, 0.4), 0, 0.6, 0]]),
      paint: join([[box(0.5, 0.3, 0.5), 0, 0.82, 0], [pipe(0.44, 0.08, 8), 0, 0.1, 0]]),
    },
  ].map(assemble)
}

/** A deposit of crystals. */
export function crystalShape(): THREE.BufferGeometry {
  const shard = (width: number, height: number): THREE.BufferGeometry => {
    const made = new THREE.OctahedronGeometry(1, 0)
    made.scale(width, height, width)
    return made
  }
  return join([[shard(0.26, 0.75), 0, 0.5, 0], [shard(0.18, 0.5), 0.28, 0.3, 0.12],
    [shard(0.16, 0.42), -0.24, 0.26, 0.16], [shard(0.14, 0.36), 0.02, 0.2, -0.3]])
}
