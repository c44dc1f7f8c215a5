/** The player's own gun: it sways with each step, kicks with each shot, and is lowered while the weapon changes. */

import * as THREE from 'three'
import { SHOTGUN, type Weapon } from '../definitions.ts'
import { buildGun, WEAPON_COLOURS } from './models.ts'
import { isCalm } from './settings.ts'

const REST = new THREE.Vector3(0.175, -0.165, -0.4)

export class GunInHand {
  readonly #holder = new THREE.Group()
  readonly #guns: readonly THREE.Group[]
  readonly #flash: THREE.Sprite
  readonly #light = new THREE.PointLight(0xffc070, 0, 7, 2)
  #shown: Weapon = SHOTGUN
  #lowered = 0
  #kick = 0
  #stride = 0
  #sway = 0

  constructor(camera: THREE.Camera) {
    this.#guns = ([0, 1, 2] as const).map((weapon) => {
      const gun = buildGun(weapon)
      gun.traverse((object) => { object.castShadow = false })
      gun.scale.set(0.4, 0.4, 0.52)
      this.#holder.add(gun)
      return gun
    })
    const arm = new THREE.Mesh(
      new THREE.CylinderGeometry(0.03, 0.042, 0.46, 12).rotateX(Math.PI / 2),
      new THREE.MeshStandardMaterial({ color: 0x2b3146, roughness: 0.6 }),
    )
    arm.position.set(0.035, -0.075, 0.24)
    arm.rotation.x = 0.1
    this.#holder.add(arm)
    this.#flash = new THREE.Sprite(
      new THREE.SpriteMaterial({
        map: star(),
        color: 0xffd9a0,
        blending: THREE.AdditiveBlending,
        depthWrite: false,
        transparent: true,
        opacity: 0,
      }),
    )
    this.#flash.position.set(0, 0.012, -0.38)
    this.#flash.scale.setScalar(0.17)
    this.#light.position.set(0, 0.1, -0.7)
    this.#holder.add(this.#flash, this.#light)
    camera.add(this.#holder)
  }

  /** The gun was fired. */
  fire(weapon: Weapon): void {
    this.#kick = 1
    // The weapon that fires is shown at once, even during a change.
    this.#shown = weapon
    this.#lowered = 0
    this.#flash.material.opacity = 0.85
    this.#flash.material.color.setHex(WEAPON_COLOURS[weapon])
    this.#flash.material.rotation = Math.random() * Math.PI
    this.#light.color.setHex(WEAPON_COLOURS[weapon])
    this.#light.intensity = 9
  }

  update(weapon: Weapon, isShown: boolean, pace: number, isOnGround: boolean, seconds: number): void {
    this.#holder.visible = isShown
    if (weapon !== this.#shown) {
      this.#lowered = Math.min(1, this.#lowered + seconds * 9)
      if (this.#lowered >= 1) this.#shown = weapon
    } else this.#lowered = Math.max(0, this.#lowered - seconds * 7)
    this.#guns.forEach((gun, index) => { gun.visible = index === this.#shown })
    this.#kick *= Math.exp(-seconds * 9)
    this.#sway += ((isOnGround ? Math.min(pace / 9, 1) : 0) - this.#sway) * Math.min(1, seconds * 8)
    this.#stride += seconds * 9.5
    const { position, rotation } = this.#holder
    position.copy(REST)
    const sway = isCalm ? 0 : this.#sway
    position.x += Math.sin(this.#stride) * 0.012 * sway
    position.y += Math.abs(Math.cos(this.#stride)) * 0.014 * sway - this.#lowered * 0.25
    position.z += this.#kick * 0.09
    rotation.set(this.#kick * 0.1 - this.#lowered * 0.7, 0.03, 0)
    this.#flash.material.opacity *= Math.exp(-seconds * 34)
    this.#light.intensity *= Math.exp(-seconds * 22)
  }
}

function star(): THREE.CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 64
  const context = canvas.getContext('2d')!
  const gradient = context.createRadialGradient(32, 32, 0, 32, 32, 30)
  gradient.addColorStop(0, '#fff')
  gradient.addColorStop(0.25, '#fffc')
  gradient.addColorStop(1, '#fff0')
  context.fillStyle = gradient
  context.translate(32, 32)
  for (let ray = 0; ray < 6; ray++) {
    context.rotate(Math.PI / 3)
    context.beginPath()
    context.moveTo(0, -30)
    context.lineTo(7, 0)
    context.lineTo(-7, 0)
    context.fill()
  }
  return new THREE.CanvasTexture(canvas)
}
