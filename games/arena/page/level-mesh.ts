/**
 * The level as it is drawn: the boxes of the simulation, with light baked into their corners.
 *
 * Faces are divided into small squares. At each corner some rays are cast against the level, and hits darken it. This
 * is done once, here, in some tenths of a second: nothing is downloaded.
 */

import * as THREE from 'three'
import { rayLength } from '../collision.ts'
import { HALF, PADS, SOLIDS, type Paint, type Solid } from '../level.ts'

export const COLOURS = { '-1': 0x22c8ff, 0: 0xb68cff, 1: 0xff7a2e } as const

const CELL = 1.5
const SKY_REACH = 5
const TRIM = 0.0625
/** Directions over a face, in its own axes: two along it, one away from it. */
const RAYS: readonly (readonly [number, number, number])[] = [
  [0, 0, 1], [0.6, 0, 0.8], [-0.6, 0, 0.8], [0, 0.6, 0.8], [0, -0.6, 0.8],
  [0.65, 0.65, 0.4], [-0.65, 0.65, 0.4], [0.65, -0.65, 0.4], [-0.65, -0.65, 0.4],
]
const TINTS: Record<Exclude<Paint, 'unseen'>, number> = {
  floor: 0x8b94ad,
  wall: 0x7d87a4,
  deck: 0xa0a9c2,
  block: 0x929cb8,
  stair: 0xa6afc8,
  pillar: 0xb0b9d0,
}

/** All static geometry. */
export function buildLevel(): THREE.Group {
  const group = new THREE.Group()
  const paints = Object.keys(TINTS) as Exclude<Paint, 'unseen'>[]
  for (const paint of paints) {
    const mesh = new THREE.Mesh(geometryOf(paint), new THREE.MeshStandardMaterial({
      map: panels(paint), vertexColors: true, roughness: paint === 'floor' ? 0.6 : 0.8, metalness: 0.08,
    }))
    mesh.receiveShadow = true
    mesh.castShadow = paint !== 'floor'
    group.add(mesh)
  }
  group.add(trims(), ...PADS.map(({ at }) => padMesh(at)))
  return group
}

interface Corners { positions: number[]; normals: number[]; uvs: number[]; colours: number[]; indexes: number[] }

function geometryOf(paint: Exclude<Paint, 'unseen'>): THREE.BufferGeometry {
  const corners: Corners = { positions: [], normals: [], uvs: [], colours: [], indexes: [] }
  for (const solid of SOLIDS)
    if (solid.paint === paint) for (let face = 0; face < 6; face++) addFace(corners, solid, face)
  const geometry = new THREE.BufferGeometry()
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(corners.positions, 3))
  geometry.setAttribute('normal', new THREE.Float32BufferAttribute(corners.normals, 3))
  geometry.setAttribute('uv', new THREE.Float32BufferAttribute(corners.uvs, 2))
  geometry.setAttribute('color', new THREE.Float32BufferAttribute(corners.colours, 3))
  geometry.setIndex(corners.indexes)
  return geometry
}

/** One face of a box: 0, 1 along x; 2, 3 along y; 4, 5 along z; even ones look to the negative side. */
function addFace(corners: Corners, solid: Solid, face: number): void {
  const axis = face >> 1
  const sign = face & 1 ? 1 : -1
  const low = [solid.min.x, solid.min.y, solid.min.z]
  const high = [solid.max.x, solid.max.y, solid.max.z]
  const isOutside = Math.abs((sign > 0 ? high : low)[axis]!) > HALF && axis !== 1
  if (isOutside || (axis === 1 && sign < 0 && low[1]! <= 0)) return
  const [u, v] = axis === 0 ? [2, 1] : axis === 1 ? [0, 2] : [0, 1]
  const [columns, rows] = [u, v].map((along) => Math.max(1, Math.ceil((high[along]! - low[along]!) / CELL))) as [
    number,
    number,
  ]
  const first = corners.positions.length / 3
  const normal = [0, 0, 0]
  normal[axis] = sign
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++) {
      const place = [0, 0, 0]
      place[axis] = (sign > 0 ? high : low)[axis]!
      place[u] = low[u]! + (high[u]! - low[u]!) * column / columns
      place[v] = low[v]! + (high[v]! - low[v]!) * row / rows
      corners.positions.push(...place)
      corners.normals.push(...normal)
      corners.uvs.push(place[u]! / 4, place[v]! / 4)
      corners.colours.push(...tint(solid, place, axis, sign, u, v))
    }
  }
  // Counter-clockwise as seen from outside; which way that is depends on the axis.
  const isFlipped = (sign > 0) !== (axis === 2)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const a = first + row * (columns + 1) + column
      const [b, c, d] = [a + 1, a + columns + 1, a + columns + 2]
      corners.indexes.push(...(isFlipped ? [a, c, b, b, c, d] : [a, b, c, b, d, c]))
    }
  }
}

const colour = new THREE.Color()
const glow = new THREE.Color()

/** The light at a corner, tinted slightly with the colour of its half. */
function tint(
  solid: Solid,
  place: readonly number[],
  axis: number,
  sign: number,
  u: number,
  v: number,
): [number, number, number] {
  let open = 0
  for (const ray of RAYS) {
    const direction = [0, 0, 0]
    direction[axis] = ray[2] * sign
    direction[u] = ray[0]
    direction[v] = ray[1]
    const from = { x: place[0]! + 0, y: place[1]!, z: place[2]! }
    // Away from the face and from its edge, so that the box itself and neighbours of the same height do not count.
    const [x, y, z] = [from.x + direction[0]! * 0.05, from.y + direction[1]! * 0.05, from.z + direction[2]! * 0.05]
    open += rayLength({ x, y, z }, { x: direction[0]!, y: direction[1]!, z: direction[2]! }, SKY_REACH) / SKY_REACH
  }
  const share = open / RAYS.length
  const light = 0.42 + 0.85 * share * share
  colour.setHex(TINTS[solid.paint as Exclude<Paint, 'unseen'>])
  const half = Math.max(-1, Math.min((place[0]! - place[2]!) / 30, 1))
  glow.setHex(half < 0 ? COLOURS['-1'] : COLOURS[1])
  colour.lerp(glow, Math.abs(half) * 0.14 + (1 - share) * 0.2)
  return [colour.r * light, colour.g * light, colour.b * light]
}

/** Bright lines along the upper edges of walkable boxes. */
function trims(): THREE.Group {
  const group = new THREE.Group()
  const parts = new Map<number, THREE.Matrix4[]>()
  const add = (hex: number, x: number, y: number, z: number, sx: number, sy: number, sz: number): void => {
    const matrix = new THREE.Matrix4().compose(
      new THREE.Vector3(x, y, z),
      new THREE.Quaternion(),
      new THREE.Vector3(sx, sy, sz),
    )
    parts.set(hex, [...(parts.get(hex) ?? []), matrix])
  }
  for (const { min, max, paint, side } of SOLIDS) {
    if (paint !== 'deck' && paint !== 'block' && !(paint === 'wall' && max.y < 5)) continue
    const hex = COLOURS[side]
    const y = max.y - 0.14
    const [cx, cz] = [(min.x + max.x) / 2, (min.z + max.z) / 2]
    if (Math.abs(min.z) < HALF) add(hex, cx, y, min.z, max.x - min.x + TRIM, TRIM, TRIM)
    if (Math.abs(max.z) < HALF) add(hex, cx, y, max.z, max.x - min.x + TRIM, TRIM, TRIM)
    if (Math.abs(min.x) < HALF) add(hex, min.x, y, cz, TRIM, TRIM, max.z - min.z + TRIM)
    if (Math.abs(max.x) < HALF) add(hex, max.x, y, cz, TRIM, TRIM, max.z - min.z + TRIM)
  }
  for (const [side, sign] of [['-1', -1], ['1', 1]] as const) {
    add(COLOURS[side], sign * HALF, 7.5, 0, TRIM * 2, TRIM * 2, HALF * 2)
    add(COLOURS[side], 0, 7.5, -sign * HALF, HALF * 2, TRIM * 2, TRIM * 2)
    for (let post = -18; post <= 18; post += 12) add(COLOURS[side], sign * HALF, 4.5, post, TRIM * 2, 6, TRIM * 2)
    for (let post = -18; post <= 18; post += 12) add(COLOURS[side], post, 4.5, -sign * HALF, TRIM * 2, 6, TRIM * 2)
  }
  for (const [hex, matrices] of parts) {
    const bright = new THREE.Color(hex).multiplyScalar(1.9)
    const mesh = new THREE.InstancedMesh(
      new THREE.BoxGeometry(1, 1, 1),
      new THREE.MeshBasicMaterial({ color: bright, toneMapped: true }),
      matrices.length,
    )
    matrices.forEach((matrix, index) => mesh.setMatrixAt(index, matrix))
    group.add(mesh)
  }
  return group
}

function padMesh({ x, y, z }: { readonly x: number; readonly y: number; readonly z: number }): THREE.Group {
  const group = new THREE.Group()
  const hex = x - z < 0 ? COLOURS['-1'] : COLOURS[1]
  const base = new THREE.Mesh(
    new THREE.CylinderGeometry(1.15, 1.3, 0.12, 24),
    new THREE.MeshStandardMaterial({ color: 0x20263a, roughness: 0.4, metalness: 0.7 }),
  )
  const light = new THREE.MeshBasicMaterial({ color: new THREE.Color(hex).multiplyScalar(1.6) })
  const ring = new THREE.Mesh(new THREE.TorusGeometry(0.95, 0.06, 8, 32), light)
  const inner = new THREE.Mesh(new THREE.TorusGeometry(0.5, 0.05, 8, 24), light)
  const beam = new THREE.Mesh(
    new THREE.CylinderGeometry(0.9, 0.95, 2.2, 24, 1, true),
    new THREE.MeshBasicMaterial({
      color: hex,
      map: fade(),
      transparent: true,
      opacity: 0.22,
      blending: THREE.AdditiveBlending,
      side: THREE.DoubleSide,
      depthWrite: false,
    }),
  )
  ring.rotation.x = inner.rotation.x = Math.PI / 2
  ring.position.y = inner.position.y = 0.08
  beam.position.y = 1.15
  group.add(base, ring, inner, beam)
  group.position.set(x, y, z)
  return group
}

/** A gradient that fades out at the top. */
function fade(): THREE.CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = 1
  canvas.height = 64
  const context = canvas.getContext('2d')!
  const gradient = context.createLinearGradient(0, 0, 0, 64)
  gradient.addColorStop(0, '#000')
  gradient.addColorStop(0.6, '#222')
  gradient.addColorStop(1, '#999')
  context.fillStyle = gradient
  context.fillRect(0, 0, 1, 64)
  return new THREE.CanvasTexture(canvas)
}

/** A texture of panels with seams and scratches, generated here. */
function panels(paint: Paint): THREE.CanvasTexture {
  const size = 512
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = size
  const context = canvas.getContext('2d')!
  context.fillStyle = '#d4d4d4'
  context.fillRect(0, 0, size, size)
  let seed = paint.length * 7919 + paint.charCodeAt(0)
  const roll = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 0x1_0000_0000
  for (let speck = 0; speck < 9000; speck++) {
    context.fillStyle = `rgb(${roll() < 0.5 ? '0 0 0' : '255 255 255'} / ${roll() * 7}%)`
    context.fillRect(roll() * size, roll() * size, 1 + roll() * 5, 1 + roll() * 2)
  }
  const across = paint === 'floor' ? 2 : paint === 'wall' ? 2 : 4
  const cell = size / across
  for (let x = 0; x < across; x++) {
    for (let y = 0; y < across; y++) {
      context.fillStyle = `rgb(0 0 0 / ${roll() * 14}%)`
      context.fillRect(x * cell, y * cell, cell, cell)
      context.strokeStyle = 'rgb(0 0 0 / 42%)'
      context.lineWidth = 2
      context.strokeRect(x * cell, y * cell, cell, cell)
      context.strokeStyle = 'rgb(255 255 255 / 22%)'
      context.lineWidth = 1
      context.strokeRect(x * cell + 3, y * cell + 3, cell - 6, cell - 6)
      context.fillStyle = 'rgb(0 0 0 / 30%)'
      for (const [cx, cy] of [
        [8, 8],
        [cell - 10, 8],
        [8, cell - 10],
        [cell - 10, cell - 10],
      ] as const)
        context.fillRect(x * cell + cx, y * cell + cy, 3, 3)
    }
  }
  const texture = new THREE.CanvasTexture(canvas)
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping
  texture.colorSpace = THREE.SRGBColorSpace
  texture.anisotropy = 8
  return texture
}

