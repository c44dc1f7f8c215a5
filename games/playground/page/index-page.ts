/** The list of labs. */

import { LABS } from '../labs.ts'
import { element } from './element.ts'
import { navigation } from './navigation.ts'

/** Fills the page. The returned function ends it. */
export function showIndex(body: HTMLElement): () => void {
  const cards = LABS.map(({ name, title, idea }, index) => element('li', {},
    element('a', { href: `#${name}`, class: 'card' },
      element('span', { class: 'number' }, `${index + 1}`), element('strong', {}, title), element('span', {}, idea))))
  body.replaceChildren(
    navigation(),
    element('main', { class: 'index' },
      element('h1', {}, 'The network, made visible'),
      element(
        'p',
        { class: 'lead' },
        'Each lab shows one idea of netcode. A server, its players and the network between them run in this page: ' +
          'the real engine, with simulated connections. Change the settings, use the keys, read the source.',
      ),
      element('ol', { class: 'cards' }, ...cards),
      element(
        'p',
        { class: 'legend' },
        element('span', { class: 'role-server' }, 'server'),
        element('span', { class: 'role-you' }, 'you'),
        element('span', { class: 'role-other' }, 'another player'),
      ),
    ),
  )
  return () => {}
}
