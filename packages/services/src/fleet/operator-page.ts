/**
 * The operator page of a fleet: one file of HTML without a framework. It reads `/fleet` every two seconds.
 *
 * Texts of games and players are set as text, never as HTML. The policy of the page allows no other script and style.
 */

import { createHash } from 'node:crypto'

const STYLE = `
:root{color-scheme:dark;--ground:#0b0e14;--card:#131823;--line:#222a3a;--text:#e8ecf4;--dim:#8d98ad;--blue:#6aa8ff;
--green:#4fd18b;--amber:#f0b357;--red:#f2777a}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.45 system-ui,sans-serif}
main{max-width:1040px;margin:0 auto;padding:24px 16px 60px}
header{display:flex;align-items:baseline;gap:4px 14px;flex-wrap:wrap;margin-bottom:16px}
h1{font-size:26px;margin:0}
h2{font-size:16px;margin:0;overflow-wrap:anywhere}
.dim{color:var(--dim);font-size:14px}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 16px;margin-bottom:14px}
.row{display:flex;align-items:center;gap:4px 12px;flex-wrap:wrap}
.row>:last-child{margin-left:auto}
.room{border-top:1px solid var(--line);margin-top:10px;padding-top:10px}
.id{font-family:ui-monospace,monospace;font-size:14px}
.tag{font-size:13px;border:1px solid #69512a;background:#272012;color:var(--amber);border-radius:99px;padding:1px 10px}
button{font:inherit;font-size:14px;color:var(--text);background:#1a2130;border:1px solid #33405a;border-radius:8px;
padding:8px 14px;min-height:40px;cursor:pointer}
button:hover{border-color:var(--blue)}
button:focus-visible{outline:2px solid var(--blue);outline-offset:2px}
button:disabled{opacity:.5;cursor:default}
button.danger{color:var(--red)}
button.sure{background:#4a1d20;border-color:var(--red);color:#fff}
.acts{display:flex;gap:8px}
ul{list-style:none;margin:10px 0 0;padding:0 0 0 12px;border-left:2px solid var(--line);display:grid;gap:6px}
.note{background:#272012;border:1px solid #69512a;color:#f6d7a2;border-radius:10px;padding:10px 14px;margin:0 0 14px}
.note:empty{display:none}
`

const SCRIPT = `
const opened = new Map()
let sure = ''
let shown = ''
const make = (tag, className, text, ...children) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text) node.textContent = text
  node.append(...children)
  return node
}
const count = (number, noun) => number + ' ' + noun + (number === 1 ? '' : 's')
const note = (text) => { document.getElementById('note').textContent = text }
const ask = async (path, body) => {
  const options = { signal: AbortSignal.timeout(5000), cache: 'no-store' }
  if (body) Object.assign(options, {
    method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' },
  })
  const response = await fetch(path, options)
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message + ' ' + answer.error.fix)
  return answer
}
// The first press asks, the second one acts.
const actButton = (label, server, body) => {
  const key = server + JSON.stringify(body)
  const button = make('button', sure === key ? 'danger sure' : 'danger', sure === key ? 'Sure?' : label)
  button.dataset.key = key
  button.onclick = async () => {
    if (sure !== key) {
      sure = key
      setTimeout(() => { if (sure === key) { sure = ''; void draw() } }, 4000)
      return draw()
    }
    sure = ''
    button.disabled = true
    await ask('/servers/' + server + '/acts', body).then(() => note(''), (error) => note(error.message))
    await read()
  }
  return button
}
const roomOf = (server, room) => {
  const key = server.id + '/' + room.id
  const inspect = make('button', '', opened.has(key) ? 'Hide' : 'Inspect')
  inspect.dataset.key = 'inspect' + key
  inspect.onclick = () => {
    if (!opened.delete(key)) opened.set(key, undefined)
    return read()
  }
  const metadata = Object.entries(room.metadata).map((pair) => pair.join('=')).join(' ')
  const node = make('div', 'room', '', make('div', 'row', '',
    make('span', 'id', room.id), make('span', '', room.type),
    make('span', 'dim', room.players + ' of ' + room.capacity + ', ' + count(room.spectators, 'spectator')),
    ...[room.isLocked && 'locked', room.hasPassword && 'password', room.code && 'private'].filter(Boolean)
      .map((text) => make('span', 'tag', text)),
    make('span', 'dim', metadata),
    make('span', 'acts', '', inspect, actButton('Close', server.id, { act: 'close', room: room.id }))))
  const seen = opened.get(key)
  if (seen) node.append(make('p', 'dim', 'Tick ' + seen.tick + '; ticks take ' + seen.tickMs.p50.toFixed(2)
    + ' ms p50, ' + seen.tickMs.p99.toFixed(2) + ' ms p99'), make('ul', '', '', ...seen.members.map((member) =>
    make('li', 'row', '', make('span', '', 'Peer ' + member.id), make('span', 'dim', member.role),
      ...(member.isAway ? [make('span', 'tag', 'away')] : []),
      actButton('Kick', server.id, { act: 'kick', room: room.id, peer: member.id })))))
  return node
}
let fleet
const draw = () => {
  const focus = document.activeElement?.dataset?.key
  const { servers } = fleet
  const sum = (of) => servers.reduce((total, server) => total + of(server), 0)
  document.getElementById('sum').textContent = [servers.length === 1 ? '1 process' : servers.length + ' processes',
    count(sum((server) => server.rooms.length), 'room'), count(sum((server) => server.players), 'player')].join(', ')
  document.getElementById('stale').textContent = fleet.isStale ? 'The store does not answer: the list is old.' : ''
  document.getElementById('list').replaceChildren(...servers.map((server) => make('section', '', '',
    make('div', 'row', '', make('h2', '', server.url), make('span', 'dim', [server.region, 'version ' + server.version,
      server.players + ' of ' + server.seats + ' seats', count(server.rooms.length, 'room'),
    ].filter(Boolean).join(', ')),
    server.isDraining ? make('span', 'tag', 'draining') : actButton('Drain', server.id, { act: 'drain' })),
    ...server.rooms.map((room) => roomOf(server, room)))),
    ...(servers.length ? [] : [make('p', 'dim', 'No process is listed. Start one: serveRooms(…, { fleet }).')]))
  if (focus) [...document.querySelectorAll('button')].find((button) => button.dataset.key === focus)?.focus()
}
const read = async () => {
  try {
    fleet = await ask('/fleet')
    fleet.servers.sort((a, b) => a.url < b.url ? -1 : 1)
    await Promise.all([...opened.keys()].map(async (key) => {
      const [server, room] = key.split('/')
      const seen = await ask('/servers/' + server + '/rooms/' + encodeURIComponent(room)).catch(() => undefined)
      if (!seen) opened.delete(key)
      else if (opened.has(key)) opened.set(key, seen)
    }))
    document.getElementById('away').textContent = ''
  } catch {
    document.getElementById('away').textContent = 'The fleet service does not answer.'
  }
  const text = JSON.stringify([fleet, [...opened]])
  if (fleet && text !== shown) draw()
  shown = text
}
await read()
setInterval(() => { if (!document.hidden) void read() }, 2000)
`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The policy of the page. */
export const OPERATOR_POLICY: string = [
  "default-src 'none'", `style-src ${hashOf(STYLE)}`, `script-src ${hashOf(SCRIPT)}`, "connect-src 'self'",
  'img-src data:', "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
].join('; ')

/** The page as HTML. */
export const OPERATOR_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fleet</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><main>
<header><h1>Fleet</h1><span class="dim" id="sum"></span></header>
<p class="note" id="away" role="status"></p><p class="note" id="stale" role="status"></p>
<p class="note" id="note" role="alert"></p>
<div id="list"></div>
</main><script type="module">${SCRIPT}</script></body></html>
`
