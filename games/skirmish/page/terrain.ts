/**
 * The ground, the walls of rock, their lights, and the darkness over what the team does not see. All of it is made once
 * for a map, in six draw calls, or four in the reduced mode.
 */

import * as THREE from 'three'
import type { GameMap } from '../map.ts'
import { CELLS, cellAt, columnOf, rowOf, SIZE } from '../map-cells.ts'
import type { Fog } from './fog.ts'
import { glowTexture, panelTexture } from './textures.ts'
import { SEAT_COLOURS } from './palette.ts'

/** Cells that one square of the texture covers. */
const CELLS_A_TEXTURE = 16
/** Below everything, so that the edge of the map is not the edge of the world. */
const ABYSS = 0x04060f
/** Height of the outermost rocks, what each row further inside adds, and the number of rows. */
const WALL = 0.62
const TERRACE = 0.42
const TERRACES = 3
/** Thickness of the lines of light along the walls, as in the arena. */
const TRIM = 0.075
const BRIGHT = [1, 1, 1, 1] as const
const COLD = 0x22c8ff
const WARM = 0xff7a2e

/** Random numbers of the picture, from a cell. */
function noise(cell: number): number {
  const mixed = Math.imul(cell ^ (cell >>> 7), 0x9e37_79b1) >>> 0
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 0x1_0000_0000
}

function isRock(rocks: Uint8Array, x: number, y: number): boolean {
  return x < 0 || y < 0 || x >= SIZE || y >= SIZE || rocks[cellAt(x, y)] === 1
}

/** How high the rock of each cell is; 0: free ground. Rocks rise in terraces from their edge. Indexed by cell. */
function heightsOf(rocks: Uint8Array): Float32Array {
  const heights = new Float32Array(CELLS)
  for (let cell = 0; cell < CELLS; cell++) {
    if (rocks[cell] === 0) continue
    const [x, y] = [columnOf(cell), rowOf(cell)]
    let depth = 0
    for (let ring = 1; ring <= TERRACES && depth === ring - 1; ring++) {
      let isInside = true
      for (let dy = -ring; dy <= ring && isInside; dy++)
        for (let dx = -ring; dx <= ring && isInside; dx++) isInside = isRock(rocks, x + dx, y + dy)
      if (isInside) depth = ring
    }
    heights[cell] = WALL + depth * TERRACE + (depth > 0 ? noise(cell) * 0.12 : 0)
  }
  return heights
}

/** The light of sun and sky on a face, as `Picture` sets them, in the reduced mode. It is baked into the colours. */
const LIT_TOP: Light = [0.69, 0.61, 0.7]
const LIT_SOUTH: Light = [0.35, 0.31, 0.37]
const LIT_WEST: Light = [0.42, 0.36, 0.41]
const LIT_EAST: Light = [0.13, 0.14, 0.25]
const UNLIT: Light = [1, 1, 1]

type Light = readonly [red: number, green: number, blue: number]

interface Corners { readonly positions: number[]; readonly normals: number[]; readonly uvs: number[]
  readonly colours: number[]; readonly indexes: number[] }

/** Adds a square: its corners counter-clockwise as seen from outside, and the light at each. */
function addSquare(
  to: Corners, normal: readonly [number, number, number], corners: readonly (readonly [number, number, number])[],
  lights: readonly number[], [red, green, blue]: Light,
): void {
  const first = to.positions.length / 3
  corners.forEach(([x, y, z], at) => {
    to.positions.push(x, y, z)
    to.normals.push(...normal)
    to.uvs.push(normal[0] === 0 ? x / 4 : z / 4, normal[1] === 1 ? z / 4 : y / 4)
    const light = lights[at]!
    // The shadow side of a wall is bluer.
    to.colours.push(light * 0.86 * red, light * 0.9 * green, light * 1.12 * blue)
  })
  to.indexes.push(first, first + 1, first + 2, first, first + 2, first + 3)
}

function geometryOf({ positions, normals, uvs, colours, indexes }: Corners): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry()
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3))
  geometry.setAttribute('normal', new THREE.Float32BufferAttribute(normals, 3))
  geometry.setAttribute('uv', new THREE.Float32BufferAttribute(uvs, 2))
  geometry.setAttribute('color', new THREE.Float32BufferAttribute(colours, 3))
  geometry.setIndex(indexes)
  return geometry
}

/** The walls. The camera looks north and never turns: no wall is seen from the north. */
function walls({ rocks }: GameMap, heights: Float32Array, isReduced: boolean): THREE.Mesh {
  const to: Corners = { positions: [], normals: [], uvs: [], colours: [], indexes: [] }
  const heightAt = (x: number, y: number): number =>
    x < 0 || y < 0 || x >= SIZE || y >= SIZE ? -0.4 : heights[cellAt(x, y)]!
  for (let cell = 0; cell < CELLS; cell++) {
    if (rocks[cell] === 0) continue
    const [x, z, top] = [columnOf(cell), rowOf(cell), heights[cell]!]
    const light = 0.5 + (top - WALL) * 0.16 + noise(cell + 5) * 0.1
    addSquare(to, [0, 1, 0], [[x, top, z + 1], [x + 1, top, z + 1], [x + 1, top, z], [x, top, z]],
      [light, light, light, light], isReduced ? LIT_TOP : UNLIT)
    const sides = [
      [heightAt(x, z + 1), [0, 0, 1], [[x, z + 1], [x + 1, z + 1]], 0.62, LIT_SOUTH],
      [heightAt(x - 1, z), [-1, 0, 0], [[x, z], [x, z + 1]], 0.78, LIT_WEST],
      [heightAt(x + 1, z), [1, 0, 0], [[x + 1, z + 1], [x + 1, z]], 0.34, LIT_EAST],
    ] as const
    for (const [low, normal, [[ax, az], [bx, bz]], bright, lit] of sides) {
      if (low >= top) continue
      addSquare(to, normal, [[ax, low, az], [bx, low, bz], [bx, top, bz], [ax, top, az]],
        [bright * 0.35, bright * 0.35, bright, bright], isReduced ? lit : UNLIT)
    }
  }
  const geometry = geometryOf(to)
  const looks = { map: panelTexture(2, 52, isReduced), vertexColors: true }
  return new THREE.Mesh(geometry, isReduced ? new THREE.MeshBasicMaterial(looks) : new THREE.MeshLambertMaterial(looks))
}

/** Lines of light along the upper edges of the walls: cold in the north-west, warm in the south-east. */
function trims({ rocks }: GameMap): THREE.Mesh {
  const lines: { x: number; z: number; along: number; isAcross: boolean }[] = []
  const isEdge = (x: number, y: number, dx: number, dy: number): boolean =>
    isRock(rocks, x, y) && x >= 0 && y >= 0 && x < SIZE && y < SIZE && !isRock(rocks, x + dx, y + dy)
  for (const [dx, dy] of [[0, 1], [0, -1], [1, 0], [-1, 0]] as const) {
    for (let lane = 0; lane < SIZE; lane++) {
      for (let at = 0; at < SIZE; at++) {
        const from = at
        while (at < SIZE && (dy === 0 ? isEdge(lane, at, dx, dy) : isEdge(at, lane, dx, dy))) at++
        if (at === from) continue
        const middle = (from + at) / 2
        lines.push(dy === 0 ? { x: lane + (dx + 1) / 2, z: middle, along: at - from, isAcross: false }
          : { x: middle, z: lane + (dy + 1) / 2, along: at - from, isAcross: true })
      }
    }
  }
  const to: Corners = { positions: [], normals: [], uvs: [], colours: [], indexes: [] }
  const [cold, warm, colour] = [new THREE.Color(COLD), new THREE.Color(WARM), new THREE.Color()]
  for (const { x, z, along, isAcross } of lines) {
    const share = Math.max(-1, Math.min(1, (x + z - SIZE) / 60))
    colour.setHex(0x6d62c8).lerp(share < 0 ? cold : warm, Math.abs(share)).multiplyScalar(0.75)
    const [halfX, halfZ] = isAcross ? [(along + TRIM) / 2, TRIM / 2] : [TRIM / 2, (along + TRIM) / 2]
    const [west, east, north, south] = [x - halfX, x + halfX, z - halfZ, z + halfZ]
    const [top, low] = [WALL + TRIM / 2, WALL - TRIM / 2]
    const lit: Light = [colour.r / 0.86, colour.g / 0.9, colour.b / 1.12]
    const [nearWest, nearEast] = [[west, top, south], [east, top, south]] as const
    addSquare(to, [0, 1, 0], [nearWest, nearEast, [east, top, north], [west, top, north]], BRIGHT, lit)
    addSquare(to, [0, 0, 1], [[west, low, south], [east, low, south], nearEast, nearWest], BRIGHT, lit)
  }
  return new THREE.Mesh(geometryOf(to), new THREE.MeshBasicMaterial({ vertexColors: true }))
}

/** Light on the ground where the headquarters of the start stand, and around them. */
function startLights({ starts }: GameMap): THREE.InstancedMesh {
  const disc = new THREE.PlaneGeometry(26, 26)
  disc.rotateX(-Math.PI / 2)
  const mesh = new THREE.InstancedMesh(disc, new THREE.MeshBasicMaterial({
    map: glowTexture(), transparent: true, blending: THREE.AdditiveBlending, depthWrite: false, opacity: 0.34,
  }), starts.length)
  starts.forEach((start, seat) => {
    mesh.setMatrixAt(seat, new THREE.Matrix4().makeTranslation(columnOf(start) + 0.5, 0.015, rowOf(start) + 0.5))
    mesh.setColorAt(seat, new THREE.Color(SEAT_COLOURS[seat]!))
  })
  mesh.renderOrder = 1
  return mesh
}

/** Everything that does not move. `isReduced`: its light is baked, and no pixel is drawn for an ornament alone. */
export function buildTerrain(map: GameMap, fog: Fog, isReduced: boolean): THREE.Group {
  const group = new THREE.Group()
  const plane = (side: number): THREE.PlaneGeometry => {
    const made = new THREE.PlaneGeometry(side, side)
    made.rotateX(-Math.PI / 2)
    made.translate(SIZE / 2, 0, SIZE / 2)
    return made
  }
  const texture = panelTexture(4, 38, isReduced)
  texture.repeat.set(SIZE / CELLS_A_TEXTURE, SIZE / CELLS_A_TEXTURE)
  const ground = new THREE.Mesh(plane(SIZE), isReduced
    ? new THREE.MeshBasicMaterial({ map: texture, color: new THREE.Color(...LIT_TOP) })
    : new THREE.MeshLambertMaterial({ map: texture }))
  const abyss = new THREE.Mesh(plane(SIZE * 5), new THREE.MeshBasicMaterial({ color: ABYSS }))
  abyss.position.y = -0.4
  const dark = new THREE.Mesh(plane(SIZE), new THREE.MeshBasicMaterial({
    color: 0x03050c, alphaMap: fog.texture, transparent: true, depthWrite: false, depthTest: false,
  }))
  // The first row of the fog is the northern one.
  const uv = dark.geometry.getAttribute('uv')
  for (let corner = 0; corner < uv.count; corner++) uv.setY(corner, 1 - uv.getY(corner))
  // Over everything that stands there, however high it is.
  dark.position.y = 0.4
  dark.renderOrder = 5
  const heights = heightsOf(map.rocks)
  group.add(ground, walls(map, heights, isReduced), trims(map), dark)
  if (!isReduced) group.add(abyss, startLights(map))
  return group
}
