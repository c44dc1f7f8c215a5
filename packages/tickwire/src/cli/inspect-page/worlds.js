/** The world of a tick, side by side: as it was predicted, as it was received, and as the server had it. */
// @ts-check

import { element, peerText, table, text } from './element.js'

/** @param {HTMLElement} place @param {string} kind @param {any} tick */
export function showWorlds(place, kind, { predicted, received, authority, differences, held, used, isMissing }) {
  const server = authority === undefined ? [] : [['server', authority]]
  // The rows of a server's recording are its own world.
  const sides =
    kind === 'server' ? [['server', predicted]] : [['predicted', predicted], ['received', received], ...server]
  /** @type {Map<number, any>} */
  const objects = new Map()
  for (const [, world] of sides) for (const object of world ?? []) objects.set(object.id, object)
  const others = new Set(differences.map((/** @type {any} */ { id, field }) => `${id} ${field}`))
  // Predicted objects come first: they are what the user compares.
  const ours = new Set((kind === 'server' ? [] : predicted ?? []).map((/** @type {any} */ { id }) => id))
  const sorted = [...objects.values()].sort((a, b) => Number(ours.has(b.id)) - Number(ours.has(a.id)) || a.id - b.id)
  const rows = sorted.flatMap(({ id, entity, owner }) => {
    const values = sides.map(([, world]) => world?.find((/** @type {any} */ object) => object.id === id)?.values)
    const names = Object.keys(values.find((each) => each !== undefined) ?? {})
    return [
      element('tr', {},
        element('td', { class: 'dim' }, `${entity} ${id >>> 16}${owner === 0 ? '' : ` of ${peerText(owner)}`}`),
        ...sides.map(() => element('td'))),
      ...names.map((name) => element('tr', {}, element('td', {}, `  ${name}`),
        ...values.map((each, at) => {
          const isOther = at === 0 && others.has(`${id} ${entity}.${name}`)
          return element('td', { class: isOther ? 'is-other' : '' }, each === undefined ? '' : text(each[name]))
        }))),
    ]
  })
  const missing = sides.filter(([, world]) => world === undefined).map(([name]) => name)
  const usedText = used === undefined || used === null
    ? []
    : ['. The server used: ', text(used), isMissing ? ' (a repeated input, because none had arrived)' : '']
  const missingText = `Not in the recording at this tick: ${missing.join(', ')}.`
  place.replaceChildren(
    ...(kind === 'server'
      ? []
      : [element('p', { class: 'why' }, 'Input of this client: ', text(held), ...usedText)]),
    ...(missing.length === 0 ? [] : [element('p', { class: 'dim' }, missingText)]),
    table(['object', ...sides.map(([name]) => String(name))], rows))
}
