import {
  AmbientLight, BoxGeometry, Color, DirectionalLight, GridHelper, Mesh, MeshStandardMaterial, PerspectiveCamera, Scene,
  WebGLRenderer,
} from 'three'
import { connect, withBanner } from 'tickwire/browser'
import { mirror } from 'tickwire/ecs'
import { FIELD, game, Player } from './game.ts'

const renderer = new WebGLRenderer({ antialias: true })
document.body.prepend(renderer.domElement)
const camera = new PerspectiveCamera(60, 1, 0.1, 200)
function resize(): void {
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2))
  renderer.setSize(innerWidth, innerHeight)
  camera.aspect = innerWidth / innerHeight
  camera.updateProjectionMatrix()
}
addEventListener('resize', resize)
resize()

const scene = new Scene()
scene.background = new Color('#0d1117')
const sun = new DirectionalLight('white', 2)
sun.position.set(5, 10, 7)
scene.add(sun, new AmbientLight('white', 0.6), new GridHelper(2 * FIELD, 20, '#30363d', '#21262d'))

const held = new Set<string>()
addEventListener('keydown', (event) => held.add(event.key))
addEventListener('keyup', (event) => held.delete(event.key))

const box = new BoxGeometry(1, 1, 1.6)
const players = mirror(Player, {
  add({ hue }) {
    const mesh = new Mesh(box, new MeshStandardMaterial({ color: new Color(`hsl(${hue}, 80%, 60%)`) }))
    scene.add(mesh)
    return mesh
  },
  write(mesh, { x, z, heading, owner }) {
    mesh.position.set(x, 0.5, z)
    mesh.rotation.y = (heading / 256) * 2 * Math.PI
    if (owner !== room.peer) return
    camera.position.set(x, 8, z + 10)
    camera.lookAt(x, 0, z)
  },
  remove(mesh) {
    scene.remove(mesh)
    mesh.material.dispose()
  },
})

const room = await withBanner(connect(game, location.origin))
room.play({
  input: () => ({
    left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
    up: held.has('ArrowUp'), down: held.has('ArrowDown'),
  }),
  draw(view) {
    players.update(view)
    renderer.render(scene, camera)
  },
})

if (import.meta.env.DEV) await import('tickwire/devtools')
