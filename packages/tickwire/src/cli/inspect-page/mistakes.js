/** Mispredictions, and why: the first field, both values, the input that differed. */
// @ts-check

import { choosable, element, table, text } from './element.js'

/** @param {HTMLElement} place @param {any[]} mistakes @param {any} state @param {(number: number) => void} choose */
export function showMistakes(place, mistakes, state, choose) {
  if (mistakes.length === 0) {
    place.replaceChildren(element('p', { class: 'dim' }, 'No misprediction was recorded.'))
    return
  }
  place.replaceChildren(table(['tick', 'field', 'off by'], mistakes.map((mistake, number) => {
    const row = element('tr', { class: `is-link ${number === state.mistake ? 'is-chosen' : ''}` },
      element('td', {}, String(mistake.tick)),
      element('td', {}, mistake.field === '' ? `${mistake.entity}: not predicted` : mistake.field),
      element('td', {}, text(mistake.distance)))
    return choosable(row, () => choose(number))
  })))
}

/** @param {HTMLElement} place @param {any} explained */
export function showWhy(place, { beganAt, field, predicted, received, held, used, isInputOther, why }) {
  place.replaceChildren(
    element('h3', {}, 'Why this was mispredicted'),
    element('div', { class: 'card' },
      element('p', { class: 'why' },
        'It began in tick ', element('strong', {}, String(beganAt)), ' with ', element('strong', {}, field), '.'),
      table(['', field], [
        element('tr', {}, element('td', { class: 'dim' }, 'predicted'), element('td', {}, text(predicted))),
        element('tr', {},
          element('td', { class: 'dim' }, 'received'), element('td', { class: 'is-other' }, text(received))),
        element('tr', {}, element('td', { class: 'dim' }, 'input of this client'), element('td', {}, text(held))),
        element('tr', {},
          element('td', { class: 'dim' }, 'input used by the server'),
          element('td', { class: isInputOther ? 'is-other' : '' }, text(used))),
      ]),
      element('p', { class: 'why' }, `${why}.`)))
}
