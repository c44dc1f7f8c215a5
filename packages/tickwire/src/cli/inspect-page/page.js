/** The inspector's page: one tick and one packet are looked at; everything else follows from them. */
// @ts-check

import { showPacket, showPackets } from './packets.js'
import { drawTimeline, tickAt } from './timeline.js'
import { showMistakes, showWhy } from './mistakes.js'
import { showEvents, showInputs, showMatch } from './server.js'
import { showWorlds } from './worlds.js'

/** @param {string} path */
const ask = async (path) => {
  try {
    return await (await fetch(path)).json()
  } catch (error) {
    byId('about').textContent = 'The program that serves this page has ended. Start tickwire inspect again.'
    throw error
  }
}
/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id)
/** @param {string} id @returns {any} */
const bodyOf = (id) => byId(id).querySelector('.body')

const summary = await ask('/api/summary')
document.body.dataset.kind = summary.kind
byId('name').textContent = summary.name
document.title = `${summary.name} · tickwire inspect`
const ticks = `ticks ${summary.first} to ${summary.last} at ${summary.tickRate} a second`
if (summary.kind === 'player') byId('about').textContent = `Recording of player ${summary.peer}: reading packets.`
const packets = summary.kind === 'player' ? await ask('/api/packets') : []
const state = { tick: summary.first, packet: -1, mistake: -1 }
const canvas = byId('timeline')

byId('about').textContent = summary.kind === 'player'
  ? `Recording of player ${summary.peer}: ${ticks}, ${packets.length} packets, `
    + `${summary.mistakes.length} misprediction${summary.mistakes.length === 1 ? '' : 's'}`
  : summary.kind === 'server' ? `Recording of a server: ${ticks}` : `Recording of a lockstep match: ${ticks}`
byId('tick').max = summary.last
canvas.setAttribute('aria-valuemin', summary.first)
canvas.setAttribute('aria-valuemax', summary.last)

// Packets have times, worlds have ticks: snapshots have both, and relate the two.
const apart = packets
  .filter((/** @type {any} */ { tick }) => tick !== undefined && tick !== null)
  .map((/** @type {any} */ { tick, timeMs }) => tick - timeMs * summary.tickRate / 1000)
  .sort((/** @type {number} */ a, /** @type {number} */ b) => a - b)
const offset = apart[apart.length >> 1] ?? summary.first
for (const packet of packets) packet.shownAt = offset + packet.timeMs * summary.tickRate / 1000

/** @param {number} tick */
async function goTo(tick) {
  state.tick = Math.max(summary.first, Math.min(Math.round(tick), summary.last))
  byId('tick').value = String(state.tick)
  canvas.setAttribute('aria-valuenow', String(state.tick))
  drawTimeline(canvas, summary, packets, state)
  if (summary.kind === 'player') showPackets(bodyOf('packets'), packets, state, choosePacket)
  const at = state.tick
  const worlds = await ask(`/api/tick?t=${at}`)
  if (at !== state.tick) return
  showWorlds(bodyOf('worlds'), summary.kind, worlds)
  if (summary.kind === 'server') showInputs(bodyOf('inputs'), worlds.inputs)
}

/** @param {number} number */
async function choosePacket(number) {
  state.packet = number
  showPackets(bodyOf('packets'), packets, state, choosePacket)
  drawTimeline(canvas, summary, packets, state)
  showPacket(byId('packet'), await ask(`/api/packet?n=${number}`), summary.fields)
}

/** @param {number} number */
async function chooseMistake(number) {
  state.mistake = number
  showMistakes(bodyOf('mistakes'), summary.mistakes, state, chooseMistake)
  const explained = await ask(`/api/why?n=${number}`)
  showWhy(byId('why'), explained)
  await goTo(explained.beganAt)
}

canvas.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
  canvas.setPointerCapture(event.pointerId)
  void goTo(tickAt(canvas, summary, event.offsetX))
})
canvas.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
  if (event.buttons === 1) void goTo(tickAt(canvas, summary, event.offsetX))
})
byId('back').addEventListener('click', () => goTo(state.tick - 1))
byId('forth').addEventListener('click', () => goTo(state.tick + 1))
byId('tick').addEventListener('change', () => goTo(Number(byId('tick').value)))
addEventListener('keydown', ({ key, target }) => {
  if (target instanceof HTMLInputElement) return
  if (key === 'ArrowLeft') void goTo(state.tick - 1)
  if (key === 'ArrowRight') void goTo(state.tick + 1)
})
addEventListener('resize', () => drawTimeline(canvas, summary, packets, state))

if (summary.kind === 'match') showMatch(bodyOf('match'), summary.facts, summary.name)
else if (summary.kind === 'server') {
  showEvents(bodyOf('events'), summary.events, goTo)
  await goTo((summary.first + summary.last) / 2)
} else await showPlayer()
document.body.dataset.isReady = 'true'

async function showPlayer() {
  showMistakes(bodyOf('mistakes'), summary.mistakes, state, chooseMistake)
  if (summary.mistakes.length > 0) await chooseMistake(summary.mistakes.length - 1)
  else await goTo((summary.first + summary.last) / 2)
  const telling = packets.filter((/** @type {any} */ packet) => packet.entries > 0)
  const first = telling.find((/** @type {any} */ { tick }) => tick >= state.tick) ?? telling.at(-1) ?? packets[0]
  if (first !== undefined) await choosePacket(first.number)
}
