/** Sounds and music made of oscillators and noise: no files. */

const VOLUME = 0.32
/** Notes are scheduled this many seconds ahead. */
const AHEAD = 0.25
/** The lowest note of each level, in hertz. */
const ROOTS = [110, 98, 123.5]
/** In half tones: minor, and its way back. */
const CHORDS = [[0, 3, 7, 10], [-4, 0, 3, 7], [-7, -4, 0, 3], [-2, 2, 5, 10]]

export class Sounds {
  #isMuted = false
  #context: AudioContext | undefined
  #out: GainNode | undefined
  #noise: AudioBuffer | undefined
  #shotAt = 0
  #beatAt = 0
  #beat = 0

  /** Browsers allow sound only after the player has done something. */
  unlock(): void {
    if (this.#context !== undefined) return void this.#context.resume()
    const context = new AudioContext()
    const limiter = context.createDynamicsCompressor()
    this.#out = context.createGain()
    this.#out.gain.value = this.#isMuted ? 0 : VOLUME
    this.#out.connect(limiter).connect(context.destination)
    this.#noise = context.createBuffer(1, context.sampleRate, context.sampleRate)
    const samples = this.#noise.getChannelData(0)
    let word = 1
    for (let index = 0; index < samples.length; index++) {
      word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0
      samples[index] = word / 2 ** 31
    }
    this.#context = context
  }

  get isMuted(): boolean {
    return this.#isMuted
  }

  set isMuted(isMuted: boolean) {
    this.#isMuted = isMuted
    if (this.#out !== undefined) this.#out.gain.value = isMuted ? 0 : VOLUME
  }

  /** Keeps the music going. Call it with every picture. */
  play(level: number, hasBoss: boolean): void {
    const now = this.#context?.currentTime
    if (now === undefined) return
    // After a pause the music does not catch up.
    if (this.#beatAt < now) this.#beatAt = now + 0.05
    for (; this.#beatAt < now + AHEAD; this.#beatAt += hasBoss ? 0.14 : 0.18) this.#playBeat(level, hasBoss, now)
  }

  #playBeat(level: number, hasBoss: boolean, now: number): void {
    const beat = this.#beat++
    const delay = this.#beatAt - now
    const root = ROOTS[(level - 1) % ROOTS.length]! * (hasBoss ? 0.89 : 1)
    const chord = CHORDS[Math.floor(beat / 16) % CHORDS.length]!
    const note = (steps: number): number => root * 2 ** (steps / 12)
    if (beat % 2 === 0) this.#tone('sawtooth', note(chord[0]!) / 2, note(chord[0]!) / 2, 0.22, 0.11, delay)
    const high = note(chord[(beat * 5) % chord.length]! + (beat % 8 > 4 ? 24 : 12))
    this.#tone('triangle', high, high, 0.16, hasBoss ? 0.13 : 0.09, delay)
    if (beat % 4 === 2 || hasBoss) this.#tone('square', 5200, 4000, 0.02, 0.018, delay)
  }

  shot(kind: number): void {
    const now = this.#context?.currentTime ?? 0
    if (now - this.#shotAt < 0.05) return
    this.#shotAt = now
    if (kind === 1) this.#tone('sawtooth', 1400, 120, 0.35, 0.5)
    else this.#tone('square', 900, 320, 0.07, 0.1)
  }

  boom(size: number): void {
    this.#hiss(Math.min(1.4, 0.2 + size / 120), 900 - Math.min(700, size * 4), Math.min(1, 0.35 + size / 160))
    if (size > 100) this.#tone('sine', 120, 28, 1.4, 1)
  }

  hurt(): void { this.#tone('sawtooth', 220, 60, 0.25, 0.5) }
  pick(): void { for (let note = 0; note < 3; note++) this.#tone('triangle', 520 * 1.26 ** note, 540 * 1.26 ** note,
    0.14, 0.4, note * 0.07) }
  level(): void { for (let note = 0; note < 4; note++) this.#tone('triangle', [262, 330, 392, 523][note]!, [262, 330,
    392, 523][note]!, 0.3, 0.4, note * 0.13) }

  #tone(type: OscillatorType, from: number, to: number, seconds: number, volume: number, delay: number = 0): void {
    const [context, out] = [this.#context, this.#out]
    if (context === undefined || out === undefined || this.#isMuted) return
    const at = context.currentTime + delay
    const [oscillator, gain] = [context.createOscillator(), context.createGain()]
    oscillator.type = type
    oscillator.frequency.setValueAtTime(from, at)
    oscillator.frequency.exponentialRampToValueAtTime(Math.max(20, to), at + seconds)
    gain.gain.setValueAtTime(volume, at)
    gain.gain.exponentialRampToValueAtTime(0.001, at + seconds)
    oscillator.connect(gain).connect(out)
    oscillator.start(at)
    oscillator.stop(at + seconds)
  }

  #hiss(seconds: number, frequency: number, volume: number): void {
    const [context, out, noise] = [this.#context, this.#out, this.#noise]
    if (context === undefined || out === undefined || noise === undefined || this.#isMuted) return
    const [source, filter, gain] = [context.createBufferSource(), context.createBiquadFilter(), context.createGain()]
    source.buffer = noise
    filter.type = 'lowpass'
    filter.frequency.setValueAtTime(frequency, context.currentTime)
    filter.frequency.exponentialRampToValueAtTime(60, context.currentTime + seconds)
    gain.gain.setValueAtTime(volume, context.currentTime)
    gain.gain.exponentialRampToValueAtTime(0.001, context.currentTime + seconds)
    source.connect(filter).connect(gain).connect(out)
    source.start()
    source.stop(context.currentTime + seconds)
  }
}
