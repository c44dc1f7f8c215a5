/** The ground, the rocks, and the darkness over what the team does not see. All of it is made once for a map. */

import * as THREE from 'three'
import { CELLS, columnOf, rowOf, SIZE, type GameMap } from '../map.ts'
import type { Fog } from './fog.ts'

const TEXTURE_SIDE = 1024
/** Below everything, so that the edge of the map is not the edge of the world. */
const ABYSS = 0x070b1c

/** Random numbers of the picture, from a cell. */
function noise(cell: number): number {
  const mixed = Math.imul(cell ^ (cell >>> 7), 0x9e37_79b1) >>> 0
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 0x1_0000_0000
}

/** Panels of metal with seams, as in the arena. */
function groundTexture({ starts }: GameMap): THREE.CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = TEXTURE_SIDE
  canvas.height = TEXTURE_SIDE
  const pen = canvas.getContext('2d')!
  const cell = TEXTURE_SIDE / SIZE
  for (let row = 0; row < SIZE; row += 4) {
    for (let column = 0; column < SIZE; column += 4) {
      const light = 30 + noise(row * 977 + column) * 9
      pen.fillStyle = `hsl(226 28% ${light * 0.72}%)`
      pen.fillRect(column * cell, row * cell, cell * 4, cell * 4)
    }
  }
  for (let speck = 0; speck < 14_000; speck++) {
    pen.fillStyle = noise(speck * 3) > 0.5 ? 'rgb(255 255 255 / 3%)' : 'rgb(0 0 0 / 9%)'
    pen.fillRect(noise(speck * 7 + 1) * TEXTURE_SIDE, noise(speck * 11 + 2) * TEXTURE_SIDE, 2, 2)
  }
  pen.strokeStyle = 'rgb(4 7 20 / 55%)'
  for (let line = 0; line <= SIZE; line += 4) {
    pen.strokeRect(line * cell, -1, 0.5, TEXTURE_SIDE + 2)
    pen.strokeRect(-1, line * cell, TEXTURE_SIDE + 2, 0.5)
  }
  for (const start of starts) {
    const [x, y] = [(columnOf(start) + 0.5) * cell, (rowOf(start) + 0.5) * cell]
    pen.strokeStyle = 'rgb(255 170 110 / 40%)'
    pen.lineWidth = 2
    pen.beginPath()
    pen.arc(x, y, cell * 4.5, 0, 7)
    pen.stroke()
  }
  const texture = new THREE.CanvasTexture(canvas)
  texture.colorSpace = THREE.SRGBColorSpace
  texture.anisotropy = 4
  return texture
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
    mesh.setColorAt(at, colour.setHSL(0.66 + noise(cell + 6) * 0.05, 0.2, 0.2 + noise(cell + 7) * 0.1))
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
  const ground = new THREE.Mesh(plane(SIZE), new THREE.MeshLambertMaterial({ map: groundTexture(map) }))
  const abyss = new THREE.Mesh(plane(SIZE * 5), new THREE.MeshBasicMaterial({ color: ABYSS }))
  abyss.position.y = -0.4
  const dark = new THREE.Mesh(plane(SIZE), new THREE.MeshBasicMaterial({
    color: 0x05070f, alphaMap: fog.texture, transparent: true, depthWrite: false,
  }))
  // The first row of the fog is the northern one.
  const uv = dark.geometry.getAttribute('uv')
  for (let corner = 0; corner < uv.count; corner++) uv.setY(corner, 1 - uv.getY(corner))
  dark.position.y = 1.7
  dark.renderOrder = 5
  group.add(abyss, ground, rocks(map), dark)
  return group
}
