/** The end of a match: the winner, graphs of how it went, and the way to the replay. */

import type { World } from 'tickwire'
import { Match, Seat } from '../definitions.ts'
import { GRAPHS, type Chronicle, type Graph } from './chronicle.ts'
import { button, element, make, setText } from './dom.ts'
import { cssColour, SEAT_NAMES } from './palette.ts'

const TITLES: Record<Graph, string> = { army: 'Army', mined: 'Crystals mined', kills: 'Kills' }

export class ResultsPanel {
  readonly #chronicle: Chronicle
  readonly #stop = new AbortController()
  #graph: Graph = 'army'
  isShown = false

  constructor(chronicle: Chronicle, onReplay: () => void, onMenu: () => void) {
    this.#chronicle = chronicle
    const { signal } = this.#stop
    element('watch-replay').addEventListener('click', onReplay, { signal })
    element('again').addEventListener('click', onMenu, { signal })
  }

  stop(): void {
    this.#stop.abort()
    element('results').hidden = true
  }

  update(world: World, own: number): void {
    const [match] = [...world.each(Match)]
    const isOver = match !== undefined && match.winner !== 0
    if (isOver === this.isShown) return
    this.isShown = isOver
    element('results').hidden = !isOver
    if (!isOver) return
    const seats = [...world.each(Seat)]
    const hasWon = seats[own]?.team === match.winner - 1
    const winners = seats.filter(({ team }) => team === match.winner - 1)
      .map(({ number, name }) => name || SEAT_NAMES[number]!)
    setText(element('result'), own < 0 ? `${winners.join(', ')} won` : hasWon ? 'Victory' : 'Defeat')
    element('scores').replaceChildren(...seats.map(({ number, name, mined, kills, losses }) => {
      const dot = make('i')
      dot.className = 'dot'
      dot.style.background = cssColour(number)
      const row = make('tr', '', make('td', '', dot, document.createTextNode(name || SEAT_NAMES[number]!)),
        make('td', String(mined)), make('td', String(kills)), make('td', String(losses)))
      row.classList.toggle('own', number === own)
      return row
    }))
    this.#showGraph()
  }

  #showGraph(): void {
    element('graphs').replaceChildren(...GRAPHS.map((graph) => {
      const made = button(TITLES[graph], () => {
        this.#graph = graph
        this.#showGraph()
      })
      made.setAttribute('aria-pressed', String(graph === this.#graph))
      return made
    }))
    this.#chronicle.draw(element<HTMLCanvasElement>('graph'), this.#graph, cssColour)
  }
}
