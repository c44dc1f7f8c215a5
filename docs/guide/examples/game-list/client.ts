// #region list
import { browse, connect, isRequiredMod, missingMods, type BrowsedGame } from 'tickwire/browser'
import { game, Player } from './game.ts'

const list = document.querySelector<HTMLElement>('#games')!
const status = document.querySelector<HTMLElement>('#status')!
const trackers = [{ url: location.origin, badge: 'verified' as const }, ...more()]

/** Shows the games of all trackers. Texts of strangers are set as text, never as HTML. */
async function show(): Promise<void> {
  const { games, trackers: states } = await browse({ trackers, game: 'walkers' })
  list.replaceChildren(...games.map(rowOf))
  const down = states.filter(({ state }) => state === 'down').length
  status.textContent = down === 0 ? `${games.length} games` : `${games.length} games, ${down} lists do not answer`
}

function rowOf(found: BrowsedGame): HTMLElement {
  const { name = '', players = 0, capacity = 0, region = '' } = found.listing ?? found.foreign ?? {}
  const button = document.createElement('button')
  button.textContent = `${name}, ${players} of ${capacity}, ${region}, ${found.badge}`
  button.disabled = found.url === undefined
  button.addEventListener('click', () => void join(found))
  return button
}

async function join({ url, server, listing, isUnknownHost }: BrowsedGame): Promise<void> {
  if (url === undefined || server === undefined || listing === undefined) return
  if (isUnknownHost && !confirm('Unknown host: first connection. Join?')) return
  await loadMods(listing)
  // The client checks the identity before it says anything about its player.
  const room = await connect(game, url, { server })
  room.play({
    input: () => ({}),
    draw: (view) => { status.textContent = `playing with ${[...view.each(Player)].length}` },
  })
}
// #endregion

// #region mods
const installed = new Map<string, string>()

/** Downloads what is missing. Bytes with another checksum than the listing's are not used. */
async function loadMods(listing: NonNullable<BrowsedGame['listing']>): Promise<void> {
  for (const mod of missingMods(listing, installed)) {
    if (!confirm(`Download ${mod.id}, ${mod.bytes} bytes?`)) throw new Error(`${mod.id} is needed`)
    const bytes = new Uint8Array(await (await fetch(mod.url ?? `mods/${mod.id}`)).arrayBuffer())
    if (!isRequiredMod(mod, bytes)) throw new Error(`${mod.id} is not what the host has`)
    installed.set(mod.id, mod.sha256)
  }
}
// #endregion

/** Trackers that the player added, such as `?tracker=https://games.example`. */
function more(): string[] {
  return new URL(location.href).searchParams.getAll('tracker')
}

await show()
setInterval(show, 2000)
