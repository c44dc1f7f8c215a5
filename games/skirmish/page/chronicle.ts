/** What the results show: numbers of every seat, every five seconds of the match. */

import type { World } from 'tickwire'
import { Match, Seat, Unit } from '../definitions.ts'
import { SEATS, TICK_RATE } from '../rules.ts'

const EVERY = 5 * TICK_RATE

/** What a graph shows. */
export const GRAPHS = ['army', 'mined', 'kills'] as const
export type Graph = (typeof GRAPHS)[number]

export class Chronicle {
  /** For each graph and seat, one number for each moment. */
  readonly lines: Record<Graph, number[][]> = { army: empty(), mined: empty(), kills: empty() }
  #lastTick = -1

  /** Call it after every tick. */
  note(world: World): void {
    const { tick } = world
    if (tick % EVERY !== 0 || tick <= this.#lastTick) return
    for (const { beganAt, winner } of world.each(Match)) if (beganAt === 0 || winner !== 0) return
    this.#lastTick = tick
    const army = new Array<number>(SEATS).fill(0)
    for (const { seat, kind } of world.each(Unit)) if (kind !== 0) army[seat]!++
    for (const { number, mined, kills } of world.each(Seat)) {
      this.lines.army[number]!.push(army[number]!)
      this.lines.mined[number]!.push(mined)
      this.lines.kills[number]!.push(kills)
    }
  }

  /** Draws a graph. `colourOf`: the colour of a seat. */
  draw(canvas: HTMLCanvasElement, graph: Graph, colourOf: (seat: number) => string): void {
    const pen = canvas.getContext('2d')!
    const { width, height } = canvas
    const lines = this.lines[graph]
    const most = Math.max(1, ...lines.flat())
    const moments = Math.max(2, ...lines.map(({ length }) => length))
    pen.clearRect(0, 0, width, height)
    pen.strokeStyle = '#ffffff22'
    pen.fillStyle = '#a9b6cc'
    pen.font = '11px system-ui'
    for (let line = 0; line <= 4; line++) {
      const y = height - 16 - ((height - 24) * line) / 4
      pen.strokeRect(30, y, width - 34, 0)
      pen.fillText(String(Math.round((most * line) / 4)), 2, y + 4)
    }
    for (let minute = 0; minute * 12 < moments; minute += 2)
      pen.fillText(`${minute} min`, 30 + ((width - 34) * minute * 12) / moments, height - 3)
    lines.forEach((line, seat) => {
      pen.strokeStyle = colourOf(seat)
      pen.lineWidth = 2
      pen.beginPath()
      line.forEach((value, at) => {
        pen.lineTo(30 + ((width - 34) * at) / (moments - 1), height - 16 - ((height - 24) * value) / most)
      })
      pen.stroke()
    })
  }
}

function empty(): number[][] {
  return Array.from({ length: SEATS }, () => [])
}
