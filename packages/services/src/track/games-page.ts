/**
 * The page with the list of games. It can be read and used without script; the script adds the ping and fresh numbers.
 *
 * Every text of a listing comes from a stranger and is escaped. The policy of the page allows no other script and
 * style.
 */

import { createHash } from 'node:crypto'
import type { BrowsedGame } from 'tickwire/node'
import { GAMES_SCRIPT, GAMES_STYLE } from './games-style.ts'

/** Games on one page: those with the most players. */
const ROWS_MAX = 200

/** Which games the visitor wants. */
export interface GamesFilter {
  readonly game?: string
  readonly region?: string
  /** Only games with a free seat. */
  readonly free?: boolean
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The policy of the page. The ping asks the hosts of games. */
export const GAMES_POLICY: string = [
  "default-src 'none'", `style-src ${hash(GAMES_STYLE)}`, `script-src ${hash(GAMES_SCRIPT)}`,
  "connect-src 'self' http: https:", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
].join('; ')

/** The page as HTML. */
export function gamesPage(games: readonly BrowsedGame[], filter: GamesFilter, isStale: boolean): string {
  const rows = games.map(rowOf)
  const wanted = rows.filter(({ game, region, players, capacity }) =>
    (filter.game === undefined || game === filter.game) && (filter.region === undefined || region === filter.region)
    && (filter.free !== true || players < capacity))
  const shown = wanted.toSorted((a, b) => Number(b.url !== undefined) - Number(a.url !== undefined)
    || b.players - a.players || (a.name < b.name ? -1 : 1)).slice(0, ROWS_MAX)
  const players = wanted.reduce((sum, row) => sum + row.players, 0)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Games</title><meta name="referrer" content="no-referrer"><style>${GAMES_STYLE}</style></head>
<body><main>
<header><h1>Games</h1>
<span class="sum" id="sum">${plural(wanted.length, 'game')}, ${plural(players, 'player')}</span></header>
${isStale ? '<p class="note" role="status">The list may be a minute old: its store does not answer.</p>' : ''}
${formOf(rows, filter)}
<div id="list">${shown.length === 0 ? EMPTY : `<ul>${shown.map(itemOf).join('')}</ul>`}</div>
<footer>Hosts sign their listings. <span title="from this tracker, with a token">Verified</span>,
<span title="from this network, or from another tracker">community</span> and
<span title="without a signature">unverified</span> say where a listing came from. The same list for programs:
<a href="/v1/listings">/v1/listings</a></footer>
</main><script type="module">${GAMES_SCRIPT}</script></body></html>
`
}

const EMPTY = `<div class="empty"><b>No games yet</b>
List your own with <code>serve(game, { publish: ['this address'] })</code></div>`

interface Row {
  readonly name: string
  readonly game: string
  readonly engine: string
  readonly region: string
  readonly map: string
  readonly players: number
  readonly capacity: number
  readonly status: string
  readonly hasPassword: boolean
  readonly mods: number
  /** Empty: the game has none. */
  readonly code: string
  readonly badge: BrowsedGame['badge']
  readonly url: string | undefined
  readonly isUnknownHost: boolean
}

function rowOf({ listing, foreign, badge, url, isUnknownHost }: BrowsedGame): Row {
  const found = listing ?? foreign
  const map = listing?.map?.name ?? foreign?.map ?? ''
  return {
    name: found?.name ?? '', game: found?.game ?? '', engine: found?.engine ?? '', region: found?.region ?? '', map,
    players: found?.players ?? 0, capacity: found?.capacity ?? 0, status: found?.status ?? 'full',
    hasPassword: found?.hasPassword === true, mods: listing?.requiredMods?.length ?? 0, badge,
    code: listing?.host.code ?? '',
    // A native address is no link for a page.
    url: url?.startsWith('http') === true ? url : undefined, isUnknownHost,
  }
}

function itemOf(row: Row): string {
  const { name, game, engine, region, map, players, capacity, status, hasPassword, mods, code, badge, url } = row
  const share = capacity === 0 ? 0 : Math.min(100, Math.round((100 * players) / capacity))
  const colour = status === 'full' ? 'full' : share > 74 ? 'busy' : 'free'
  const about = [
    engine === 'tickwire' ? game : `${game} (${engine})`, map, region, hasPassword ? 'password' : '',
    mods === 0 ? '' : plural(mods, 'mod'), status === 'in_progress' ? 'playing' : '',
    code === '' ? '' : `code ${code}`,
  ].filter((text) => text !== '').join(' · ')
  const ping = url === undefined || url.includes('#') ? '<span class="ping"></span>'
    : `<span class="ping" data-ping="${escape(url)}" title="time to the host and back"></span>`
  return `<li><span class="tile" data-hue="${hueOf(game) % 6}">${escape([...game][0]?.toUpperCase() ?? '?')}</span>
<div><div class="name">${escape(name)}</div><div class="about">${escape(about)}</div></div>
<div class="seats">${players} of ${capacity}
<div class="bar"><i class="${colour} w${Math.round(share / 5)}"></i></div></div>
${ping}
<span class="badge ${badge}">${badge}</span>
<div class="action">${actionOf(row)}</div></li>`
}

function actionOf({ url, engine, status, code, isUnknownHost, name }: Row): string {
  if (engine !== 'tickwire') return '<span class="off">other engine</span>'
  if (url === undefined) return `<span class="off">${code === '' ? 'native only' : 'join by code'}</span>`
  if (status === 'full') return '<span class="off">full</span>'
  const title = isUnknownHost ? 'Unknown host: first connection' : `Join ${name}`
  return `<a class="join" href="${escape(url)}" rel="noopener noreferrer nofollow" title="${escape(title)}">Join</a>`
}

function formOf(rows: readonly Row[], filter: GamesFilter): string {
  const select = (name: 'game' | 'region', all: string): string => {
    const options = [...new Set(rows.map((row) => row[name]))].filter((text) => text !== '').toSorted()
    return `<select name="${name}" aria-label="${name}"><option value="">${all}</option>${options.map((option) =>
      `<option${filter[name] === option ? ' selected' : ''}>${escape(option)}</option>`).join('')}</select>`
  }
  return `<form method="get" action="/games">${select('game', 'All games')}${select('region', 'All regions')}
<label><input type="checkbox" name="free" value="1"${filter.free === true ? ' checked' : ''}> free seats only</label>
<button>Show</button></form>`
}

function hueOf(text: string): number {
  let hash = 0
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 65_536
  return hash
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
}
