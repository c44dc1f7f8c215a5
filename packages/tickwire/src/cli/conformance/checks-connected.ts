/**
 * Checks of an open connection: sequence numbers, acks, frames, keys. docs/wire/STANDARD.md, from "Payload and
 * keepalive" on.
 */

import { randomBytes } from 'node:crypto'
import { NotLetIn, type Check } from './check.ts'
import { pause, until } from './line.ts'
import { CONTROL, FULL_BYTES, HEAD_BYTES, TYPE } from './packets.ts'
import type { Session } from './session.ts'

const ACKS = 'STANDARD.md, Ack block'
const FRAMES = 'STANDARD.md, Frame'
const CONTROLS = 'STANDARD.md, Control frames, kind 15'
const SEAL = 'STANDARD.md, Seal'
/** How long to listen to a server. */
const LISTEN_MS = 2_500
/** The longest that it may be silent, and what a busy machine may add. */
const HEARTBEAT_MS = 1_000
const LATE_MS = 500
/** How far a packet may be behind the newest and still be distinguished from a replay. */
const WINDOW = 1_024
const TAG_BYTES = 16
/** A frame's header, in whole bytes. */
const FRAME_HEAD_BYTES = 3
const ACKS_BYTES_MAX = 13

const padding = (size: number): { kind: number; body: Buffer } => ({
  kind: CONTROL.kind,
  body: Buffer.alloc(size, 0).fill(CONTROL.padding, 0, 1),
})

const pathCheck = (nonce: Uint8Array): { kind: number; body: Buffer } => ({
  kind: CONTROL.kind,
  body: Buffer.concat([Buffer.of(CONTROL.pathCheck), nonce]),
})

const lives = async (session: Session): Promise<string | undefined> =>
  await session.isAlive() ? undefined : `the connection is over: ${session.goodbye ?? 'it answers no more'}`

const refuses = async (
  session: Session,
  what: string,
  frames: Parameters<Session['send']>[0],
  options: Parameters<Session['send']>[1],
): Promise<string | undefined> => ((await session.takes(frames, options)) ? `${what} was acknowledged` : lives(session))

export const CONNECTED_CHECKS: readonly Check[] = [
  {
    id: 'suite-2',
    section: SEAL,
    says: 'AES-256-GCM works like ChaCha20-Poly1305, if the server supports it',
    needsEntry: true,
    async run(lab) {
      await lab.enter()
      const session = await lab.enter([2, 1]).catch((error: unknown) => {
        if (error instanceof NotLetIn) return error.message
        throw error
      })
      return typeof session === 'string' ? session : session.faults[0] ?? lives(session)
    },
  },
  {
    id: 'packets-whole', section: 'STANDARD.md, Payload and keepalive, types 1 and 2', needsEntry: true,
    says: 'every packet of the server decrypts, is read to its last bit, and has its own sequence',
    async run(lab) {
      const line = await lab.line()
      // Not `enter`: a server whose packets cannot be read seems to be silent.
      const session = lab.open(line, await lab.accepted(line))
      await pause(LISTEN_MS)
      if (session.received.length + session.faults.length === 0) throw new NotLetIn('let in, and then never answered')
      const longest = Math.max(...session.received.map(({ datagram }) => datagram.length))
      if (longest > FULL_BYTES) return `a packet of ${longest} bytes before a padded one was acknowledged`
      return session.faults[0]
    },
  },
  {
    id: 'sequence',
    section: 'STANDARD.md, Header',
    says: 'the server numbers its packets 1, 2, 3 without gaps',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      await pause(LISTEN_MS)
      const numbers = session.received.map(({ sequence }) => sequence).toSorted((one, two) => one - two)
      const first = numbers[0] ?? 0
      const last = numbers.at(-1) ?? 0
      if (first > 3) return `the first received packet has sequence ${first}`
      // Some may be lost on the way; a server that skips numbers skips more than that.
      return numbers.length < (last - first + 1) * 0.8
        ? `of ${first} to ${last} only ${numbers.length} were received`
        : undefined
    },
  },
  {
    id: 'heartbeat',
    section: 'STATE-MACHINE.md, States',
    says: 'a server with nothing to send sends a keepalive every second',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      const from = performance.now()
      await pause(LISTEN_MS)
      const times = [from, ...session.received.map(({ at }) => at).filter((at) => at > from), performance.now()]
      const longest = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
      return longest > HEARTBEAT_MS + LATE_MS ? `silent for ${Math.round(longest)} ms` : undefined
    },
  },
  {
    id: 'acks', section: ACKS, says: 'received packets are acknowledged; missing ones are gaps', needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      const taken = session.send([padding(1)])
      const skipped = ++session.sequence
      await session.isAlive()
      await until(
        () => session.hasArrived(taken) !== undefined && session.hasArrived(skipped) !== undefined,
        lab.target.answerMs,
      )
      if (session.hasArrived(taken) !== true) return 'a sent packet is not acknowledged'
      return session.hasArrived(skipped) === false ? undefined : 'a packet that was never sent is acknowledged'
    },
  },
  {
    id: 'acks-late', section: ACKS, says: 'a late packet is acknowledged late', needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      const late = ++session.sequence
      await session.isAlive()
      return await session.takes([padding(1)], { sequence: late }) ? undefined : 'it is still a gap'
    },
  },
  {
    id: 'acks-delay', section: ACKS, says: 'the ack delay is at most the time the server had the packet',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      session.fallSilent()
      await pause(lab.target.answerMs)
      const from = performance.now()
      const sequence = session.send([padding(1)])
      const find = (): number | undefined =>
        session.received.find(({ acks, at }) => at > from && acks?.latest === (sequence & 0xffff))?.acks?.delayMs
      await until(() => find() !== undefined, lab.target.answerMs * 3)
      const delay = find()
      if (delay === undefined) return 'no packet acknowledges it as the latest'
      return delay > performance.now() - from
        ? `${Math.round(delay)} ms, which is longer than the world has known of it`
        : undefined
    },
  },
  {
    id: 'replay',
    section: 'STANDARD.md, Header',
    says: 'a repeated packet changes nothing, nor does one too old to be distinguished from a repetition',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      const [repeated, late] = [randomBytes(8), randomBytes(8)]
      const old = ++session.sequence
      let copy: Buffer = Buffer.alloc(0)
      session.send([pathCheck(repeated)], { damage: (bytes) => (copy = bytes) })
      const alive = await lives(session)
      if (alive !== undefined) return alive
      if (session.repliesTo(repeated) !== 1) return 'a path check does not get one reply'
      session.line.send(copy)
      const stillAlive = await lives(session)
      if (stillAlive !== undefined) return stillAlive
      if (session.repliesTo(repeated) > 1) return 'a copy took effect'
      session.sequence += WINDOW + 76
      const aliveLater = await lives(session)
      if (aliveLater !== undefined) return aliveLater
      session.send([pathCheck(late)], { sequence: old })
      return await lives(session) ?? (session.repliesTo(late) > 0 ? 'an old packet took effect' : undefined)
    },
  },
  {
    id: 'seal',
    section: SEAL,
    says: 'a packet with one wrong bit, in the header or after it, has no effect',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      for (const [what, at] of [
        ['its epoch', 13],
        ['its number', 14],
        ['its text', HEAD_BYTES + 2],
        ['its tag', -1],
      ] as const) {
        const damage = (bytes: Buffer): Buffer => {
          const index = at < 0 ? bytes.length + at : at
          bytes[index] = (bytes[index] ?? 0) ^ 0x20
          return bytes
        }
        const seen = await refuses(session, `a packet with ${what} changed`, [padding(1)], { damage })
        if (seen !== undefined) return seen
      }
      return undefined
    },
  },
  {
    id: 'frame-rules',
    section: FRAMES,
    says: 'bits after the last frame, unknown kinds, payloads without frames and keepalives with frames are refused',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      return (
        (await refuses(session, 'a packet with bits behind its frames', [padding(1)], { bits: '1' }))
        ?? (await refuses(session, 'a packet with a cut frame', [padding(1)], { bits: '1111000000000001000000' }))
        ?? (await refuses(session, 'a payload without frames', [], { type: TYPE.payload }))
        ?? (await refuses(session, 'a keepalive with frames', [padding(1)], { type: TYPE.keepalive }))
        ?? (await refuses(session, 'a packet with flags', [], {
          type: TYPE.payload,
          bits: '1111000100000000000001' + '00000100',
        }))
      )
    },
  },
  {
    id: 'path-check', section: CONTROLS, says: 'a path check is answered by a reply with its nonce', needsEntry: true,
    async run(lab) {
      const line = await lab.line()
      return lives(lab.open(line, await lab.accepted(line)))
    },
  },
  {
    id: 'padding', section: CONTROLS, says: 'a packet padded to 1200 bytes is acknowledged', needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      const room = FULL_BYTES - HEAD_BYTES - 1 - TAG_BYTES - ACKS_BYTES_MAX - FRAME_HEAD_BYTES
      return await session.takes([padding(room)]) ? undefined : 'it was not acknowledged'
    },
  },
  {
    id: 'control-broken',
    section: 'STANDARD.md, Reasons',
    says: 'an invalid control frame ends the connection with "broken"',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      session.fallSilent()
      session.send([{ kind: CONTROL.kind, body: Buffer.concat([Buffer.of(0x77), randomBytes(3)]) }])
      await until(() => session.goodbye !== undefined, lab.target.answerMs * 2)
      return session.goodbye === 'broken' ? undefined : `it says ${session.goodbye ?? 'nothing'}`
    },
  },
  {
    id: 'rekey',
    section: CONTROLS,
    says: 'an offered key is answered; both sides use it, sequences continue, and old keys open for a while',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      if (!await session.rekey()) return 'no answer to the offer'
      const alive = await lives(session)
      if (alive !== undefined) return `under the new keys ${alive}`
      if (!session.received.some(({ epoch }) => epoch === 1)) return 'the server never sealed with them'
      return (await session.takes([padding(1)], { epoch: 0 }))
        ? session.faults[0]
        : 'a packet of the old epoch is not taken'
    },
  },
]
