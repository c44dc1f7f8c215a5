/** The match, outside of React: it draws the field, and tells React about the scores when they change. */

import { connect, withBanner } from 'tickwire/browser'
import { Coin, game, HEIGHT, Player, WIDTH } from './game.ts'

export interface Score {
  readonly id: number
  readonly name: string
  readonly coins: number
  readonly isOwn: boolean
}

/** The scores, as a store that `useSyncExternalStore` reads: a new list only when a score changed. */
class Scores {
  #list: readonly Score[] = []
  #listeners = new Set<() => void>()

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  read = (): readonly Score[] => this.#list

  show(list: readonly Score[]): void {
    if (JSON.stringify(list) === JSON.stringify(this.#list)) return
    this.#list = list
    for (const listener of this.#listeners) listener()
  }
}

export const scores: Scores = new Scores()

export async function play(name: string): Promise<void> {
  const canvas = document.querySelector<HTMLCanvasElement>('#field')!
  canvas.width = WIDTH
  canvas.height = HEIGHT
  const paper = canvas.getContext('2d')!
  const held = new Set<string>()
  addEventListener('keydown', (event) => held.add(event.key))
  addEventListener('keyup', (event) => held.delete(event.key))

  const room = await withBanner(connect(game, location.origin, { data: { name } }))
  room.play({
    input: () => ({
      left: held.has('ArrowLeft'), right: held.has('ArrowRight'),
      up: held.has('ArrowUp'), down: held.has('ArrowDown'),
    }),
    draw(view) {
      paper.clearRect(0, 0, WIDTH, HEIGHT)
      paper.fillStyle = 'gold'
      for (const { x, y } of view.each(Coin)) paper.fillRect(x - 4, y - 4, 8, 8)
      const list: Score[] = []
      for (const { id, x, y, hue, name, coins, owner } of view.each(Player)) {
        paper.fillStyle = `hsl(${hue} 80% 60%)`
        paper.fillRect(x - 8, y - 8, 16, 16)
        list.push({ id, name, coins, isOwn: owner === room.peer })
      }
      scores.show(list)
    },
  })
}

if (import.meta.env.DEV) await import('tickwire/devtools')
