/** The ground, the rocks, and the darkness over what the team does not see. All of it is made once for a map. */

import * as THREE from 'three'
import { CELLS, columnOf, rowOf, SIZE, type GameMap } from '../map.ts'
import type { Fog } from './fog.ts'

const TEXTURE_SIDE = 512
/** Panels on one side of the texture, and the cells that it covers. */
const PANELS = 4
const CELLS_A_TEXTURE = 16
/** Below everything, so that the edge of the map is not the edge of the world. */
const ABYSS = 0x070b1c

/** Random numbers of the picture, from a cell. */
function noise(cell: number): number {
  const mixed = Math.imul(cell ^ (cell >>> 7), 0x9e37_79b1) >>> 0
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 0x1_0000_0000
}

/** Panels of metal with seams, as in the arena: one square of it is repeated over the map. */
function groundTexture(): THREE.CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = TEXTURE_SIDE
  canvas.height = TEXTURE_SIDE
  const pen = canvas.getContext('2d')!
  const panel = TEXTURE_SIDE / PANELS
  for (let row = 0; row < PANELS; row++) {
    for (let column = 0; column < PANELS; column++) {
      pen.fillStyle = `hsl(226 24% ${40 + noise(row * 977 + column * 131) * 9}%)`
      pen.fillRect(column * panel, row * panel, panel, panel)
    }
  }
  for (let speck = 0; speck < 5000; speck++) {
    pen.fillStyle = noise(speck * 3) > 0.5 ? 'rgb(255 255 255 / 5%)' : 'rgb(10 14 40 / 10%)'
    const [x, y] = [noise(speck * 7 + 1) * TEXTURE_SIDE, noise(speck * 11 + 2) * TEXTURE_SIDE]
    pen.fillRect(x, y, 1 + noise(speck) * 4, 1 + noise(speck + 9) * 2)
  }
  pen.strokeStyle = 'rgb(12 16 44 / 60%)'
  pen.lineWidth = 2
  for (let line = 0; line <= PANELS; line++) {
    pen.strokeRect(line * panel, -9, 0, TEXTURE_SIDE + 18)
    pen.strokeRect(-9, line * panel, TEXTURE_SIDE + 18, 0)
  }
  const texture = new THREE.CanvasTexture(canvas)
  texture.colorSpace = THREE.SRGBColorSpace
  texture.wrapS = THREE.RepeatWrapping
  texture.wrapT = THREE.RepeatWrapping
  texture.repeat.set(SIZE / CELLS_A_TEXTURE, SIZE / CELLS_A_TEXTURE)
  texture.anisotropy = 4
  return texture
}

/** Rings where the headquarters of the start stand. */
function startRings({ starts }: GameMap): THREE.InstancedMesh {
  const ring = new THREE.RingGeometry(4.4, 4.55, 48)
  ring.rotateX(-Math.PI / 2)
  const colour = new THREE.MeshBasicMaterial({ color: 0xffb27a, transparent: true, opacity: 0.5, depthWrite: false })
  const mesh = new THREE.InstancedMesh(ring, colour, starts.length)
  starts.forEach((start, at) => {
    mesh.setMatrixAt(at, new THREE.Matrix4().makeTranslation(columnOf(start) + 0.5, 0.02, rowOf(start) + 0.5))
  })
  return mesh
}

function rocks({ rocks: cells }: GameMap): THREE.InstancedMesh {
  const places: number[] = []
  for (let cell = 0; cell < CELLS; cell++) if (cells[cell] === 1) places.push(cell)
  const shape = new THREE.DodecahedronGeometry(0.72, 0)
  const mesh = new THREE.InstancedMesh(shape, new THREE.MeshLambertMaterial({ flatShading: true }), places.length)
  const [matrix, turn, colour] = [new THREE.Matrix4(), new THREE.Euler(), new THREE.Color()]
  const [place, quaternion, scale] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()]
  places.forEach((cell, at) => {
    const around = [cell - 1, cell + 1, cell - SIZE, cell + SIZE].filter((other) => cells[other] !== 0).length
    const height = 0.5 + around * 0.24 + noise(cell) * 0.7
    turn.set(noise(cell + 1) * 3, noise(cell + 2) * 6, noise(cell + 3) * 3)
    place.set(columnOf(cell) + 0.5, height * 0.3, rowOf(cell) + 0.5)
    scale.set(0.95 + noise(cell + 4) * 0.3, height, 0.95 + noise(cell + 5) * 0.3)
    mesh.setMatrixAt(at, matrix.compose(place, quaternion.setFromEuler(turn), scale))
    mesh.setColorAt(at, colour.setHSL(0.66 + noise(cell + 6) * 0.05, 0.22, 0.16 + noise(cell + 7) * 0.09))
  })
  return mesh
}

/** Everything that does not move. */
export function buildTerrain(map: GameMap, fog: Fog): THREE.Group {
  const group = new THREE.Group()
  const plane = (side: number): THREE.PlaneGeometry => {
    const made = new THREE.PlaneGeometry(side, side)
    made.rotateX(-Math.PI / 2)
    made.translate(SIZE / 2, 0, SIZE / 2)
    return made
  }
  const ground = new THREE.Mesh(plane(SIZE), new THREE.MeshLambertMaterial({ map: groundTexture() }))
  const abyss = new THREE.Mesh(plane(SIZE * 5), new THREE.MeshBasicMaterial({ color: ABYSS }))
  abyss.position.y = -0.4
  const dark = new THREE.Mesh(plane(SIZE), new THREE.MeshBasicMaterial({
    color: 0x05070f, alphaMap: fog.texture, transparent: true, depthWrite: false, depthTest: false,
  }))
  // The first row of the fog is the northern one.
  const uv = dark.geometry.getAttribute('uv')
  for (let corner = 0; corner < uv.count; corner++) uv.setY(corner, 1 - uv.getY(corner))
  // Over everything that stands there, however high it is.
  dark.position.y = 0.4
  dark.renderOrder = 5
  group.add(abyss, ground, startRings(map), rocks(map), dark)
  return group
}
