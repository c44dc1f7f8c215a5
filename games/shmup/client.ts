/** The page. `?play` joins without the menu. */

import { connect, withBanner, type Room } from 'tickwire/browser'
import {
  Boom, Died, Fired, Hurt, Level, Match, Picked, PLAYING, Scored, Ship, Spark, type input,
} from './definitions.ts'
import { game } from './game.ts'
import { Controls } from './page/controls.ts'
import { Effects } from './page/effects.ts'
import { POWER_LOOKS } from './page/models.ts'
import { Picture } from './page/picture.ts'
import { Sounds } from './page/sounds.ts'

const element = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind
const canvas = element<HTMLCanvasElement>('screen')
const controls = new Controls(canvas, element('beam'), element('force'))
const effects = new Effects()
const sounds = new Sounds()
const picture = new Picture(canvas, effects)
const nameField = element<HTMLInputElement>('name')
const isTouch = matchMedia('(pointer: coarse)').matches

nameField.value = localStorage.getItem('shmup-name') ?? ''
const soundButton = element<HTMLButtonElement>('sound')
const toggleSound = (): void => {
  sounds.isMuted = !sounds.isMuted
  soundButton.setAttribute('aria-pressed', String(!sounds.isMuted))
}
controls.onPress = (code) => {
  if (code === 'KeyM') toggleSound()
}
soundButton.addEventListener('click', () => {
  toggleSound()
  soundButton.blur()
})
element('enter').addEventListener('submit', (event) => {
  event.preventDefault()
  void begin()
})
let isPlaying = false
requestAnimationFrame(function idle() {
  if (isPlaying) return
  picture.drawEmpty()
  requestAnimationFrame(idle)
})
if (new URLSearchParams(location.search).has('play')) void begin()

async function begin(): Promise<void> {
  sounds.unlock()
  // The banner says why a match could not be joined, and offers another try.
  const name = nameField.value.trim()
  if (name !== '') localStorage.setItem('shmup-name', name)
  const room = await withBanner(connect(game, location.origin, { data: { name } })).catch(() => undefined)
  if (room !== undefined) play(room)
}

function play(room: Room<typeof input>): void {
  isPlaying = true
  element('menu').hidden = true
  element('touch').hidden = !isTouch
  soundButton.hidden = false
  controls.isActive = true
  room.onEvent(Boom, ({ x, y, size, hue }) => {
    effects.boom(x, y, size, hue)
    sounds.boom(size)
  })
  room.onEvent(Spark, ({ x, y, hue }) => effects.spark(x, y, hue))
  room.onEvent(Fired, ({ by, kind }) => {
    if (by !== 0) sounds.shot(kind)
  })
  room.onEvent(Hurt, ({ peer, x, y }) => {
    effects.spark(x, y, 0)
    if (peer !== room.peer) return
    effects.shake = 10
    effects.pain = 1
    sounds.hurt()
  })
  room.onEvent(Died, ({ x, y }) => effects.word(x, y, 'down', '#ff9db0'))
  room.onEvent(Picked, ({ kind, x, y }) => {
    effects.word(x, y, POWER_LOOKS[kind]![2], POWER_LOOKS[kind]![1])
    sounds.pick()
  })
  room.onEvent(Scored, ({ peer, delta }) => {
    const [ship] = [...room.view.each(Ship)].filter(({ owner }) => owner === peer)
    if (peer !== room.peer || delta < 100 || ship === undefined) return
    effects.word(ship.x, ship.y - 24, `+${delta}`, '#fff3b0')
  })
  room.onEvent(Level, ({ state }) => {
    if (state === PLAYING) sounds.level()
  })
  room.play({
    input: () => controls.sample(),
    draw(view) {
      picture.draw(view, room.peer)
      controls.isUpright = picture.frame.isUpright
      const [match] = view.each(Match)
      if (match !== undefined) sounds.play(match.level, match.hasBoss)
    },
  })
}
