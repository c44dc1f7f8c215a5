/** Flashes, fragments and smoke: a fixed maximum number of them, without effect on the match. */

import * as THREE from 'three'
import { softDisc } from './models.ts'

interface Place { readonly x: number; readonly y: number; readonly z: number }

type Glow = THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>
type Piece = THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>

interface Passing {
  readonly object: Glow | Piece
  readonly seconds: number
  age: number
  readonly update: (share: number) => void
}

const PARTICLES = 900
const GRAVITY = 14

export class Effects {
  readonly #scene: THREE.Scene
  readonly #passing: Passing[] = []
  /** Meshes of effects that are over, for the next ones: a new material for each effect would never be freed. */
  readonly #idle: (Glow | Piece)[] = []
  readonly #places = new Float32Array(PARTICLES * 3)
  readonly #colours = new Float32Array(PARTICLES * 3)
  readonly #speeds = new Float32Array(PARTICLES * 3)
  readonly #tints = new Float32Array(PARTICLES * 3)
  readonly #lives = new Float32Array(PARTICLES * 2)
  readonly #points: THREE.Points
  readonly #flash = new THREE.PointLight(0xffa050, 0, 16, 1.6)
  #next = 0

  constructor(scene: THREE.Scene) {
    this.#scene = scene
    const geometry = new THREE.BufferGeometry()
    geometry.setAttribute('position', new THREE.BufferAttribute(this.#places, 3))
    geometry.setAttribute('color', new THREE.BufferAttribute(this.#colours, 3))
    this.#points = new THREE.Points(
      geometry,
      new THREE.PointsMaterial({
        size: 0.16,
        vertexColors: true,
        transparent: true,
        blending: THREE.AdditiveBlending,
        depthWrite: false,
        map: softDisc(),
        fog: false,
      }),
    )
    this.#points.frustumCulled = false
    this.#places.fill(-999)
    scene.add(this.#points, this.#flash)
  }

  update(seconds: number): void {
    for (let at = this.#passing.length - 1; at >= 0; at--) {
      const passing = this.#passing[at]!
      passing.age += seconds
      const share = passing.age / passing.seconds
      if (share < 1) passing.update(share)
      else {
        this.#scene.remove(passing.object)
        this.#idle.push(passing.object)
        this.#passing.splice(at, 1)
      }
    }
    this.#flash.intensity = Math.max(0, this.#flash.intensity - seconds * 260)
    this.#moveParticles(seconds)
  }

  explosion(at: Place): void {
    const ball = this.#glow(SPHERE, 0xffc27a)
    const ring = this.#glow(SPHERE, 0xff6a2a)
    ball.position.set(at.x, at.y, at.z)
    ring.position.copy(ball.position)
    this.#add(ball, 0.35, (share) => {
      ball.scale.setScalar(0.4 + 1.5 * Math.sqrt(share))
      ball.material.opacity = 0.8 * (1 - share) * (1 - share)
    })
    this.#add(ring, 0.5, (share) => {
      ring.scale.setScalar(0.6 + 3.2 * Math.sqrt(share))
      ring.material.opacity = 0.14 * (1 - share)
    })
    this.#flash.position.copy(ball.position)
    this.#flash.intensity = 90
    this.#flash.color.setHex(0xffa050)
    this.sparks(at, 60, 0xffa348, 11, 0.9)
    this.sparks(at, 24, 0xff4a1c, 5, 1.2)
  }

  rail(from: Place, to: Place, hex: number): void {
    const [start, end] = [new THREE.Vector3(from.x, from.y - 0.18, from.z), new THREE.Vector3(to.x, to.y, to.z)]
    const length = start.distanceTo(end)
    const core = this.#glow(BEAM, 0xffffff)
    const halo = this.#glow(BEAM, hex)
    for (const [mesh, width] of [
      [core, 0.012],
      [halo, 0.04],
    ] as const) {
      mesh.position.copy(start).lerp(end, 0.5)
      mesh.lookAt(end)
      mesh.scale.set(width, width, length)
      this.#add(mesh, 0.6, (share) => {
        mesh.material.opacity = 0.85 * (1 - share) * (1 - share)
        mesh.scale.x = mesh.scale.y = width * (1 + share)
      })
    }
    const along = end.clone().sub(start).normalize()
    const side = new THREE.Vector3(along.z, 0, -along.x).normalize()
    const up = along.clone().cross(side)
    for (let at = 0.6; at < Math.min(length, 40); at += 0.22) {
      const turn = at * 4.2
      const [across, above] = [Math.cos(turn) * 0.14, Math.sin(turn) * 0.14]
      const [x, y, z] = [
        start.x + along.x * at + side.x * across + up.x * above,
        start.y + along.y * at + side.y * across + up.y * above,
        start.z + along.z * at + side.z * across + up.z * above,
      ]
      this.#particle(x, y, z, side.x * across * 2, 0.2, side.z * across * 2, hex, 0.9)
    }
    this.sparks(to, 14, hex, 4, 0.4)
  }

  tracer(from: Place, to: Place): void {
    const [start, end] = [new THREE.Vector3(from.x, from.y - 0.15, from.z), new THREE.Vector3(to.x, to.y, to.z)]
    const length = Math.min(start.distanceTo(end), 30)
    for (let pellet = 0; pellet < 7; pellet++) {
      const aim = end.clone().add(new THREE.Vector3(spread(), spread(), spread()).multiplyScalar(length * 0.035))
      const mesh = this.#glow(BEAM, 0xffe0a0)
      mesh.position.copy(start).lerp(aim, 0.5)
      mesh.lookAt(aim)
      mesh.scale.set(0.012, 0.012, length)
      this.#add(mesh, 0.09, (share) => { mesh.material.opacity = 0.55 * (1 - share) })
      this.sparks(aim, 4, 0xffc070, 3, 0.3)
    }
  }

  /** A fighter bursts into pieces. */
  burst(at: Place, hex: number): void {
    const place = { x: at.x, y: at.y + 0.9, z: at.z }
    this.sparks(place, 90, hex, 8, 1.1)
    for (let piece = 0; piece < 10; piece++) {
      const mesh = this.#piece(hex)
      const speed = new THREE.Vector3(spread() * 6, 3 + Math.random() * 6, spread() * 6)
      mesh.position.set(place.x, place.y, place.z)
      mesh.scale.setScalar(0.08 + Math.random() * 0.13)
      let last = 0
      this.#add(mesh, 1.4, (share) => {
        const passed = (share - last) * 1.4
        last = share
        speed.y -= GRAVITY * passed
        mesh.position.addScaledVector(speed, passed)
        mesh.rotation.x += passed * 9
        if (mesh.position.y < at.y - 0.1 && speed.y < 0) speed.set(speed.x * 0.5, -speed.y * 0.4, speed.z * 0.5)
        if (share > 0.7) mesh.scale.multiplyScalar(0.93)
      })
    }
  }

  sparks({ x, y, z }: Place, count: number, hex: number, speed: number, seconds: number): void {
    for (let spark = 0; spark < count; spark++) {
      this.#particle(
        x,
        y,
        z,
        spread() * speed,
        spread() * speed + speed * 0.25,
        spread() * speed,
        hex,
        seconds * (0.4 + Math.random() * 0.6),
      )
    }
  }

  #particle(x: number, y: number, z: number, vx: number, vy: number, vz: number, hex: number, seconds: number): void {
    const at = this.#next = (this.#next + 1) % PARTICLES
    this.#places.set([x, y, z], at * 3)
    this.#speeds.set([vx, vy, vz], at * 3)
    COLOUR.setHex(hex).toArray(this.#tints, at * 3)
    this.#lives.set([seconds, seconds], at * 2)
  }

  #moveParticles(seconds: number): void {
    for (let at = 0; at < PARTICLES; at++) {
      const left = this.#lives[at * 2]! - seconds
      this.#lives[at * 2] = left
      const share = left <= 0 ? 0 : left / this.#lives[at * 2 + 1]!
      this.#speeds[at * 3 + 1]! -= GRAVITY * 0.5 * seconds
      for (let axis = at * 3; axis < at * 3 + 3; axis++) {
        this.#places[axis]! += this.#speeds[axis]! * seconds
        this.#colours[axis] = this.#tints[axis]! * share
      }
    }
    this.#points.geometry.getAttribute('position').needsUpdate = true
    this.#points.geometry.getAttribute('color').needsUpdate = true
  }

  /** A mesh that glows in a colour, idle or new. */
  #glow(shape: THREE.BufferGeometry, hex: number): Glow {
    const mesh = this.#take(shape) as Glow | undefined ?? new THREE.Mesh(
      shape,
      new THREE.MeshBasicMaterial({ transparent: true, blending: THREE.AdditiveBlending, depthWrite: false }),
    )
    mesh.material.color.setHex(hex)
    return mesh
  }

  #piece(hex: number): Piece {
    const mesh = this.#take(CUBE) as Piece | undefined
      ?? new THREE.Mesh(CUBE, new THREE.MeshStandardMaterial({ roughness: 0.5 }))
    mesh.material.color.setHex(hex)
    return mesh
  }

  #take(shape: THREE.BufferGeometry): Glow | Piece | undefined {
    const at = this.#idle.findIndex(({ geometry }) => geometry === shape)
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0]
  }

  #add(object: Glow | Piece, seconds: number, update: (share: number) => void): void {
    update(0)
    this.#scene.add(object)
    this.#passing.push({ object, seconds, age: 0, update })
  }
}

const SPHERE = new THREE.SphereGeometry(1, 20, 14)
const BEAM = new THREE.CylinderGeometry(1, 1, 1, 8, 1, true).rotateX(Math.PI / 2)
const CUBE = new THREE.BoxGeometry(1, 1, 1)
const COLOUR = new THREE.Color()

function spread(): number {
  return Math.random() + Math.random() - 1
}
