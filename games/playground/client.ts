/** The page: the list of labs, or the lab that the address names after its `#`. */

import { LABS } from './labs.ts'
import { showIndex } from './page/index-page.ts'
import { showLab } from './page/lab-page.ts'

let close = (): void => {}

function show(): void {
  close()
  const lab = LABS.find(({ name }) => `#${name}` === location.hash)
  document.title = lab === undefined ? 'Tickwire playground' : `${lab.title} · Tickwire playground`
  close = lab === undefined ? showIndex(document.body) : showLab(document.body, lab)
  scrollTo(0, 0)
}

addEventListener('hashchange', show)
show()
