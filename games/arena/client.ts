/**
 * The page: a menu, a match behind it, and what to say when there is none.
 *
 * `?norender` draws nothing and is for tests; `?local` plays in this page alone; `?watch` comes in as a spectator.
 */

import type { CloseReason } from 'tickwire'
import { Fighter, Seat } from './definitions.ts'
import { Controls } from './page/controls.ts'
import { element, Hud } from './page/hud.ts'
import { Picture } from './page/picture.ts'
import { Playing } from './page/playing.ts'
import { joinServed, playLocally, type Joined, type Session } from './page/session.ts'
import { isTouch, loadSettings, saveSettings } from './page/settings.ts'
import { Sounds } from './page/sounds.ts'

const parameters = new URLSearchParams(location.search)
const settings = loadSettings()
const screenCanvas = element<HTMLCanvasElement>('screen')
const controls = new Controls(screenCanvas, settings)
const hud = new Hud()
const sounds = new Sounds()
const menu = element('menu')
const say = element<HTMLFormElement>('say')
const sayText = element<HTMLInputElement>('say-text')
const nameField = element<HTMLInputElement>('name')
const picture = parameters.has('norender') ? undefined : createPicture()
let playing: Playing | undefined

document.body.classList.toggle('has-touch', isTouch)
furnishMenu()
await join()

/** Without WebGL there is a page all the same, and it says so. */
function createPicture(): Picture | undefined {
  try {
    return new Picture(screenCanvas, settings)
  } catch (error) {
    showProblem(`This browser cannot draw in three dimensions: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

async function join(): Promise<void> {
  let joined: Joined
  try {
    joined = parameters.has('local') ? playLocally() : await joinServed()
  } catch (error) {
    showProblem(error instanceof Error ? error.message : String(error), true)
    return
  }
  const { session, tickRate } = joined
  playing = new Playing({ session, controls, hud, sounds, picture, tickRate })
  expose(session)
  // Until he says that he plays, a newcomer looks on.
  playing.enter(settings.name, true)
  if (parameters.has('play')) begin(false)
  void session.closed.then((reason) => {
    openMenu()
    showProblem(`${describeEnd(reason)}`, true)
  })
}

function describeEnd({ code }: CloseReason): string {
  switch (code) {
    case 'shutdown': case 'ended': return 'The server has ended the match.'
    case 'kicked': case 'flooding': return 'The server sent you away.'
    case 'timed-out': case 'path-closed': case 'reset': return 'The server is gone, or the line to it.'
    default: return `The match is over: ${code}.`
  }
}

function showProblem(text: string, canRetry = false): void {
  const problem = element('problem')
  problem.textContent = text
  problem.hidden = false
  element<HTMLButtonElement>('play').textContent = canRetry ? 'Try again' : 'Play'
  if (canRetry) playing = undefined
}

function begin(isWatching: boolean): void {
  if (playing === undefined) {
    location.reload()
    return
  }
  settings.name = nameField.value.trim() === '' ? settings.name : nameField.value.trim()
  saveSettings(settings)
  sounds.unlock()
  playing.enter(settings.name, isWatching)
  playing.isBehindMenu = false
  menu.hidden = true
  hud.isShown = true
  element('touch').hidden = !isTouch
  controls.isActive = true
  screenCanvas.focus()
  if (!parameters.has('norender')) controls.lock()
}

function openMenu(): void {
  controls.isActive = false
  controls.release()
  menu.hidden = false
  hud.isShown = false
  element('touch').hidden = true
  if (playing !== undefined) playing.isBehindMenu = true
  nameField.focus()
}

function furnishMenu(): void {
  if (settings.name === '') settings.name = `Guest ${Math.floor(Math.random() * 900 + 100)}`
  nameField.value = settings.name
  for (const name of ['sensitivity', 'fov', 'volume'] as const) {
    const field = element<HTMLInputElement>(name)
    field.value = String(settings[name])
    field.addEventListener('input', () => {
      settings[name] = Number(field.value)
      sounds.volume = settings.volume
      saveSettings(settings)
    })
  }
  sounds.volume = settings.volume
  const glow = element<HTMLInputElement>('glow')
  glow.checked = settings.hasGlow
  glow.addEventListener('input', () => {
    settings.hasGlow = glow.checked
    saveSettings(settings)
  })
  element('enter').addEventListener('submit', (event) => {
    event.preventDefault()
    begin(false)
  })
  element('watch').addEventListener('click', () => begin(true))
  controls.onPress = handlePress
  document.addEventListener('pointerlockchange', () => {
    if (!controls.isLocked && controls.isActive && say.hidden && !isTouch && !parameters.has('norender')) openMenu()
  })
  say.addEventListener('submit', (event) => {
    event.preventDefault()
    if (sayText.value.trim() !== '') playing?.say(sayText.value.trim())
    closeChat()
  })
  sayText.addEventListener('keydown', (event) => {
    event.stopPropagation()
    if (event.code === 'Escape') closeChat()
  })
}

function handlePress(code: string): void {
  if (code === 'Escape') openMenu()
  if (code === 'Enter' && controls.isActive) {
    controls.isActive = false
    controls.held.clear()
    say.hidden = false
    sayText.value = ''
    sayText.focus()
  }
  if (code === 'Fire' || code === 'Space') playing?.followNext()
}

function closeChat(): void {
  say.hidden = true
  controls.isActive = true
  screenCanvas.focus()
}

/** For tests and the curious: what this page knows, by name. */
function expose(session: Session): void {
  const arena = {
    peer: session.peer,
    controls,
    counts: playing?.counts,
    fighters: () => [...playing?.view?.each(Fighter) ?? []].map(({ id, owner, at: { x, y, z }, health, weapon }) => ({ id, owner, x, y, z, health, weapon })),
    seats: () => [...playing?.view?.each(Seat) ?? []].map(({ owner, name, frags, deaths, isWatching }) => ({ owner, name, frags, deaths, isWatching })),
  }
  Object.assign(window, { arena })
}

