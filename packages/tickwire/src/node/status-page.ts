/**
 * The status page: rooms, players, tick times, and what was dropped and why. Plain HTML without a script, reloaded
 * every five seconds.
 *
 * Text that players can choose (metadata) is escaped.
 */

import type { Match } from '../core/game/match.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import { QUANTILES, type Metric } from './metrics.ts'

const ROOMS_SHOWN = 200

export function statusPage(host: RoomHost<Match>, metrics: readonly Metric[]): string {
  const rooms = host.rooms
  const rows = rooms.slice(0, ROOMS_SHOWN).map((room) =>
    row([
      room.isPrivate ? 'private' : room.id,
      room.typeName,
      `${room.seats.players} / ${room.seats.capacity}`,
      String(room.seats.spectators),
      String(room.world.tick),
      ...QUANTILES.map((share) => room.ticks.percentileMs(share).toFixed(3)),
      Object.entries(room.metadata)
        .map(([key, value]) => `${key}=${value}`)
        .join(' '),
      room.isLocked ? 'locked' : '',
    ]),
  )
  const counters = metrics
    .filter(({ kind }) => kind === 'counter')
    .flatMap(({ name, samples }) =>
      samples
        .filter(({ value }) => value !== 0)
        .map(({ labels = {}, value }) =>
          row([
            `${name.replace(/^tickwire_|_total$/g, '').replaceAll('_', ' ')}: ${Object.values(labels).join(' ')}`,
            String(Math.round(value * 1000) / 1000),
          ]),
        ),
    )
  const connections = host.endpoint.connections.length
  const memoryMiB = Math.round(process.memoryUsage().rss / 2 ** 20)
  const ticks = QUANTILES.map((share) => `p${share * 100} ${host.ticks.percentileMs(share).toFixed(3)} ms`).join(', ')
  const quantiles = QUANTILES.map((share) => `p${share * 100} ms`)
  const names = ['room', 'type', 'players', 'spectators', 'tick', ...quantiles, 'metadata', '']
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>tickwire</title>
<style>body{font:14px system-ui;margin:2em}table{border-collapse:collapse;margin:1em 0}
td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}</style></head>
<body><h1>tickwire${host.isDraining ? ': draining' : ''}</h1>
<p>${rooms.length} rooms, ${host.players} players, ${connections} connections; up ${Math.round(process.uptime())} s;
${memoryMiB} MiB. Ticks of all rooms: ${ticks}, worst ${host.ticks.maxMs.toFixed(3)} ms.</p>
<table><tr>${names.map((name) => `<th>${name}</th>`).join('')}</tr>
${rows.join('\n')}</table>
${rooms.length > ROOMS_SHOWN ? `<p>and ${rooms.length - ROOMS_SHOWN} more</p>` : ''}
<table><tr><th>counters since the start</th><th></th></tr>
${counters.join('\n')}</table></body></html>
`
}

function row(cells: readonly string[]): string {
  return `<tr>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
