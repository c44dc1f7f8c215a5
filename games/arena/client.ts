/**
 * The page: a menu, a match behind it, and a message when there is none.
 *
 * `?norender` draws nothing and is for tests; `?local` plays in this page alone, against bots of `?level=gentle`,
 * `normal` or `hard`; `?play` and `?watch` join without the menu. `?weather=100ms,20ms,5%` degrades this page's
 * network, in each direction: latency, jitter, loss.
 */

import type { CloseReason, View } from 'tickwire'
import type { Devtools } from 'tickwire/devtools'
import { botLevel } from './bot-levels.ts'
import { Fighter, Seat } from './definitions.ts'
import { Controls } from './page/controls.ts'
import { element, Hud } from './page/hud.ts'
import { KeyCard } from './page/key-card.ts'
import type { Picture } from './page/picture.ts'
import { Playing } from './page/playing.ts'
import { joinServed, playLocally, type Joined, type Role, type Session } from './page/session.ts'
import { isTouch, loadSettings, saveSettings } from './page/settings.ts'
import { Sounds } from './page/sounds.ts'
import { describeWeather, parseWeather } from './weather.ts'

const parameters = new URLSearchParams(location.search)
const settings = loadSettings()
const screenCanvas = element<HTMLCanvasElement>('screen')
const controls = new Controls(screenCanvas, settings)
const hud = new Hud()
const sounds = new Sounds()
const card = new KeyCard(settings)
const menu = element('menu')
const say = element<HTMLFormElement>('say')
const sayText = element<HTMLInputElement>('say-text')
const nameField = element<HTMLInputElement>('name')
/** Shown when the parameter cannot be parsed. */
const WEATHER_ADVICE = '?weather takes something like 100ms,20ms,5%: latency each way, jitter, loss'
/** The settings with a number, and how it is written. */
const SLIDERS = {
  sensitivity: (value: number) => `${value.toFixed(2)} x`,
  fov: (value: number) => `${value}°`,
  volume: (value: number) => `${Math.round(value * 100)} %`,
}
/** The browser reports one press of Escape as a lost pointer and as a key. */
const ESCAPE_MS = 250
const weatherText = parameters.get('weather')
const weather = weatherText === null || parameters.has('local') ? undefined : parseWeather(weatherText)
let playing: Playing | undefined
let isJoining = false
let overlay: Devtools | undefined
/** The name of a visitor that has chosen none. It is not stored: another tab is another visitor. */
const guestName = `Guest ${Math.floor(Math.random() * 900 + 100)}`
/** Whether the menu was opened from a match, and when: one press of a key must not open and close it. */
let isMatchBehind = false
let menuOpenedAt = 0

document.body.classList.toggle('has-touch', isTouch)
furnishMenu()
if (weather !== undefined)
  hud.showWeather(
    `weather ${weather.latencyMs} + ${weather.jitterMs} ms, ${weather.loss * 100} %`,
    `Put on the line of this page: ${describeWeather(weather)}`,
  )
const picture = parameters.has('norender') ? undefined : await createPicture()
// A new visitor is a spectator until it starts to play.
await join('spectator')
if (weatherText !== null && weather === undefined && !parameters.has('local')) showProblem(WEATHER_ADVICE)
if (parameters.has('play')) await begin('player')
if (parameters.has('watch')) await begin('spectator')

/** The code that draws is large, and is loaded after the menu. Without WebGL the page still works, and says so. */
async function createPicture(): Promise<Picture | undefined> {
  try {
    const { Picture: Drawn } = await import('./page/picture.ts')
    return new Drawn(screenCanvas, settings, () => {
      element<HTMLInputElement>('glow').checked = false
      element('slow').hidden = false
    })
  } catch (error) {
    showProblem(
      `This browser cannot draw in three dimensions: ${error instanceof Error ? error.message : String(error)}`,
    )
    return undefined
  }
}

/** Joins a match, and leaves the previous one. False when that fails; the reason is then on the screen. */
async function join(role: Role): Promise<boolean> {
  isJoining = true
  let joined: Joined
  const name = ownName()
  try {
    const level = botLevel(parameters.get('level')) ?? 'gentle'
    joined = parameters.has('local') ? playLocally(role, name, level) : await joinServed(role, name, weather)
  } catch (error) {
    showProblem(error instanceof Error ? error.message : String(error))
    return false
  } finally {
    isJoining = false
  }
  const isOpen = overlay?.isOpen === true
  overlay?.close()
  playing?.leave()
  const { session, tickRate } = joined
  overlay = session.overlay
  const mine = new Playing({ session, name, controls, hud, sounds, picture, tickRate })
  playing = mine
  mine.isSmooth = element<HTMLInputElement>('smooth').checked
  for (const id of ['network', 'smooth']) element<HTMLInputElement>(id).disabled = overlay === undefined
  if (isOpen) overlay?.open()
  expose(session)
  void session.closed.then((reason) => {
    if (playing !== mine) return
    playing = undefined
    isMatchBehind = false
    openMenu()
    showProblem(describeEnd(reason))
  })
  return true
}

function describeEnd({ code }: CloseReason): string {
  switch (code) {
    case 'shutdown': case 'ended': return 'The server has ended the match.'
    case 'kicked': case 'flooding': return 'The server sent you away.'
    case 'timed-out': case 'path-closed': case 'reset': return 'The server is gone, or the line to it.'
    default: return `The match is over: ${code}.`
  }
}

function showProblem(text: string): void {
  const problem = element('problem')
  problem.textContent = text
  problem.hidden = text === ''
  element<HTMLButtonElement>('play').textContent = text === '' || playing !== undefined ? 'Play' : 'Try again'
}

async function begin(role: Role): Promise<void> {
  if (isJoining) return
  const typed = nameField.value.trim()
  if (typed !== '' && typed !== guestName) settings.name = typed
  saveSettings(settings)
  sounds.unlock()
  if (!parameters.has('norender') && role === 'player') controls.lock()
  const isWatching = role === 'spectator'
  if (playing?.isWatching !== isWatching && !(await join(role))) return openMenu()
  if (playing === undefined) return
  showProblem('')
  playing.rename(ownName())
  playing.isBehindMenu = false
  menu.hidden = true
  hud.isShown = true
  element('touch').hidden = !isTouch
  document.body.classList.toggle('is-watching', isWatching)
  controls.isActive = true
  isMatchBehind = true
  if (!isWatching) card.begin()
  screenCanvas.focus()
}

function ownName(): string {
  return settings.name === '' ? guestName : settings.name
}

function openMenu(): void {
  menuOpenedAt = performance.now()
  say.hidden = true
  controls.isActive = false
  controls.release()
  menu.hidden = false
  hud.isShown = false
  element('touch').hidden = true
  if (playing !== undefined) playing.isBehindMenu = true
  const play = element<HTMLButtonElement>('play')
  play.textContent = playing?.isWatching === false ? 'Go on' : 'Play'
  // Focusing a text field would open a phone's keyboard over the menu.
  if (isTouch) play.focus()
  else nameField.focus()
}

function furnishMenu(): void {
  nameField.value = ownName()
  for (const [name, textOf] of Object.entries(SLIDERS) as [keyof typeof SLIDERS, (value: number) => string][]) {
    const field = element<HTMLInputElement>(name)
    const output = field.previousElementSibling as HTMLOutputElement
    field.value = String(settings[name])
    output.value = textOf(settings[name])
    field.addEventListener('input', () => {
      settings[name] = Number(field.value)
      output.value = textOf(settings[name])
      sounds.volume = settings.volume
      saveSettings(settings)
    })
  }
  sounds.volume = settings.volume
  for (const [id, name] of [['glow', 'hasGlow'], ['inverted', 'isInverted']] as const) {
    const box = element<HTMLInputElement>(id)
    box.checked = settings[name]
    box.addEventListener('input', () => {
      settings[name] = box.checked
      saveSettings(settings)
    })
  }
  element('enter').addEventListener('submit', (event) => {
    event.preventDefault()
    void begin('player')
  })
  element('watch').addEventListener('click', () => void begin('spectator'))
  for (const id of ['network', 'net']) element(id).addEventListener('click', toggleNetwork)
  // A finger on the other figures holds the table of scores.
  for (const kind of ['touchstart', 'touchend'])
    element('net').addEventListener(kind, (event) => event.stopPropagation())
  element('smooth').addEventListener('input', () => setSmooth(element<HTMLInputElement>('smooth').checked))
  controls.onPress = handlePress
  document.addEventListener('pointerlockchange', () => {
    if (
      !controls.isLocked
      && controls.isActive
      && say.hidden
      && overlay?.isOpen !== true
      && playing?.isWatching === false
      && !isTouch
      && !parameters.has('norender')
    )
      openMenu()
  })
  say.addEventListener('submit', (event) => {
    event.preventDefault()
    if (sayText.value.trim() !== '') playing?.say(sayText.value.trim())
    closeChat()
  })
  // A phone's keyboard is closed by a blur.
  sayText.addEventListener('blur', closeChat)
  sayText.addEventListener('keydown', (event) => {
    event.stopPropagation()
    if (event.code === 'Escape') closeChat()
  })
}

/** Opens or closes the overlay of the network. It is used with the pointer, which the game then does not hold. */
function toggleNetwork(): void {
  overlay?.toggle()
  if (overlay?.isOpen === true) controls.release()
}

/** Draws with prediction and interpolation, or without both. */
function setSmooth(isSmooth: boolean): void {
  element<HTMLInputElement>('smooth').checked = isSmooth
  if (playing !== undefined) playing.isSmooth = isSmooth
  element('net').classList.toggle('is-raw', !isSmooth)
}

function handlePress(code: string): void {
  if (code === 'Escape') return handleEscape()
  if (playing?.isWatching === false) card.handlePress(code)
  // The key itself is handled by devtools.
  if (code === 'Backquote' && overlay?.isOpen === true) controls.release()
  if (code === 'KeyP' && overlay !== undefined) setSmooth(!element<HTMLInputElement>('smooth').checked)
  if (code === 'Enter' && controls.isActive && playing?.isWatching === false) {
    controls.isActive = false
    controls.held.clear()
    say.hidden = false
    sayText.value = ''
    sayText.focus()
  }
  if (['Fire', 'Space', 'ArrowRight', 'TapRight'].includes(code)) void playing?.follow('next')
  if (['ArrowLeft', 'TapLeft'].includes(code)) void playing?.follow('previous')
}

/** Opens the menu, or goes on with the match behind it. */
function handleEscape(): void {
  if (menu.hidden) return openMenu()
  if (!isMatchBehind || playing === undefined || performance.now() - menuOpenedAt < ESCAPE_MS) return
  void begin(playing.isWatching ? 'spectator' : 'player')
}

function closeChat(): void {
  if (say.hidden) return
  say.hidden = true
  controls.isActive = true
  screenCanvas.focus()
}

function fightersOf(view: View | undefined): object[] {
  return [...(view?.each(Fighter) ?? [])]
    .map(({ id, owner, at: { x, y, z }, health, weapon }) => ({ id, owner, x, y, z, health, weapon }))
}

/** For tests and debugging: exposes the state of this page by name. */
function expose(session: Session): void {
  const arena = {
    peer: session.peer,
    session,
    controls,
    counts: playing?.counts,
    /** As drawn. */
    fighters: () => fightersOf(playing?.view),
    /** As the server sent them last. */
    received: () => fightersOf(session.overlay?.truth()),
    seats: () =>
      [...(playing?.view?.each(Seat) ?? [])].map(({ owner, name, frags, deaths }) => ({ owner, name, frags, deaths })),
    get following() {
      return playing?.following ?? 0
    },
    get role() {
      return session.role
    },
  }
  Object.assign(window, { arena })
}

