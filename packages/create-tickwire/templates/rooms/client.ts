import { connect, watchRooms, withBanner } from 'tickwire/browser'
import { game, HEIGHT, Player, Said, Say, WIDTH } from './game.ts'

const COLOURS = { red: '#ff6b6b', blue: '#4dabf7' }
const element = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind

// The list of rooms, as it changes. A click joins one; the button joins any room that has a free seat.
const leaveLobby = watchRooms(location.origin, (rooms) => {
  element('rooms').replaceChildren(...rooms.map(({ id, players, capacity }) => {
    const button = document.createElement('button')
    button.textContent = `room ${id}: ${players} of ${capacity}`
    button.onclick = () => void play({ room: id })
    return button
  }))
})
element('quick').onclick = () => void play({ quick: 'arena' })
element('watch').onclick = () => void play({ quick: 'arena', role: 'spectator' })

async function play(join: { room: string } | { quick: 'arena'; role?: 'spectator' }): Promise<void> {
  leaveLobby()
  const name = element<HTMLInputElement>('name').value || 'Guest'
  const room = await withBanner(connect(game, location.origin, { data: { name }, join }))
  element('lobby').hidden = true
  element('match').hidden = false

  const canvas = document.querySelector('canvas')!
  canvas.width = WIDTH
  canvas.height = HEIGHT
  const paper = canvas.getContext('2d')!
  paper.textAlign = 'center'
  const held = new Set<string>()
  addEventListener('keydown', (event) => held.add(event.key))
  addEventListener('keyup', (event) => held.delete(event.key))
  room.play({
    input: () => ({
      left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
      up: held.has('ArrowUp'), down: held.has('ArrowDown'),
    }),
    draw(view) {
      paper.clearRect(0, 0, WIDTH, HEIGHT)
      for (const { x, y, name, team, owner } of view.each(Player)) {
        paper.fillStyle = COLOURS[team]
        paper.fillRect(x - 8, y - 8, 16, 16)
        paper.fillText(owner === room.peer ? `${name} (you)` : name, x, y - 14)
      }
    },
  })

  const say = element<HTMLInputElement>('say')
  say.addEventListener('change', () => {
    room.send(Say, { text: say.value })
    say.value = ''
  })
  room.on(Said, ({ name, text }) => {
    element('chat').textContent += `${name}: ${text}\n`
  })
}

if (import.meta.env.DEV) await import('tickwire/devtools')
