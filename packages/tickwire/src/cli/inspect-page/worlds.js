/** The world of a tick, side by side: as it was predicted, as it was told, and as the server had it. */
// @ts-check

import { element, table, text } from './element.js'

/** @param {HTMLElement} place @param {any} tick */
export function showWorlds(place, { predicted, told, authority, differences, held, used, isMissing }) {
  const sides = [['predicted', predicted], ['told', told], ...(authority === undefined ? [] : [['server', authority]])]
  /** @type {Map<number, any>} */
  const objects = new Map()
  for (const [, world] of sides) for (const object of world ?? []) objects.set(object.id, object)
  const others = new Set(differences.map((/** @type {any} */ { id, field }) => `${id} ${field}`))
  // What was predicted is what one came to compare: it stands first.
  const ours = new Set((predicted ?? []).map((/** @type {any} */ { id }) => id))
  const rows = [...objects.values()].sort((a, b) => Number(ours.has(b.id)) - Number(ours.has(a.id)) || a.id - b.id).flatMap(({ id, entity, owner }) => {
    const values = sides.map(([, world]) => world?.find((/** @type {any} */ object) => object.id === id)?.values)
    const names = Object.keys(values.find((each) => each !== undefined) ?? {})
    return [
      element('tr', {}, element('td', { class: 'dim' }, `${entity} ${id >>> 16}${owner === 0 ? '' : ` of ${owner}`}`), ...sides.map(() => element('td'))),
      ...names.map((name) => element('tr', {}, element('td', {}, `  ${name}`),
        ...values.map((each, at) => element('td', { class: at === 0 && others.has(`${id} ${entity}.${name}`) ? 'is-other' : '' }, each === undefined ? '' : text(each[name]))))),
    ]
  })
  const missing = sides.filter(([, world]) => world === undefined).map(([name]) => name)
  place.replaceChildren(
    element('p', { class: 'why' }, 'Held here: ', text(held), ...(used === undefined || used === null ? [] : ['. The server used: ', text(used), isMissing ? ' (repeated: nothing had come)' : ''])),
    ...(missing.length === 0 ? [] : [element('p', { class: 'dim' }, `Not in the recording at this tick: ${missing.join(', ')}.`)]),
    table(['', ...sides.map(([name]) => String(name))], rows))
}
