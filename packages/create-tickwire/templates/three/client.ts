import {
  AmbientLight, BoxGeometry, Color, DirectionalLight, GridHelper, Mesh, MeshStandardMaterial, PerspectiveCamera, Scene,
  WebGLRenderer,
} from 'three'
import { connect, withBanner } from 'tickwire/browser'
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
/** Meshes by object id. One is made when an object appears, and removed when it is gone. */
const meshes = new Map<number, Mesh<BoxGeometry, MeshStandardMaterial>>()

const room = await withBanner(connect(game, location.origin))
room.play({
  input: () => ({
    left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
    up: held.has('ArrowUp'), down: held.has('ArrowDown'),
  }),
  draw(view) {
    const gone = new Set(meshes.keys())
    for (const { id, x, z, heading, hue, owner } of view.each(Player)) {
      gone.delete(id)
      let mesh = meshes.get(id)
      if (mesh === undefined) {
        mesh = new Mesh(box, new MeshStandardMaterial({ color: new Color(`hsl(${hue}, 80%, 60%)`) }))
        meshes.set(id, mesh)
        scene.add(mesh)
      }
      mesh.position.set(x, 0.5, z)
      mesh.rotation.y = (heading / 256) * 2 * Math.PI
      if (owner === room.peer) {
        camera.position.set(x, 8, z + 10)
        camera.lookAt(x, 0, z)
      }
    }
    for (const id of gone) {
      const mesh = meshes.get(id)!
      scene.remove(mesh)
      mesh.material.dispose()
      meshes.delete(id)
    }
    renderer.render(scene, camera)
  },
})

if (import.meta.env.DEV) await import('tickwire/devtools')
