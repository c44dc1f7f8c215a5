/** Short names for elements of the page. */

export function element<Kind extends HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind
}

/** Makes an element with a text and children. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name, text: string = '', ...children: readonly Node[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  made.textContent = text
  made.append(...children)
  return made
}

/** Sets a text only when it changed: the page is laid out again otherwise. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text
}

export function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = make('button', text)
  made.type = 'button'
  made.addEventListener('click', onClick)
  return made
}

/** Minutes and seconds. */
export function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`
}
