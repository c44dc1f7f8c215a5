/**
 * The status page: rooms, players, what ticks take, and what was dropped and why. Plain HTML without a script, fresh every five seconds.
 *
 * What players can choose (metadata) is text here, and nothing else.
 */

import type { RoomHost } from '../core/index.ts'
import { QUANTILES, type Metric } from './metrics.ts'

const ROOMS_SHOWN = 200

export function statusPage(host: RoomHost, metrics: readonly Metric[]): string {
  const rooms = host.rooms
  const rows = rooms.slice(0, ROOMS_SHOWN).map((room) => row([
    room.isPrivate ? 'private' : room.id, room.typeName, `${room.seats.players} / ${room.seats.capacity}`, String(room.seats.spectators), String(room.world.tick),
    ...QUANTILES.map((share) => room.ticks.percentileMs(share).toFixed(3)), Object.entries(room.metadata).map(([key, value]) => `${key}=${value}`).join(' '),
    room.isLocked ? 'locked' : '',
  ]))
  const counters = metrics.filter(({ kind }) => kind === 'counter').flatMap(({ name, samples }) => samples
    .filter(({ value }) => value !== 0)
    .map(({ labels = {}, value }) => row([`${name.replace(/^tickwire_|_total$/g, '').replaceAll('_', ' ')}: ${Object.values(labels).join(' ')}`, String(Math.round(value * 1000) / 1000)])))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>tickwire</title>
<style>body{font:14px system-ui;margin:2em}table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}</style></head>
<body><h1>tickwire${host.isDraining ? ': draining' : ''}</h1>
<p>${rooms.length} rooms, ${host.players} players, ${host.endpoint.connections.length} connections; up ${Math.round(process.uptime())} s; ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB.
Ticks, of all rooms: ${QUANTILES.map((share) => `p${share * 100} ${host.ticks.percentileMs(share).toFixed(3)} ms`).join(', ')}, worst ${host.ticks.maxMs.toFixed(3)} ms.</p>
<table><tr>${['room', 'type', 'players', 'looking on', 'tick', ...QUANTILES.map((share) => `p${share * 100} ms`), 'metadata', ''].map((name) => `<th>${name}</th>`).join('')}</tr>
${rows.join('\n')}</table>
${rooms.length > ROOMS_SHOWN ? `<p>and ${rooms.length - ROOMS_SHOWN} more</p>` : ''}
<table><tr><th>counted since the start</th><th></th></tr>
${counters.join('\n')}</table></body></html>
`
}

function row(cells: readonly string[]): string {
  return `<tr>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
