/** docs/guide/rooms.md: a lobby, and the match that a player joins from it. */

import type { RoomListing } from 'tickwire'
import { connect, watchRooms, withBanner, type Room } from 'tickwire/browser'
import { game, Notice, Player } from './game.ts'

type MatchRoom = Room<typeof game.input>

// #region lobby
const lobby = document.querySelector('ul')!

const endLobby = watchRooms(location.origin, (rooms) => {
  lobby.replaceChildren(...rooms.map((room) => entryOf(room)))
})

function entryOf({ id, type, players, capacity, isLocked }: RoomListing): HTMLElement {
  const button = document.createElement('button')
  button.textContent = `${type}, ${players} of ${capacity} players`
  button.disabled = isLocked || players === capacity
  button.addEventListener('click', () => void enter(id))
  return button
}
// #endregion

// #region enter
async function enter(id: string): Promise<void> {
  endLobby()
  play(await withBanner(connect(game, location.origin, { join: { room: id } })))
}
// #endregion

// #region play
function play(room: MatchRoom): void {
  const stopNotices = room.on(Notice, ({ text }) => console.log(text))
  room.onAway(() => console.log('the server does not answer'))
  room.onBack((seat) => console.log(seat === 'same' ? 'back' : `back, as player ${room.peer}`))
  void room.closed.then(({ code }) => console.log(`over: ${code}`))
  room.play({
    input: () => ({ right: true }),
    draw: (view) => console.log([...view.each(Player)].map(({ x }) => x)),
  })
  setTimeout(stopNotices, 60_000)
}
// #endregion
