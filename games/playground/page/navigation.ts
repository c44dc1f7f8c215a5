/** The navigation at the top of every page. */

import type { Lab } from '../lab.ts'
import { LABS } from '../labs.ts'
import { element } from './element.ts'

export function navigation(current?: Lab): HTMLElement {
  const links = LABS.map((lab, index) =>
    element(
      'a',
      {
        href: `#${lab.name}`,
        title: lab.title,
        'aria-label': `Lab ${index + 1}: ${lab.title}`,
        ...(lab === current && { 'aria-current': 'page' }),
      },
      `${index + 1}`,
    ),
  )
  return element(
    'header',
    { class: 'top' },
    element('a', { href: '#', class: 'brand' }, 'Tickwire ', element('span', {}, 'playground')),
    element('nav', { 'aria-label': 'Labs' }, ...links))
}
