import { connect, host, withBanner, type Room } from 'tickwire/browser'
import { game, HEIGHT, Player, WIDTH } from './game.ts'

const element = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind
const canvas = document.querySelector('canvas')!
canvas.width = WIDTH
canvas.height = HEIGHT
const paper = canvas.getContext('2d')!
const held = new Set<string>()
addEventListener('keydown', (event) => held.add(event.key))
addEventListener('keyup', (event) => held.delete(event.key))

/** Hosts in this page, and plays too. Others type the code, or open the link. */
async function hostHere(): Promise<void> {
  const hosted = await host(game, {
    worker: () => new Worker(new URL('./host-worker.ts', import.meta.url), { type: 'module' }),
  })
  element('code').textContent = hosted.code
  element<HTMLAnchorElement>('link').href = hosted.link
  play(await withBanner(connect(game, hosted)))
}

async function join(where: string): Promise<void> {
  play(await withBanner(connect(game, where)))
}

function play(room: Room<typeof game.input>): void {
  element('menu').hidden = true
  element('match').hidden = false
  room.play({
    input: () => ({
      left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
      up: held.has('ArrowUp'), down: held.has('ArrowDown'),
    }),
    draw(view) {
      paper.clearRect(0, 0, WIDTH, HEIGHT)
      for (const { x, y, hue } of view.each(Player)) {
        paper.fillStyle = `hsl(${hue} 80% 60%)`
        paper.fillRect(x - 8, y - 8, 16, 16)
      }
      element('path').textContent = room.path
    },
  })
  void room.closed.then(({ code }) => { element('path').textContent = `over: ${code}` })
}

element('host').onclick = () => void hostHere()
element('join').onclick = () => void join(element<HTMLInputElement>('typed').value)
// The link of a host opens this page with the code behind a #.
if (location.hash !== '') await join(location.href)
