/** A page that plays a small game with devtools imported, and exposes its state to tests. */

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
/** The largest distance in x between the local player and its ghost, in any draw. */
const behind = { most: 0 }

room.play({
  input: () => ({
    left: held.has('ArrowLeft'),
    right: held.has('ArrowRight'),
    up: held.has('ArrowUp'),
    down: held.has('ArrowDown'),
  }),
  draw(view) {
    canvas.clearRect(0, 0, 640, 360)
    ghosts.length = drawn.length = 0
    for (const { x, y, hue } of view.each(Runner)) {
      canvas.fillStyle = `hsl(${hue * 1.4} 80% 60%)`
      canvas.fillRect(x - 9, y - 9, 18, 18)
    }
    canvas.fillStyle = '#8d97ab'
    for (const { x, y } of view.each(Drone)) canvas.fillRect(x - 5, y - 5, 10, 10)
    for (const { x, y, owner } of view.each(Runner)) if (owner === room.peer) drawn.push({ x, y })
  },
  // #region ghosts
  drawGhosts(truth) {
    canvas.strokeStyle = '#8d97ab'
    for (const { x, y } of truth.each(Drone)) canvas.strokeRect(x - 5, y - 5, 10, 10)
    for (const { x, y, owner } of truth.each(Runner)) {
      canvas.strokeRect(x - 9, y - 9, 18, 18)
      if (owner === room.peer) showGhost(x, y)
    }
  },
  // #endregion
})

function showGhost(x: number, y: number): void {
  ghosts.push({ x, y })
  behind.most = Math.max(behind.most, Math.abs(x - (drawn[0]?.x ?? x)))
}

Object.assign(window, { page: { room, devtools: devtoolsOf(room as never), ghosts, drawn, behind } })
