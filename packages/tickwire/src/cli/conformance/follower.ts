/**
 * A client of a lockstep match that steps no game: it collects the log, reports the newest tick, and gives orders.
 */

import { pause, until } from './line.ts'
import type { Frame } from './packets.ts'
import type { Session } from './session.ts'
import { LOCKSTEP, readLog, readTicks, writeOrders, type GivenOrder, type Log, type TicksFrame } from './ticks.ts'

/** An order is sent again after these times. */
const AGAIN_MS = [10, 10]

export class Follower {
  readonly session: Session
  readonly player: number
  /** The log, from its beginning. */
  bytes: Buffer = Buffer.alloc(0)
  /** Frames of kind 12, in the sequence of their arrival. */
  readonly frames: TicksFrame[] = []
  /** Violations by the relay. */
  readonly faults: string[] = []
  /** The next packet with ticks is not used. */
  refusesNext = false
  #newest = 0
  #token: Buffer = Buffer.alloc(4)
  #orders = 0

  constructor(session: Session) {
    this.session = session
    this.player = session.accepted.welcome.length >= 4 ? session.accepted.welcome.readUInt32LE(0) : 0
    const early = session.received.filter(({ frames }) => frames.length > 0)
    session.onFrames = (frames) => this.#take(frames)
    session.onBeat = () => [this.#frame([])]
    // Packets that arrived before count as acknowledged. Their bytes are taken in the sequence of their offsets.
    const ticks = early.flatMap(({ frames }) => frames).filter(({ kind }) => kind === LOCKSTEP.ticks)
    for (const frame of ticks.toSorted((one, other) => offsetOf(one) - offsetOf(other))) this.#take([frame])
  }

  /** The log as ticks. */
  get log(): Log {
    return readLog(this.bytes)
  }

  /** The newest tick that a frame names. */
  get newest(): number {
    return this.#newest
  }

  /** Gives orders, each in a packet of its own that is sent three times. */
  async give(type: number, ...values: readonly Buffer[]): Promise<void> {
    const orders = values.map((each): GivenOrder => ({ number: ++this.#orders, type, values: each }))
    for (const wait of [0, ...AGAIN_MS]) {
      await pause(wait)
      for (const order of orders) this.session.send([this.#frame([order])])
    }
  }

  /** Gives two orders, and sends the second one `ms` before the first. */
  async giveLate(type: number, first: Buffer, second: Buffer, ms: number): Promise<void> {
    const [one, two] = [first, second].map((values): GivenOrder => ({ number: ++this.#orders, type, values }))
    if (one === undefined || two === undefined) return
    this.session.send([this.#frame([two])])
    await pause(ms)
    this.session.send([this.#frame([one, two])])
  }

  /** Waits until the log has `count` more ticks. Returns whether it has. */
  async grows(count: number, ms: number): Promise<boolean> {
    const from = this.#newest
    return await until(() => this.#newest >= from + count, ms)
  }

  #frame(orders: readonly GivenOrder[]): Frame {
    return writeOrders(this.#newest, this.#token, orders)
  }

  #take(frames: readonly Frame[]): boolean {
    for (const { body, kind } of frames) {
      if (kind !== LOCKSTEP.ticks) continue
      const frame = readTicks(body)
      if (typeof frame === 'string') {
        this.faults.push(`a frame of ticks: ${frame}`)
        continue
      }
      this.frames.push(frame)
      if (this.refusesNext || frame.offset > this.bytes.length) {
        this.refusesNext = false
        return false
      }
      const known = this.bytes.length - frame.offset
      const again = frame.bytes.subarray(0, known)
      if (!this.bytes.subarray(frame.offset, frame.offset + again.length).equals(again))
        this.faults.push(`other bytes at offset ${frame.offset} than before`)
      this.bytes = Buffer.concat([this.bytes, frame.bytes.subarray(known)])
      if (frame.last > this.#newest) {
        this.#newest = frame.last
        this.#token = frame.token
      }
    }
    return true
  }
}

function offsetOf({ body }: Frame): number {
  const frame = readTicks(body)
  return typeof frame === 'string' ? 0 : frame.offset
}
