/** The graphs of the network panel: ticks, own orders against the deadline, round trips. */

import { cssColour } from './palette.ts'

const GREEN = '#62e36f'
const YELLOW = '#ffc64c'
const RED = '#ff5544'

/** An own order, from the click on. Times as of `performance.now`. */
export interface OwnOrder {
  readonly name: string
  readonly at: number
  executedAt: number | undefined
  state: string
}

/** Time between ticks: green in time, yellow and red late. The line is the length of a tick. */
export function drawBars(canvas: HTMLCanvasElement, gaps: readonly number[], tickMs: number): void {
  const pen = canvas.getContext('2d')!
  const { width, height } = canvas
  const wide = width / 90
  pen.clearRect(0, 0, width, height)
  gaps.forEach((gap, at) => {
    const tall = Math.min(height, (gap / (3 * tickMs)) * height)
    pen.fillStyle = gap > 2 * tickMs ? RED : gap > 1.4 * tickMs ? YELLOW : GREEN
    pen.fillRect(at * wide, height - tall, wide - 1, tall)
  })
  line(pen, 0, height - height / 3, width, height - height / 3)
  label(pen, `${Math.round(tickMs)} ms`, 4, height - height / 3 - 3)
}

/**
 * Own orders, the newest above: a bar from the click to the execution, with a mark where the order reached the relay.
 * The bar is red if that was after the deadline.
 */
export function drawOrders(
  canvas: HTMLCanvasElement, orders: readonly OwnOrder[], deadlineMs: number, rttMs: number,
): void {
  const pen = canvas.getContext('2d')!
  const { width, height } = canvas
  const now = performance.now()
  const longest = Math.max(deadlineMs * 1.5, 100, ...orders.map(({ at, executedAt }) => (executedAt ?? at) - at))
  const scale = (width - 92) / longest
  pen.clearRect(0, 0, width, height)
  orders.forEach(({ name, at, executedAt, state }, row) => {
    const y = row * 13 + 2
    const took = Math.min(longest, (executedAt ?? now) - at)
    const isLate = deadlineMs > 0 && rttMs / 2 > deadlineMs
    pen.fillStyle = state === 'refused' || state === 'lost' || isLate ? RED : executedAt === undefined ? YELLOW : GREEN
    pen.fillRect(56, y, Math.max(2, took * scale), 9)
    pen.fillStyle = '#05070f'
    pen.fillRect(56 + (rttMs / 2) * scale, y, 2, 9)
    label(pen, name, 2, y + 9)
    label(pen, executedAt === undefined ? '...' : `${Math.round(took)}`, 62 + took * scale, y + 9)
  })
  if (deadlineMs === 0) return
  line(pen, 56 + deadlineMs * scale, 0, 56 + deadlineMs * scale, height)
  label(pen, `deadline ${deadlineMs.toFixed(0)} ms`, Math.min(width - 92, 60 + deadlineMs * scale), height - 2)
}

/** Round trips of all players, each in the colour of its seat. */
export function drawLatencies(
  canvas: HTMLCanvasElement, players: readonly { readonly seat: number; readonly rtts: readonly number[] }[],
): void {
  const pen = canvas.getContext('2d')!
  const { width, height } = canvas
  const most = Math.max(50, ...players.flatMap(({ rtts }) => rtts)) * 1.15
  pen.clearRect(0, 0, width, height)
  for (const part of [0.5, 1]) line(pen, 0, height - (height / 1.15) * part, width, height - (height / 1.15) * part)
  label(pen, `${Math.round(most / 1.15)} ms`, 4, height - height / 1.15 + 10)
  for (const { seat, rtts } of players) {
    pen.strokeStyle = cssColour(seat)
    pen.lineWidth = 1.5
    pen.beginPath()
    rtts.forEach((rtt, at) => { pen.lineTo(((60 - rtts.length + at) / 59) * width, height - (rtt / most) * height) })
    pen.stroke()
  }
}

function line(pen: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  pen.strokeStyle = '#ffffff55'
  pen.lineWidth = 1
  pen.beginPath()
  pen.moveTo(x, y)
  pen.lineTo(toX, toY)
  pen.stroke()
}

function label(pen: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  pen.fillStyle = '#cdd8ea'
  pen.font = '10px system-ui'
  pen.fillText(text, x, y)
}
