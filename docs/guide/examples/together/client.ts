// #region page
import { connect, host, type Room } from 'tickwire/browser'
import { renderSVG } from 'uqr'
import { game, Player } from './game.ts'

const status = document.querySelector<HTMLElement>('#status')!
const code = document.querySelector<HTMLInputElement>('#code')!

/** Hosts in this page, and plays too. Others open the link, scan it, or type the code. */
async function hostHere(): Promise<void> {
  const hosted = await host(game, { worker: () => new Worker('/host-worker.js', { type: 'module' }) })
  code.value = hosted.code
  document.querySelector('#qr')!.innerHTML = renderSVG(hosted.link)
  play(await connect(game, hosted))
}

/** Joins by what was typed, or by the link that opened this page. */
async function join(where: string): Promise<void> {
  play(await connect(game, where))
}

function play(room: Room<typeof game.input>): void {
  room.play({
    input: () => ({}),
    draw: (view) => { status.textContent = `${[...view.each(Player)].length} players, ${room.path}` },
  })
  void room.closed.then((reason) => { status.textContent = `over: ${reason.code}` })
}

document.querySelector('#host')!.addEventListener('click', () => void hostHere())
document.querySelector('#join')!.addEventListener('click', () => void join(code.value))
if (location.hash !== '') await join(location.href)
// #endregion
