/** Sounds made of oscillators and noise: nothing is downloaded. Volume and side depend on the position. */

export interface Ear {
  readonly x: number
  readonly y: number
  readonly z: number
  readonly yaw: number
}

interface Place { readonly x: number; readonly y: number; readonly z: number }

type Wave = OscillatorType | 'noise'

interface Tone {
  readonly wave: Wave
  /** Frequency in hertz at the beginning and at the end; for noise, that of its filter. */
  readonly from: number
  readonly to: number
  readonly seconds: number
  readonly gain: number
  readonly delay?: number
}

const SOUNDS = {
  rail: [
    { wave: 'sawtooth', from: 1400, to: 90, seconds: 0.35, gain: 0.25 },
    { wave: 'sine', from: 2600, to: 240, seconds: 0.6, gain: 0.2 },
    { wave: 'noise', from: 5000, to: 600, seconds: 0.2, gain: 0.3 },
  ],
  shotgun: [
    { wave: 'noise', from: 3200, to: 200, seconds: 0.28, gain: 0.7 },
    { wave: 'triangle', from: 160, to: 40, seconds: 0.16, gain: 0.6 },
  ],
  rocket: [
    { wave: 'noise', from: 900, to: 2600, seconds: 0.4, gain: 0.3 },
    { wave: 'square', from: 150, to: 55, seconds: 0.18, gain: 0.25 },
  ],
  boom: [
    { wave: 'noise', from: 1200, to: 40, seconds: 0.9, gain: 0.9 },
    { wave: 'sine', from: 95, to: 26, seconds: 0.7, gain: 0.9 },
  ],
  hit: [{ wave: 'square', from: 1250, to: 1180, seconds: 0.06, gain: 0.12 }],
  frag: [
    { wave: 'triangle', from: 660, to: 660, seconds: 0.1, gain: 0.3 },
    { wave: 'triangle', from: 990, to: 990, seconds: 0.22, gain: 0.3, delay: 0.09 },
  ],
  hurt: [
    { wave: 'sawtooth', from: 210, to: 90, seconds: 0.16, gain: 0.3 },
    { wave: 'noise', from: 700, to: 200, seconds: 0.1, gain: 0.3 },
  ],
  die: [{ wave: 'sawtooth', from: 320, to: 45, seconds: 0.7, gain: 0.35 }],
  pick: [
    { wave: 'sine', from: 520, to: 780, seconds: 0.09, gain: 0.3 },
    { wave: 'sine', from: 780, to: 1170, seconds: 0.14, gain: 0.3, delay: 0.07 },
  ],
  pad: [{ wave: 'sine', from: 180, to: 900, seconds: 0.35, gain: 0.35 }],
  jump: [{ wave: 'noise', from: 500, to: 260, seconds: 0.09, gain: 0.14 }],
  step: [{ wave: 'noise', from: 320, to: 120, seconds: 0.05, gain: 0.1 }],
  empty: [{ wave: 'square', from: 240, to: 200, seconds: 0.03, gain: 0.08 }],
  over: [
    { wave: 'triangle', from: 523, to: 523, seconds: 0.5, gain: 0.25 },
    { wave: 'triangle', from: 659, to: 659, seconds: 0.5, gain: 0.25, delay: 0.15 },
    { wave: 'triangle', from: 784, to: 784, seconds: 0.9, gain: 0.25, delay: 0.3 },
  ],
} as const satisfies Record<string, readonly Tone[]>

export type SoundName = keyof typeof SOUNDS

const VOICES_MAX = 24

export class Sounds {
  ear: Ear = { x: 0, y: 0, z: 0, yaw: 0 }
  volume = 0.6
  #context: AudioContext | undefined
  #noise: AudioBuffer | undefined
  #voices = 0

  /** Browsers allow no sound before the first click. */
  unlock(): void {
    if (typeof AudioContext === 'undefined') return
    this.#context ??= new AudioContext()
    void this.#context.resume()
    this.#noise ??= makeNoise(this.#context)
  }

  play(name: SoundName, at?: Place): void {
    const context = this.#context
    if (context === undefined || context.state !== 'running' || this.volume === 0 || this.#voices > VOICES_MAX) return
    const { gain, pan } = at === undefined ? { gain: 1, pan: 0 } : this.#hear(at)
    if (gain < 0.02) return
    const out = context.createGain()
    const side = context.createStereoPanner()
    out.gain.value = gain * this.volume
    side.pan.value = pan
    out.connect(side).connect(context.destination)
    for (const tone of SOUNDS[name]) this.#sound(context, tone, out)
  }

  #hear({ x, y, z }: Place): { gain: number; pan: number } {
    const [dx, dy, dz] = [x - this.ear.x, y - this.ear.y, z - this.ear.z]
    const distance = Math.hypot(dx, dy, dz)
    const right = dx * Math.cos(this.ear.yaw) - dz * Math.sin(this.ear.yaw)
    return { gain: 1 / (1 + distance * distance / 60), pan: distance < 0.5 ? 0 : 0.8 * right / distance }
  }

  #sound(context: AudioContext, tone: Tone, out: AudioNode): void {
    const { wave, from, to, seconds, gain, delay = 0 } = tone
    const begins = context.currentTime + delay
    const envelope = context.createGain()
    envelope.gain.setValueAtTime(gain, begins)
    envelope.gain.exponentialRampToValueAtTime(0.001, begins + seconds)
    envelope.connect(out)
    const source =
      wave === 'noise'
        ? this.#noiseSource(context, from, to, begins, seconds, envelope)
        : oscillator(context, wave, from, to, begins, seconds, envelope)
    this.#voices++
    source.onended = () => { this.#voices-- }
    source.start(begins)
    source.stop(begins + seconds)
  }

  #noiseSource(
    context: AudioContext,
    from: number,
    to: number,
    begins: number,
    seconds: number,
    out: AudioNode,
  ): AudioBufferSourceNode {
    const source = context.createBufferSource()
    source.buffer = this.#noise ?? null
    source.loop = true
    const filter = context.createBiquadFilter()
    filter.type = 'lowpass'
    filter.frequency.setValueAtTime(from, begins)
    filter.frequency.exponentialRampToValueAtTime(to, begins + seconds)
    source.connect(filter).connect(out)
    return source
  }
}

function oscillator(
  context: AudioContext,
  wave: OscillatorType,
  from: number,
  to: number,
  begins: number,
  seconds: number,
  out: AudioNode,
): OscillatorNode {
  const source = context.createOscillator()
  source.type = wave
  source.frequency.setValueAtTime(from, begins)
  source.frequency.exponentialRampToValueAtTime(to, begins + seconds)
  source.connect(out)
  return source
}

function makeNoise(context: AudioContext): AudioBuffer {
  const buffer = context.createBuffer(1, context.sampleRate, context.sampleRate)
  const samples = buffer.getChannelData(0)
  for (let at = 0; at < samples.length; at++) samples[at] = Math.random() * 2 - 1
  return buffer
}
