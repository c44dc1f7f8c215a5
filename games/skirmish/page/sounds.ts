/** Sounds made of oscillators: nothing is downloaded. They answer a click in the same frame. */

interface Tone {
  readonly wave: OscillatorType
  /** Hertz at the beginning and at the end. */
  readonly from: number
  readonly to: number
  readonly seconds: number
  readonly gain: number
}

const SOUNDS = {
  select: [{ wave: 'sine', from: 620, to: 700, seconds: 0.06, gain: 0.1 }],
  move: [{ wave: 'triangle', from: 420, to: 560, seconds: 0.09, gain: 0.16 }],
  attack: [{ wave: 'square', from: 300, to: 210, seconds: 0.11, gain: 0.1 }],
  build: [{ wave: 'triangle', from: 240, to: 480, seconds: 0.16, gain: 0.16 }],
  refuse: [{ wave: 'sawtooth', from: 160, to: 120, seconds: 0.14, gain: 0.1 }],
  shot: [{ wave: 'square', from: 900, to: 180, seconds: 0.05, gain: 0.03 }],
  shell: [{ wave: 'sawtooth', from: 150, to: 45, seconds: 0.3, gain: 0.1 }],
  fall: [{ wave: 'sawtooth', from: 190, to: 40, seconds: 0.35, gain: 0.12 }],
  ready: [
    { wave: 'sine', from: 660, to: 660, seconds: 0.09, gain: 0.1 },
    { wave: 'sine', from: 880, to: 990, seconds: 0.16, gain: 0.1 },
  ],
  alarm: [{ wave: 'triangle', from: 880, to: 520, seconds: 0.4, gain: 0.2 }],
  news: [{ wave: 'sine', from: 330, to: 330, seconds: 0.5, gain: 0.14 }],
  won: [{ wave: 'triangle', from: 520, to: 1040, seconds: 0.9, gain: 0.2 }],
  lost: [{ wave: 'triangle', from: 400, to: 120, seconds: 1.1, gain: 0.2 }],
} as const satisfies Record<string, readonly Tone[]>

export type SoundName = keyof typeof SOUNDS

/** Tones at the same time, and the least time between two of the same sound, in ms. */
const VOICES_MAX = 16
const AGAIN_MS = 45

export class Sounds {
  isMuted = false
  #context: AudioContext | undefined
  #voices = 0
  readonly #playedAt = new Map<SoundName, number>()

  /** Browsers allow no sound before the first click. */
  unlock(): void {
    if (typeof AudioContext === 'undefined') return
    this.#context ??= new AudioContext()
    void this.#context.resume()
  }

  play(name: SoundName, loudness: number = 1): void {
    const context = this.#context
    const isTooMany = this.#voices >= VOICES_MAX || performance.now() - (this.#playedAt.get(name) ?? 0) < AGAIN_MS
    if (context?.state !== 'running' || this.isMuted || isTooMany || loudness < 0.05) return
    this.#playedAt.set(name, performance.now())
    let begins = context.currentTime
    for (const { wave, from, to, seconds, gain } of SOUNDS[name]) {
      const [tone, volume] = [context.createOscillator(), context.createGain()]
      tone.type = wave
      tone.frequency.setValueAtTime(from, begins)
      tone.frequency.exponentialRampToValueAtTime(to, begins + seconds)
      volume.gain.setValueAtTime(gain * loudness, begins)
      volume.gain.exponentialRampToValueAtTime(0.001, begins + seconds)
      tone.connect(volume).connect(context.destination)
      this.#voices++
      tone.onended = () => { this.#voices-- }
      tone.start(begins)
      tone.stop(begins + seconds)
      begins += seconds * 0.8
    }
  }
}
