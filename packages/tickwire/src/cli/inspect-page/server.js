/** What only a recording of a server has, and the facts of a lockstep match. */
// @ts-check

import { choosable, element, peerText, table, text } from './element.js'

/** @param {HTMLElement} place @param {any[]} inputs */
export function showInputs(place, inputs) {
  place.replaceChildren(inputs.length === 0
    ? element('p', { class: 'dim' }, 'No player had an input.')
    : table(['player', 'input'], inputs.map(({ peer, values, isMissing }) => element('tr', {},
        element('td', {}, peerText(peer)),
        element('td', {}, `${text(values)}${isMissing ? ' (repeated: none had arrived)' : ''}`)))))
}

/** @param {HTMLElement} place @param {any[]} events @param {(tick: number) => void} goTo */
export function showEvents(place, events, goTo) {
  place.replaceChildren(events.length === 0
    ? element('p', { class: 'dim' }, 'No player joined or left, and the game marked nothing.')
    : table(['tick', 'event'], events.map(({ tick, kind, peer, text: words }) => choosable(
        element('tr', { class: 'is-link' }, element('td', {}, String(tick)),
          element('td', {}, kind === 'mark' ? words : `${peerText(peer)} ${kind}`)), () => goTo(tick)))))
}

/** @param {HTMLElement} place @param {Record<string, string>} facts @param {string} name */
export function showMatch(place, facts, name) {
  place.replaceChildren(
    element('p', {}, 'The relay recorded ticks with orders. Worlds follow from them and the code of the game:'),
    element('p', {}, element('code', {}, `npx tickwire verify ${name} --step game.ts`)),
    table(['fact', 'value'], Object.entries(facts).map(([fact, value]) => (
      element('tr', {}, element('td', {}, fact), element('td', {}, value))))))
}
