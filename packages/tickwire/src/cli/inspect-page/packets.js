/** Packets: those around a tick, and one of them with a name for every bit and a reason for every row. */
// @ts-check

import { choosable, element, table, text } from './element.js'

const SHOWN = 60
/** One colour for each part of a packet. */
const COLOURS = {
  header: '#5b6579', acks: '#7d8aa5', frame: '#a07a4a', packet: '#3a4150', snapshot: '#62b4ff', entry: '#4d8fe0',
  row: '#46d9a0', inputs: '#b79bff', timing: '#ffc35c', wanted: '#ff8a5c', channel: '#e87bd0', control: '#c0c7d6',
  peers: '#d8b4ff',
}

/** @param {HTMLElement} place @param {any[]} packets @param {any} state @param {(number: number) => void} choose */
export function showPackets(place, packets, state, choose) {
  const nearest = packets.findIndex(({ shownAt }) => shownAt >= state.tick)
  const from = Math.max(0, (nearest < 0 ? packets.length : nearest) - 8)
  const shown = packets.slice(from, from + SHOWN)
  place.replaceChildren(table(['#', 'ms', 'way', 'bytes', 'tick', 'frames'], shown.map((packet) => {
    const row = element('tr', { class: `is-link ${packet.number === state.packet ? 'is-chosen' : ''}` },
      element('td', { class: 'dim' }, String(packet.sequence)), element('td', {}, packet.timeMs.toFixed(1)),
      element('td', { class: packet.way }, packet.way === 'received' ? '▲ in' : '▼ out'),
      element('td', {}, String(packet.bytes)),
      element('td', {}, text(packet.tick)), element('td', {}, packet.frames === '' ? packet.type : packet.frames))
    return choosable(row, () => choose(packet.number))
  })))
}

/** @param {HTMLElement} place @param {any} packet @param {Record<string, string>} fields */
export function showPacket(place, packet, fields) {
  const strip = element('div', { class: 'strip' })
  const rows = packet.bits.map((/** @type {any} */ bits) => {
    const colour = colourOf(bits.name)
    const title = `${bits.name}: ${fields[bits.name]}\n${bits.where} ${bits.value}\n${bits.length} bits at ${bits.at}`
    const cell = element('i', { title })
    // By the object model, which a content policy allows.
    cell.style.width = `${Math.max(3, Math.min(bits.length, 64) * 2.2)}px`
    cell.style.background = colour
    strip.append(cell)
    const name = element('td', {}, bits.name)
    name.style.color = colour
    const row = element('tr', {},
      element('td', { class: 'dim' }, String(bits.at)), element('td', {}, String(bits.length)), name,
      element('td', {}, bitsOf(packet.bytes, bits.at, bits.length)), element('td', {}, bits.value),
      element('td', {}, bits.where), element('td', { class: 'dim' }, fields[bits.name] ?? ''))
    cell.addEventListener('click', () => row.scrollIntoView({ block: 'center' }))
    cell.addEventListener('pointerenter', () => row.classList.add('is-chosen'))
    cell.addEventListener('pointerleave', () => row.classList.remove('is-chosen'))
    return row
  })
  const reasons = packet.entries.map((/** @type {any} */ entry) => element('p', { class: 'why' },
    element('strong', {}, `${entry.entity} ${entry.id >>> 16}: ${entry.reason}`), ` ${entry.why} (${entry.bits} bits)`))
  place.replaceChildren(
    element('h3', {},
      `Packet ${packet.sequence}: ${packet.bytes.length / 2} bytes without tag, ${packet.bits.length} fields`),
    strip,
    ...(reasons.length === 0 ? [] : [element('h3', {}, 'Why this was sent'), ...reasons]),
    element('h3', {}, 'Every bit'),
    element('div', { class: 'bits' }, table(['bit', 'length', 'name', 'bits', 'value', 'of', 'means'], rows)))
}

/** @param {string} name */
function colourOf(name) {
  return /** @type {Record<string, string>} */ (COLOURS)[name.split('.')[0] ?? ''] ?? '#888'
}

/** @param {string} hex @param {number} at @param {number} length */
function bitsOf(hex, at, length) {
  if (length > 32) return `${length} bits`
  let out = ''
  for (let bit = at; bit < at + length; bit++) {
    const place = (bit >> 3) * 2
    out += parseInt(hex.slice(place, place + 2), 16) >> (7 - (bit & 7)) & 1
  }
  return out
}
