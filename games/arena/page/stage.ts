/** The stage: renderer, camera, sun, sky, fog, and the level. */

import * as THREE from 'three'
import { EffectComposer } from 'three/addons/postprocessing/EffectComposer.js'
import { OutputPass } from 'three/addons/postprocessing/OutputPass.js'
import { RenderPass } from 'three/addons/postprocessing/RenderPass.js'
import { UnrealBloomPass } from 'three/addons/postprocessing/UnrealBloomPass.js'
import { FrameRate } from './frame-rate.ts'
import { buildLevel } from './level-mesh.ts'
import type { Settings } from './settings.ts'

const FOG = 0x1d2444

export class Stage {
  readonly scene: THREE.Scene = new THREE.Scene()
  readonly camera: THREE.PerspectiveCamera = new THREE.PerspectiveCamera(90, 1, 0.04, 220)
  readonly #renderer: THREE.WebGLRenderer
  readonly #settings: Settings
  readonly #rate = new FrameRate()
  readonly #onSlow: () => void
  readonly #sun: THREE.DirectionalLight
  #composer: EffectComposer | undefined
  #bloom: UnrealBloomPass | undefined
  #width = 0
  #height = 0
  #fov = 0

  /** `onSlow` is called when less is drawn from now on, because this machine is too slow. */
  constructor(canvas: HTMLCanvasElement, settings: Settings, onSlow: () => void = () => {}) {
    this.#settings = settings
    this.#onSlow = onSlow
    this.#renderer = new THREE.WebGLRenderer({
      canvas,
      antialias: !settings.hasGlow,
      powerPreference: 'high-performance',
    })
    this.#renderer.toneMapping = THREE.ACESFilmicToneMapping
    this.#renderer.toneMappingExposure = 1.2
    this.#renderer.shadowMap.enabled = settings.hasGlow
    this.#renderer.shadowMap.type = THREE.PCFShadowMap
    const { scene } = this
    scene.fog = new THREE.FogExp2(FOG, 0.011)
    scene.background = new THREE.Color(FOG)
    scene.add(new THREE.HemisphereLight(0xb4c4ff, 0x6a5670, 2.1), buildLevel(), sky(), stars(), moon())
    this.#sun = new THREE.DirectionalLight(0xfff0dc, 2.6)
    this.#light()
    scene.add(this.#sun, this.#sun.target, this.camera)
  }

  /** Draws the stage, `seconds` after the last time. */
  draw(seconds: number): void {
    if (this.#rate.note(seconds * 1000)) {
      this.#settings.hasGlow = false
      this.#width = 0
      this.#onSlow()
    }
    this.#sun.castShadow = this.#settings.hasGlow
    this.#fit()
    if (!this.#settings.hasGlow) return this.#renderer.render(this.scene, this.camera)
    this.#composer ??= this.#compose()
    this.#composer.render()
  }

  /** Sets the vertical field of view that gives the chosen horizontal one on a 16:9 screen. */
  #fit(): void {
    const { innerWidth: width, innerHeight: height } = window
    if (width === this.#width && height === this.#height && this.#settings.fov === this.#fov) return
    this.#width = width
    this.#height = height
    this.#fov = this.#settings.fov
    const { camera } = this
    camera.aspect = width / height
    const across = Math.tan(this.#fov * Math.PI / 360)
    camera.fov = Math.atan(across / Math.max(Math.min(camera.aspect, 16 / 9), 0.9)) * 360 / Math.PI
    camera.updateProjectionMatrix()
    const ratio = Math.min(devicePixelRatio, this.#settings.hasGlow ? 1.5 : 1.25) * this.#rate.share
    this.#renderer.setPixelRatio(ratio)
    this.#renderer.setSize(width, height, false)
    this.#composer?.setPixelRatio(ratio)
    this.#composer?.setSize(width, height)
  }

  #compose(): EffectComposer {
    const size = new THREE.Vector2(this.#width, this.#height)
    const target = new THREE.WebGLRenderTarget(this.#width, this.#height, { type: THREE.HalfFloatType, samples: 4 })
    const composer = new EffectComposer(this.#renderer, target)
    composer.setPixelRatio(this.#renderer.getPixelRatio())
    this.#bloom = new UnrealBloomPass(size, 0.42, 0.55, 0.92)
    composer.addPass(new RenderPass(this.scene, this.camera))
    composer.addPass(this.#bloom)
    composer.addPass(new OutputPass())
    return composer
  }

  #light(): void {
    const sun = this.#sun
    sun.position.set(22, 40, 14)
    sun.shadow.mapSize.set(2048, 2048)
    Object.assign(sun.shadow.camera, { left: -36, right: 36, top: 36, bottom: -36, near: 5, far: 100 })
    sun.shadow.bias = -0.0004
    sun.shadow.normalBias = 0.03
  }
}

/** A sky at dusk: orange on one side of the horizon, blue above. */
function sky(): THREE.Mesh {
  const geometry = new THREE.SphereGeometry(180, 32, 24)
  const places = geometry.getAttribute('position')
  const colours = new Float32Array(places.count * 3)
  const [zenith, horizon, dusk, colour] = [
    new THREE.Color(0x0d1436),
    new THREE.Color(0x3d4a8c),
    new THREE.Color(0xff9a62),
    new THREE.Color(),
  ]
  for (let at = 0; at < places.count; at++) {
    const height = Math.max(places.getY(at) / 180, 0)
    const towards = Math.max((places.getX(at) / 180) * 0.84 + (places.getZ(at) / 180) * 0.54, 0)
    colour
      .copy(horizon)
      .lerp(zenith, Math.min(1, height * 1.7))
      .lerp(dusk, 0.75 * towards * towards * Math.max(0, 1 - height * 2.6))
    colour.toArray(colours, at * 3)
  }
  geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3))
  return new THREE.Mesh(
    geometry,
    new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.BackSide, fog: false, depthWrite: false }),
  )
}

function stars(): THREE.Points {
  const places: number[] = []
  let seed = 77
  const roll = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 0x1_0000_0000
  for (let star = 0; star < 500; star++) {
    const [turn, height] = [roll() * 2 * Math.PI, 0.12 + roll() * 0.88]
    const across = Math.sqrt(1 - height * height)
    places.push(170 * across * Math.cos(turn), 170 * height, 170 * across * Math.sin(turn))
  }
  const geometry = new THREE.BufferGeometry()
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(places, 3))
  return new THREE.Points(
    geometry,
    new THREE.PointsMaterial({
      color: 0xcfd8ff,
      size: 1.6,
      sizeAttenuation: false,
      fog: false,
      transparent: true,
      opacity: 0.7,
    }),
  )
}

/** A large pale moon with a ring, low over the blue side. */
function moon(): THREE.Group {
  const group = new THREE.Group()
  const body = new THREE.Mesh(
    new THREE.SphereGeometry(17, 32, 24),
    new THREE.MeshLambertMaterial({ color: 0x8f9cc8, emissive: 0x1c2548, fog: false }),
  )
  const ring = new THREE.Mesh(
    new THREE.RingGeometry(22, 31, 64),
    new THREE.MeshBasicMaterial({
      color: 0xa8b8ff,
      transparent: true,
      opacity: 0.22,
      side: THREE.DoubleSide,
      fog: false,
      depthWrite: false,
    }),
  )
  ring.rotation.set(1.25, 0.35, 0)
  group.add(body, ring)
  group.position.set(-105, 62, 95)
  return group
}
