/**
 * The whole recording in one strip: received packets up, sent ones down, mispredictions as diamonds, and the chosen
 * tick.
 */
// @ts-check

const INK = { received: '#46d9a0', sent: '#b79bff', mistake: '#ff6173', now: '#62b4ff', dim: '#8d97ab' }

/** @param {HTMLCanvasElement} canvas @param {any} summary @param {number} x */
export function tickAt(canvas, { first, last }, x) {
  return first + x / canvas.clientWidth * (last - first)
}

/** @param {HTMLCanvasElement} canvas @param {any} summary @param {any[]} packets @param {any} state */
export function drawTimeline(canvas, { kind, first, last, mistakes = [], events = [], tickRate }, packets, state) {
  const scale = devicePixelRatio
  const [width, height] = [canvas.clientWidth, 150]
  canvas.width = width * scale
  canvas.height = height * scale
  const pen = canvas.getContext('2d')
  if (pen === null) return
  pen.scale(scale, scale)
  const middle = 84
  /** @param {number} tick */
  const placeOf = (tick) => (tick - first) / Math.max(1, last - first) * width
  pen.font = '10px system-ui'
  pen.fillStyle = 'rgba(255,255,255,0.08)'
  pen.fillRect(0, middle, width, 1)
  const step = Math.max(1, Math.round((last - first) / 10 / tickRate)) * tickRate
  for (let tick = Math.ceil(first / step) * step; tick <= last; tick += step) {
    pen.fillStyle = 'rgba(255,255,255,0.05)'
    pen.fillRect(placeOf(tick), 0, 1, height)
    pen.fillStyle = INK.dim
    pen.fillText(`tick ${tick}`, placeOf(tick) + 3, height - 4)
  }
  for (const { number, way, bytes, shownAt } of packets) {
    const tall = Math.min(56, 4 + bytes / 8)
    pen.fillStyle = number === state.packet ? '#ffffff' : way === 'received' ? INK.received : INK.sent
    const isIn = way === 'received'
    const wide = number === state.packet ? 2.5 : 1.2
    pen.fillRect(placeOf(shownAt), isIn ? middle - tall : middle + 1, wide, isIn ? tall : tall * 0.7)
  }
  pen.fillStyle = INK.dim
  if (kind === 'player') {
    pen.fillText('received', 6, 14)
    pen.fillText('sent', 6, middle + 14)
  } else pen.fillText('events', 6, 14)
  for (const { tick } of events) pen.fillRect(placeOf(tick) - 1, middle - 40, 2, 40)
  for (const { tick } of mistakes) {
    const x = placeOf(tick)
    pen.fillStyle = INK.mistake
    pen.beginPath()
    pen.moveTo(x, 4)
    pen.lineTo(x + 5, 10)
    pen.lineTo(x, 16)
    pen.lineTo(x - 5, 10)
    pen.fill()
  }
  pen.fillStyle = INK.now
  pen.fillRect(placeOf(state.tick) - 0.75, 0, 1.5, height)
}
