import { connect, withBanner } from 'tickwire/browser'
import { game, Player, REACH } from './game.ts'
import { Stick } from './stick.ts'

const canvas = document.querySelector('canvas')!
const paper = canvas.getContext('2d')!
const stick = new Stick(document.querySelector('#stick')!)

// #region button
let isDashing = false
const button = document.querySelector('#dash')!
button.addEventListener('pointerdown', () => { isDashing = true })
for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
  button.addEventListener(end, () => { isDashing = false })
// #endregion

// #region resize
function resize(): void {
  // More than two pixels for each point of the screen cost battery, and are not seen in motion.
  const ratio = Math.min(devicePixelRatio, 2)
  canvas.width = canvas.clientWidth * ratio
  canvas.height = canvas.clientHeight * ratio
}
// The bars of the browser come and go, and the phone turns.
new ResizeObserver(resize).observe(canvas)
// #endregion

// #region unlock
const audio = new AudioContext()
/** Browsers are silent until the first touch, and again after a call. */
const unlock = (): void => { if (audio.state !== 'running') void audio.resume() }
addEventListener('pointerup', unlock)

/** Keeps the screen on. The system takes this back when the page is hidden. */
const keepAwake = (): void => { if (!document.hidden) navigator.wakeLock?.request('screen').catch(() => {}) }
document.addEventListener('visibilitychange', keepAwake)
keepAwake()
// #endregion

function beep(): void {
  if (audio.state !== 'running') return
  const tone = new OscillatorNode(audio, { frequency: 660 })
  tone.connect(audio.destination)
  tone.start()
  tone.stop(audio.currentTime + 0.05)
}

// #region room
const room = await withBanner(connect(game, location.origin))
const status = document.querySelector('#status')!
room.onAway(() => { status.textContent = 'no network' })
room.onBack((seat) => { status.textContent = seat === 'same' ? 'back' : 'back, as a new player' })
// #endregion

const dashes = new Map<number, number>()
room.play({
  input: () => ({ x: stick.x, y: stick.y, dash: isDashing }),
  draw(view) {
    const scale = Math.min(canvas.width, canvas.height) / (2 * REACH + 40)
    paper.setTransform(scale, 0, 0, scale, canvas.width / 2, canvas.height / 2)
    paper.clearRect(-2000, -2000, 4000, 4000)
    paper.strokeStyle = '#30363d'
    paper.strokeRect(-REACH, -REACH, 2 * REACH, 2 * REACH)
    for (const { id, at, hue, dashes: count } of view.each(Player)) {
      paper.fillStyle = `hsl(${hue} 80% 60%)`
      paper.fillRect(at.x - 8, at.y - 8, 16, 16)
      if (dashes.has(id) && dashes.get(id) !== count) beep()
      dashes.set(id, count)
    }
  },
})
