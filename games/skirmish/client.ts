/** The page. `?play` joins at once, `?alone` plays without a server, `?demo=8` shows bots at a speed. */

import type { World } from 'tickwire'
import { connect, withBanner } from 'tickwire/browser'
import { WeatherWire } from 'tickwire/devtools'
import {
  local, relay, replay, type LockstepOptions, type LockstepPlace, type LockstepRoom, type PlayedMatch,
} from 'tickwire/lockstep'
import { skirmishGame } from './game.ts'
import type { ORDERS } from './orders.ts'
import { Chronicle } from './page/chronicle.ts'
import { element, setText } from './page/dom.ts'
import { Minimap } from './page/minimap.ts'
import { Picture } from './page/picture.ts'
import { ReplayBar } from './page/replay-bar.ts'
import { Session, type Stage } from './page/session.ts'
import { Sounds } from './page/sounds.ts'

const game = skirmishGame({ hasLobby: true })
const picture = new Picture(element<HTMLCanvasElement>('screen'))
const minimap = new Minimap(element<HTMLCanvasElement>('minimap'), picture.camera)
const sounds = new Sounds()
const nameField = element<HTMLInputElement>('name')
let session: Session | undefined
let isBusy = false

const stage: Stage = {
  picture, sounds, minimap,
  onReplay: (room) => void watch(room.played()),
  onMenu(problem) {
    session = undefined
    element('menu').hidden = false
    element('problem').hidden = problem === undefined
    setText(element('problem'), problem ?? '')
  },
}

nameField.value = localStorage.getItem('skirmish-name') ?? ''
element('enter').addEventListener('submit', (event) => {
  event.preventDefault()
  void begin(relay(location.origin), { quick: 'skirmish' })
})
element('alone').addEventListener('click', () => void begin(local({ seed: Math.floor(Math.random() * 2 ** 32) })))
element('observe').addEventListener('click', () => void begin(relay(location.origin), { quick: 'skirmish' }, true))
for (const closer of document.querySelectorAll<HTMLElement>('[data-close]'))
  closer.addEventListener('click', () => { element(closer.dataset['close']!).hidden = true })
element('help').addEventListener('click', () => { element('keys').hidden = !element('keys').hidden })

const wish = new URLSearchParams(location.search)
if (wish.has('play')) void begin(relay(location.origin), { quick: 'skirmish' })
else if (wish.has('alone')) void begin(local({ seed: Number(wish.get('alone')) || 1 }))
else void demo()

/** Joins or starts a match. */
async function begin(
  place: LockstepPlace, join?: { readonly quick: string }, isWatching: boolean = false,
): Promise<void> {
  if (isBusy) return
  isBusy = true
  sounds.unlock()
  const name = nameField.value.trim()
  if (name !== '') localStorage.setItem('skirmish-name', name)
  try {
    const room = await enter(place, false, {
      ...(join !== undefined && { join: { ...join, ...(isWatching && { role: 'spectator' as const }) } }),
    })
    if (!isWatching) introduce(room, name)
  } catch (error) {
    stage.onMenu(error instanceof Error ? error.message : String(error))
  } finally {
    isBusy = false
  }
}

/** The order waits until the player is in the match. */
function introduce(room: LockstepRoom<typeof ORDERS>, name: string): void {
  const timer = setInterval(() => {
    if (session?.room !== room || room.isOver) return clearInterval(timer)
    if (session.hand.seat < 0) return
    clearInterval(timer)
    session.introduce(name)
  }, 100)
}

async function enter(
  place: LockstepPlace, isReplay: boolean, options: LockstepOptions = {},
): Promise<LockstepRoom<typeof ORDERS>> {
  let noted: Session | undefined
  const chronicle = new Chronicle()
  const wire = isReplay ? undefined : new WeatherWire()
  const joining = connect(game, place, {
    ...options,
    ...(wire && { wire }),
    onDesync: (report) => noted?.showDesync(report),
    runner: { onTick: () => noted?.noteTick(noted.room.world), onJump: () => picture.memory.clear() },
  })
  // The menu says why a match could not be joined, or is over.
  const room = await withBanner(joining, { isEndShown: false })
  demoEnd()
  session?.end()
  session = new Session(room, stage, chronicle, isReplay, wire)
  noted = session
  element('menu').hidden = true
  Object.assign(globalThis, { skirmish: session })
  return room
}

/** Plays a match again, with a scrubber. */
async function watch(match: PlayedMatch): Promise<void> {
  const room = await enter(replay(match), true)
  new ReplayBar(room, match, () => picture.memory.clear(), () => session?.end())
}

let demoEnd: () => void = () => {}

/** Bots play behind the menu. */
async function demo(): Promise<void> {
  const shown = skirmishGame()
  let world: World | undefined
  const room = await connect(shown, local({ seed: 7, players: 0 }), {
    runner: {
      onTick() {
        if (world !== undefined) picture.memory.note(world, (happening) => picture.effects.show(happening))
      },
    },
  })
  world = room.world
  const speed = Number(wish.get('demo') ?? 1)
  if (speed !== 1) room.setSpeed(speed)
  element('menu').hidden = wish.has('demo')
  picture.fog.isOff = true
  let [from, angle] = [performance.now(), 0]
  room.play({
    draw() {
      const now = performance.now()
      angle += (now - from) / 30_000
      from = now
      picture.camera.height = 25
      picture.camera.lookAt({ x: 64 + 45 * Math.cos(angle), y: 66 + 45 * Math.sin(angle) })
      picture.fog.begin()
      picture.fog.end()
      picture.draw(room.world, { seat: -1, selected: new Set(), alpha: 1 }, now)
    },
  })
  demoEnd = () => room.leave()
}
