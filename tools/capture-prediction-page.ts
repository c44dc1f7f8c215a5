/**
 * The page of one player in the README's picture: hello, and a switch between what Tickwire draws and what the server
 * last sent. `tools/capture-prediction.ts` shows it twice, holds its keys, and copies its canvas.
 */

import { connect } from 'tickwire/browser'
import { devtoolsOf } from 'tickwire/devtools'
import { game, Player } from '../games/hello/game.ts'

/** What the picture sees of a page. */
export interface Shown {
  readonly canvas: HTMLCanvasElement
  /** Names of keys, without `Arrow`. */
  readonly held: Set<string>
  /** All times from a turn to its effect on this screen, with prediction or without. */
  readonly reactions: { readonly isPredicted: boolean; readonly ms: number }[]
  /** Whether the page draws with prediction and interpolation. */
  isPredicted: boolean
  /** From the last turn until the own square turned on this screen. */
  reactionMs: number | undefined
}

const canvas = document.querySelector('canvas')!
const pen = canvas.getContext('2d')!
const held = new Set<string>()
const room = await connect(game, location.origin)
const devtools = devtoolsOf(room as unknown as Parameters<typeof devtoolsOf>[0])
const shown: Shown = { canvas, held, reactions: [], isPredicted: false, reactionMs: undefined }
Object.assign(window, { shown })

let turnedAt = 0
let wanted = [0, 0]
let before = [0, 0]

room.play({
  input() {
    return { left: held.has('Left'), right: held.has('Right'), up: held.has('Up'), down: held.has('Down') }
  },
  draw(smooth) {
    const now = performance.now()
    const keys = [+held.has('Right') - +held.has('Left'), +held.has('Down') - +held.has('Up')]
    if (keys.some((each, axis) => each !== wanted[axis])) {
      wanted = keys
      turnedAt = now
      shown.reactionMs = undefined
    }
    const view = shown.isPredicted ? smooth : devtools.truth() as unknown as typeof smooth
    pen.clearRect(0, 0, canvas.width, canvas.height)
    for (const player of view.each(Player)) {
      pen.fillStyle = `hsl(${player.hue} 80% 60%)`
      pen.fillRect(player.x - 14, player.y - 14, 28, 28)
      if (player.owner !== room.peer) continue
      pen.strokeStyle = '#fff'
      pen.lineWidth = 3
      pen.strokeRect(player.x - 15.5, player.y - 15.5, 31, 31)
      const place = [player.x, player.y]
      const moves = place.map((each, axis) => Math.sign(each - (before[axis] ?? 0)))
      const isTurned = wanted.some((each) => each !== 0)
      if (isTurned && shown.reactionMs === undefined && moves.every((each, axis) => each === wanted[axis])) {
        shown.reactionMs = now - turnedAt
        shown.reactions.push({ isPredicted: shown.isPredicted, ms: shown.reactionMs })
      }
      before = place
    }
  },
})
