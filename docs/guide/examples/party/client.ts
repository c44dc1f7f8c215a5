/** docs/guide/rooms.md: the page. `?name=Ada` plays, `?watch` is a spectator. */

import { connect, watchRooms, withBanner } from 'tickwire/browser'
import { Buy, game, Player, Said, Say } from './game.ts'

const element = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind
const parameters = new URLSearchParams(location.search)
const held = new Set<string>()
addEventListener('keydown', ({ key }) => held.add(key))
addEventListener('keyup', ({ key }) => held.delete(key))

watchRooms(location.origin, (rooms) => {
  element('lobby').textContent = rooms.map(({ type, players, spectators }) =>
    `${type}: ${players} players, ${spectators} spectators`).join('; ')
})

const room = await withBanner(connect(game, location.origin, {
  data: { name: parameters.get('name') ?? 'Guest' },
  join: parameters.has('watch') ? { quick: 'party', role: 'spectator' } : { quick: 'party' },
}))

room.on(Said, ({ name, text }) => {
  element('chat').textContent += `${name}: ${text}\n`
})
element('say').addEventListener('change', () => {
  room.send(Say, { text: element<HTMLInputElement>('say').value })
})
element('buy').addEventListener('click', async () => {
  const result = await room.request(Buy, { item: 'axe' })
  const { isSold, left } = result.isOk ? result.values : { isSold: false, left: 0 }
  element('gold').textContent = isSold ? `sold, ${left} gold left` : 'not sold'
})
room.play({
  input: () => ({ left: held.has('ArrowLeft'), right: held.has('ArrowRight') }),
  draw(view) {
    element('players').textContent = [...view.each(Player)]
      .map(({ name, team, x, owner }) => `${name} (${team}) at ${Math.round(x)}${owner === room.peer ? ', you' : ''}`)
      .join('\n')
  },
})
