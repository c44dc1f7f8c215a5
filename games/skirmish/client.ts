/**
 * The page. `?play` joins at once, `?alone` plays without a server, `?demo=8` shows bots at a speed, `?graphics=full`
 * and `?graphics=reduced` choose how much is drawn. `?fog`: the server steps the matches; without it the page finds
 * that out by a first attempt.
 */

import type { World } from 'tickwire'
import { connect, ConnectError, withBanner } from 'tickwire/browser'
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
import { Sabotage } from './page/sabotage.ts'
import { Session, type Stage } from './page/session.ts'
import { Sounds } from './page/sounds.ts'

const sabotage = new Sabotage()
const game = sabotage.plant(skirmishGame({ hasLobby: true }))
const DEFAULT_NAME = 'Commander'
/** In this tab a match is being played: a reloaded page goes on with it. */
const PLAYING = 'skirmish-playing'
const wish = new URLSearchParams(location.search)
/** Where matches are played: at the relay of this page's server, or stepped by the server itself. */
const home: LockstepPlace = {
  async enter(...args) {
    try {
      if (!wish.has('fog')) return await relay(location.origin).enter(...args)
    } catch (error) {
      // A server that steps the matches has another schema: that of the served game.
      if (!(error instanceof ConnectError) || error.code !== 'schema') throw error
      wish.set('fog', '')
      history.replaceState(null, '', `?${wish}`)
    }
    return await (await import('./page/fog-room.ts')).fog(location.origin).enter(...args)
  },
}
const graphics = (['full', 'reduced'] as const).find((each) => each === wish.get('graphics'))
const picture = new Picture(element<HTMLCanvasElement>('screen'), graphics)
const minimap = new Minimap(element<HTMLCanvasElement>('minimap'), picture.camera)
const sounds = new Sounds()
const nameField = element<HTMLInputElement>('name')
let session: Session | undefined
let isBusy = false

const stage: Stage = {
  picture, sounds, minimap,
  onReplay(room) {
    const match = room.played()
    if (match === undefined) stage.onMenu('The replay is not complete: ticks from before you joined are missing.')
    else void watch(match)
  },
  onMenu(problem) {
    session = undefined
    sessionStorage.removeItem(PLAYING)
    element('menu').hidden = false
    element('problem').hidden = problem === undefined
    setText(element('problem'), problem ?? '')
  },
}

nameField.value = localStorage.getItem('skirmish-name') ?? ''
element('enter').addEventListener('submit', (event) => {
  event.preventDefault()
  void begin(home, { quick: 'skirmish' })
})
element('alone').addEventListener('click', () => void begin(local({ seed: Math.floor(Math.random() * 2 ** 32) })))
element('observe').addEventListener('click', () => void begin(home, { quick: 'skirmish' }, true))
for (const closer of document.querySelectorAll<HTMLElement>('[data-close]'))
  closer.addEventListener('click', () => { element(closer.dataset['close']!).hidden = true })
element('help').addEventListener('click', () => { element('keys').hidden = !element('keys').hidden })
// Browsers allow no sound before the first click or key.
for (const name of ['pointerdown', 'keydown']) addEventListener(name, () => sounds.unlock(), { once: true })
element('mute').addEventListener('click', () => {
  sounds.isMuted = !sounds.isMuted
  setText(element('mute'), sounds.isMuted ? 'sound off' : 'sound on')
})

const isGoingOn = wish.has('play') || sessionStorage.getItem(PLAYING) !== null
if (isGoingOn) void begin(home, { quick: 'skirmish' })
else if (wish.has('alone')) void begin(local({ seed: Number(wish.get('alone')) || 1 }))
else void demo()

/** Joins or starts a match. */
async function begin(
  place: LockstepPlace, join?: { readonly quick: string }, isWatching: boolean = false,
): Promise<void> {
  if (isBusy) return
  isBusy = true
  const name = nameField.value.trim()
  if (name !== '') localStorage.setItem('skirmish-name', name)
  try {
    await enter(place, false, {
      ...(join !== undefined && { join: { ...join, ...(isWatching && { role: 'spectator' as const }) } }),
    })
    if (isWatching || join === undefined) sessionStorage.removeItem(PLAYING)
    else sessionStorage.setItem(PLAYING, '1')
    if (!isWatching) session?.introduce(name || DEFAULT_NAME)
  } catch (error) {
    stage.onMenu(error instanceof Error ? error.message : String(error))
  } finally {
    isBusy = false
  }
}

/** Enters a match, and shows it. */
async function enter(
  place: LockstepPlace, isReplay: boolean, options: LockstepOptions = {},
): Promise<LockstepRoom<typeof ORDERS>> {
  let noted: Session | undefined
  const chronicle = new Chronicle()
  sabotage.tick = 0
  const wire = isReplay ? undefined : new WeatherWire()
  const joining = connect(game, place, {
    ...options,
    ...(wire && { wire }),
    onDesync: (report) => noted?.showDesync(report),
    runner: {
      onTick: () => noted?.noteTick(noted.room.world),
      onEvent: (event) => noted?.noteEvent(event),
      onJump: () => picture.memory.clear(),
    },
  })
  // The menu says why a match could not be joined, or is over.
  const room = await withBanner(joining, { isEndShown: false })
  demoEnd()
  session?.end()
  session = new Session({ room, stage, chronicle, isReplay, wire, sabotage })
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
