/** Fighters, guns and items, made of a few boxes and cylinders each. */

import * as THREE from 'three'
import { RAIL, ROCKETS, type Weapon } from '../definitions.ts'
import type { ItemKind } from '../level.ts'

const METAL = new THREE.MeshStandardMaterial({ color: 0x6b7590, roughness: 0.4, metalness: 0.25 })
const DARK = new THREE.MeshStandardMaterial({ color: 0x353c52, roughness: 0.6, metalness: 0.2 })
export const WEAPON_COLOURS: Record<Weapon, number> = { 0: 0xffd24c, 1: 0xff6a2a, 2: 0x4cf0ff }
export const ITEM_COLOURS: Record<ItemKind, number> = {
  health: 0x62e36f,
  armour: 0x4aa8ff,
  mega: 0xc06bff,
  slugs: 0x4cf0ff,
  rockets: 0xff6a2a,
}

export function hueColour(hue: number): THREE.Color {
  return new THREE.Color().setHSL(hue / 256, 0.85, 0.56)
}

/**
 * Geometries and materials by what they are made from. A fighter is built again at every respawn: models of their own
 * would leave their buffers on the graphics card, because three.js frees only what is disposed.
 */
const made = new Map<string, THREE.BufferGeometry | THREE.Material>()

function shared<T extends THREE.BufferGeometry | THREE.Material>(key: string, make: () => T): T {
  const known = made.get(key) as T | undefined
  if (known !== undefined) return known
  const fresh = make()
  made.set(key, fresh)
  return fresh
}

const box = (...size: [number, number, number]): THREE.BufferGeometry =>
  shared(`box ${size}`, () => new THREE.BoxGeometry(...size))
const cylinder = (...size: [number, number, number, number]): THREE.BufferGeometry =>
  shared(`cylinder ${size}`, () => new THREE.CylinderGeometry(...size))
const sphere = (...size: [number, number, number]): THREE.BufferGeometry =>
  shared(`sphere ${size}`, () => new THREE.SphereGeometry(...size))
const torus = (...size: [number, number, number, number]): THREE.BufferGeometry =>
  shared(`torus ${size}`, () => new THREE.TorusGeometry(...size))
const glowing = (hex: number, strength: number): THREE.Material =>
  shared(`glow ${hex} ${strength}`, () =>
    new THREE.MeshBasicMaterial({ color: new THREE.Color(hex).multiplyScalar(strength) }))
const OCTAHEDRON = new THREE.OctahedronGeometry(0.3)
const ICOSAHEDRON = new THREE.IcosahedronGeometry(0.4)
const RING = new THREE.RingGeometry(0.42, 0.5, 32)

export interface Body {
  readonly group: THREE.Group
  readonly upper: THREE.Group
  readonly legs: readonly [THREE.Object3D, THREE.Object3D]
  readonly guns: readonly THREE.Group[]
  label: THREE.Sprite
}

/** A fighter whose feet are at the origin, looking along -z. */
export function buildBody(hue: number, name: string): Body {
  const colour = hueColour(hue)
  const armour = shared(`armour ${hue}`, () =>
    new THREE.MeshStandardMaterial({ color: colour, roughness: 0.42, metalness: 0.35 }))
  const light = glowing(colour.getHex(), 1.7)
  const group = new THREE.Group()
  const upper = new THREE.Group()
  upper.position.y = 0.82
  upper.add(
    part(cylinder(0.33, 0.22, 0.5, 8), armour, 0, 0.3, 0),
    part(cylinder(0.2, 0.24, 0.16, 8), DARK, 0, 0, 0),
    part(box(0.1, 0.26, 0.04), light, 0, 0.34, -0.31),
    part(box(0.36, 0.34, 0.16), METAL, 0, 0.32, 0.28),
    part(sphere(0.19, 16, 12), METAL, 0, 0.72, 0),
    part(box(0.26, 0.08, 0.12), light, 0, 0.74, -0.13),
    part(sphere(0.15, 12, 10), armour, -0.38, 0.46, 0),
    part(sphere(0.15, 12, 10), armour, 0.38, 0.46, 0),
    part(box(0.13, 0.14, 0.42), DARK, 0.36, 0.28, -0.18),
    part(box(0.13, 0.14, 0.4), DARK, -0.3, 0.24, -0.16, 0, 0.5),
  )
  const guns = ([0, 1, 2] as const).map((weapon) => {
    const gun = buildGun(weapon)
    gun.position.set(0.3, 0.26, -0.42)
    upper.add(gun)
    return gun
  })
  const legs = [buildLeg(armour, -0.15), buildLeg(armour, 0.15)] as const
  const label = buildLabel(name, colour)
  group.add(upper, ...legs, label)
  return { group, upper, legs, guns, label }
}

function buildLeg(armour: THREE.Material, x: number): THREE.Group {
  const leg = new THREE.Group()
  leg.position.set(x, 0.82, 0)
  leg.add(
    part(box(0.19, 0.42, 0.22), armour, 0, -0.22, 0),
    part(box(0.15, 0.4, 0.17), DARK, 0, -0.58, 0.02),
    part(box(0.2, 0.1, 0.34), METAL, 0, -0.77, -0.05),
  )
  return leg
}

/** A gun that points along -z, about half a metre long. */
export function buildGun(weapon: Weapon): THREE.Group {
  const gun = new THREE.Group()
  const light = glowing(WEAPON_COLOURS[weapon], 1.6)
  gun.add(
    part(box(0.09, 0.13, 0.36), METAL, 0, 0, 0.02),
    part(box(0.06, 0.18, 0.08), DARK, 0, -0.12, 0.12, 0.3),
  )
  if (weapon === RAIL) {
    gun.add(
      part(box(0.03, 0.1, 0.6), METAL, -0.04, 0.02, -0.4),
      part(box(0.03, 0.1, 0.6), METAL, 0.04, 0.02, -0.4),
    )
    gun.add(
      part(box(0.03, 0.035, 0.62), light, 0, 0.02, -0.38),
      part(cylinder(0.045, 0.045, 0.16, 10), light, 0, 0.09, 0.05, Math.PI / 2),
    )
  } else if (weapon === ROCKETS) {
    gun.add(
      part(cylinder(0.085, 0.1, 0.56, 14), METAL, 0, 0.03, -0.34, Math.PI / 2),
      part(torus(0.088, 0.018, 8, 18), light, 0, 0.03, -0.62),
    )
    gun.add(
      part(torus(0.1, 0.016, 8, 18), light, 0, 0.03, -0.2),
      part(cylinder(0.07, 0.07, 0.03, 14), DARK, 0, 0.03, -0.61, Math.PI / 2),
    )
  } else {
    for (const x of [-0.035, 0.035])
      gun.add(part(cylinder(0.03, 0.03, 0.5, 10), METAL, x, 0.04, -0.36, Math.PI / 2))
    gun.add(
      part(box(0.12, 0.07, 0.18), DARK, 0, -0.02, -0.34),
      part(box(0.1, 0.02, 0.14), light, 0, 0.075, -0.06),
    )
  }
  return gun
}

/** White in the middle, transparent at the edge: for sparks and flames. */
export function softDisc(): THREE.CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 32
  const context = canvas.getContext('2d')!
  const gradient = context.createRadialGradient(16, 16, 0, 16, 16, 16)
  gradient.addColorStop(0, '#fff')
  gradient.addColorStop(0.35, '#fffa')
  gradient.addColorStop(1, '#fff0')
  context.fillStyle = gradient
  context.fillRect(0, 0, 32, 32)
  return new THREE.CanvasTexture(canvas)
}

const ROCKET_BODY = new THREE.CylinderGeometry(0.06, 0.075, 0.42, 10)
const ROCKET_TIP = new THREE.ConeGeometry(0.06, 0.16, 10)
const ROCKET_PAINT = new THREE.MeshBasicMaterial({ color: 0xff7a2e })
const ROCKET_FLAME = new THREE.SpriteMaterial({
  map: softDisc(),
  color: 0xffa04c,
  transparent: true,
  blending: THREE.AdditiveBlending,
  depthWrite: false,
  fog: false,
})

/** A rocket. Rockets are many, so they share geometry and materials. From behind, a flame is visible. */
export function buildRocket(): THREE.Group {
  const group = new THREE.Group()
  const flame = new THREE.Sprite(ROCKET_FLAME)
  flame.scale.setScalar(0.5)
  flame.position.z = 0.24
  group.add(
    part(ROCKET_BODY, METAL, 0, 0, 0, Math.PI / 2),
    part(ROCKET_TIP, ROCKET_PAINT, 0, 0, -0.28, -Math.PI / 2),
    flame,
  )
  return group
}

export function buildItem(kind: ItemKind): THREE.Group {
  const group = new THREE.Group()
  const hex = ITEM_COLOURS[kind]
  const light = glowing(hex, 1.5)
  const shell = shared(`shell ${hex}`, () =>
    new THREE.MeshStandardMaterial({
      color: hex,
      roughness: 0.3,
      metalness: 0.4,
      emissive: hex,
      emissiveIntensity: 0.25,
    }))
  const spin = new THREE.Group()
  spin.name = 'spin'
  spin.position.y = 0.75
  if (kind === 'health')
    spin.add(
      part(box(0.52, 0.17, 0.17), light, 0, 0, 0),
      part(box(0.17, 0.52, 0.17), light, 0, 0, 0),
    )
  else if (kind === 'armour') spin.add(part(OCTAHEDRON, shell, 0, 0, 0))
  else if (kind === 'mega')
    spin.add(
      part(ICOSAHEDRON, shell, 0, 0, 0),
      part(torus(0.56, 0.03, 8, 36), light, 0, 0, 0, 1.2),
    )
  else {
    const gun = buildGun(kind === 'slugs' ? 2 : 1)
    gun.scale.setScalar(1.25)
    gun.position.z = 0.2
    spin.add(gun)
  }
  const ring = new THREE.Mesh(RING, light)
  ring.rotation.x = -Math.PI / 2
  ring.position.y = 0.03
  group.add(spin, ring)
  return group
}

export function buildBall(radius: number): THREE.Mesh {
  const mesh = new THREE.Mesh(
    new THREE.IcosahedronGeometry(radius, 2),
    new THREE.MeshStandardMaterial({ color: 0x9aa4c4, roughness: 0.35, metalness: 0.15, flatShading: true }),
  )
  const bands = new THREE.MeshBasicMaterial({ color: 0xd6a8ff })
  for (const turn of [0, Math.PI / 2])
    mesh.add(part(torus(radius * 1.002, 0.03, 8, 40), bands, 0, 0, 0, turn))
  mesh.castShadow = true
  return mesh
}

export function buildLabel(name: string, colour: THREE.Color): THREE.Sprite {
  const canvas = document.createElement('canvas')
  canvas.width = 256
  canvas.height = 64
  const context = canvas.getContext('2d')!
  context.font = '600 34px system-ui, sans-serif'
  context.textAlign = 'center'
  context.lineWidth = 6
  context.strokeStyle = 'rgb(0 0 0 / 80%)'
  context.fillStyle = `#${colour.clone().lerp(new THREE.Color(0xffffff), 0.45).getHexString()}`
  context.strokeText(name, 128, 44)
  context.fillText(name, 128, 44)
  const texture = new THREE.CanvasTexture(canvas)
  texture.colorSpace = THREE.SRGBColorSpace
  const sprite = new THREE.Sprite(
    new THREE.SpriteMaterial({ map: texture, transparent: true, depthWrite: false, fog: false }),
  )
  sprite.scale.set(1.5, 0.375, 1)
  sprite.position.y = 2.15
  return sprite
}

/** Frees the texture of a label that is no longer drawn. */
export function disposeLabel({ material }: THREE.Sprite): void {
  material.map?.dispose()
  material.dispose()
}

function part(
  geometry: THREE.BufferGeometry,
  material: THREE.Material,
  x: number,
  y: number,
  z: number,
  turnX = 0,
  turnY = 0,
): THREE.Mesh {
  const mesh = new THREE.Mesh(geometry, material)
  mesh.position.set(x, y, z)
  mesh.rotation.set(turnX, turnY, 0)
  mesh.castShadow = true
  return mesh
}
