/**
 * The status page: rooms, players, tick times, and what was dropped and why. Plain HTML without a script, reloaded
 * every five seconds.
 *
 * Text that players can choose (metadata) is escaped.
 */

import { QUANTILES } from './metrics.ts'
import { ROOMS_SHOWN, ticksOf, type Status } from './status.ts'

export function statusPage(status: Status): string {
  const { metrics, roomCount, players, connections, isDraining } = status
  const rows = status.rooms.map((room) =>
    row([
      room.id ?? 'private',
      room.typeName,
      `${room.players} / ${room.capacity}`,
      String(room.spectators),
      String(room.tick),
      ...room.tickMs.map((ms) => ms.toFixed(3)),
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
  const memoryMiB = Math.round(status.residentBytes / 2 ** 20)
  const histogram = ticksOf(status)
  const ticks = QUANTILES.map((share) => `p${share * 100} ${histogram.percentileMs(share).toFixed(3)} ms`).join(', ')
  const quantiles = QUANTILES.map((share) => `p${share * 100} ms`)
  const names = ['room', 'type', 'players', 'spectators', 'tick', ...quantiles, 'metadata', '']
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>tickwire</title>
<style>body{font:14px system-ui;margin:2em}table{border-collapse:collapse;margin:1em 0}
td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}</style></head>
<body><h1>tickwire${isDraining ? ': draining' : ''}</h1>
<p>${roomCount} rooms, ${players} players, ${connections} connections; up ${Math.round(process.uptime())} s;
${memoryMiB} MiB. Ticks of all rooms: ${ticks}, worst ${histogram.maxMs.toFixed(3)} ms.</p>
<table><tr>${names.map((name) => `<th>${name}</th>`).join('')}</tr>
${rows.join('\n')}</table>
${roomCount > ROOMS_SHOWN ? `<p>and ${roomCount - ROOMS_SHOWN} more</p>` : ''}
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
