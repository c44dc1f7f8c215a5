/** A page that plays a small game with devtools imported, and shows its tests what is inside. */

import type { View } from 'tickwire'
import { connect } from 'tickwire/browser'
import { devtoolsOf } from 'tickwire/devtools'
import { Drone, game, Runner } from './devtools-game.ts'

const canvas = document.querySelector('canvas')!.getContext('2d')!
const held = new Set<string>()
addEventListener('keydown', (event) => held.add(event.key))
addEventListener('keyup', (event) => held.delete(event.key))

const transports = new URLSearchParams(location.search).has('websocket') ? { transports: ['websocket'] as const } : {}
const room = await connect(game, location.origin, { ...transports, keepSeat: false })
const ghosts: { x: number; y: number }[] = []
const drawn: { x: number; y: number }[] = []

room.play({
  input: () => ({ left: held.has('ArrowLeft'), right: held.has('ArrowRight'), up: held.has('ArrowUp'), down: held.has('ArrowDown') }),
  draw(view) {
    canvas.clearRect(0, 0, 640, 360)
    ghosts.length = drawn.length = 0
    drawAll(view, (x, y, colour, size) => {
      canvas.fillStyle = colour
      canvas.fillRect(x - size, y - size, 2 * size, 2 * size)
    })
    for (const { x, y, owner } of view.each(Runner)) if (owner === room.peer) drawn.push({ x, y })
  },
  drawGhosts(truth) {
    drawAll(truth, (x, y, colour, size) => {
      canvas.strokeStyle = colour
      canvas.strokeRect(x - size, y - size, 2 * size, 2 * size)
    })
    for (const { x, y, owner } of truth.each(Runner)) if (owner === room.peer) ghosts.push({ x, y })
  },
})

function drawAll(view: View, draw: (x: number, y: number, colour: string, size: number) => void): void {
  for (const { x, y, hue } of view.each(Runner)) draw(x, y, `hsl(${hue * 1.4} 80% 60%)`, 9)
  for (const { x, y } of view.each(Drone)) draw(x, y, '#8d97ab', 5)
}

Object.assign(window, { page: { room, devtools: devtoolsOf(room as never), ghosts, drawn } })
