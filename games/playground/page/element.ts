/** Elements of the page, created without markup: no displayed text is ever parsed as HTML. */

type Child = Node | string

/** An element with attributes and children: `element('p', { class: 'note' }, 'Hello')`. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: { readonly [name: string]: string } = {}, ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}
