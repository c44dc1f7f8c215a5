/** Elements without a library, and values as people read them. */
// @ts-check

/**
 * @param {string} tag @param {Record<string, string>} [attributes] @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== '') made.setAttribute(name, value)
  made.append(...children)
  return made
}

/**
 * A row that is chosen by a click, or by Enter.
 * @param {HTMLElement} row @param {() => void} choose
 */
export function choosable(row, choose) {
  row.tabIndex = 0
  row.addEventListener('click', choose)
  row.addEventListener('keydown', (event) => { if (event.key === 'Enter') choose() })
  return row
}

/** @param {number} peer */
export function peerText(peer) {
  return peer >= 0x8000_0000 ? `bot ${peer - 0x8000_0000}` : `player ${peer}`
}

/** @param {string[]} heads @param {HTMLElement[]} rows */
export function table(heads, rows) {
  const head = element('tr', {}, ...heads.map((name) => element('th', {}, name)))
  return element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows))
}

/** @param {unknown} value @returns {string} */
export function text(value) {
  if (value === undefined || value === null) return '–'
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(3)
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`
  if (typeof value === 'object' && /^xyz?w?$/.test(Object.keys(value).join('')))
    return `(${Object.values(value).map(text).join(', ')})`
  if (typeof value === 'object') return Object.entries(value).map(([name, each]) => `${name} ${text(each)}`).join(', ')
  return String(value)
}
