/**
 * Checks of how a connection migrates and ends: docs/wire/STATE-MACHINE.md, "Being connected", and
 * docs/wire/STANDARD.md, "Disconnect".
 */

import { randomBytes } from 'node:crypto'
import type { Check, Lab } from './check.ts'
import { pause, until } from './line.ts'
import { CONTROL, HANDSHAKE, HEAD_BYTES, readHead, TYPE, writeHead } from './packets.ts'
import type { Session } from './session.ts'

const CONNECTED = 'STATE-MACHINE.md, Being connected'
const ENDING = 'STANDARD.md, Disconnect, type 3'
const RESET_BYTES = HEAD_BYTES + 17
/** Idle timeout of a connection, and a little more. After it a server has dropped the connection. */
const TIMEOUT_MS = 11_500
/** Bytes to send, so that the server may answer with a path check. */
const ROOM_BYTES = 100
/** How long a server still answers after a disconnect. */
const GRACE_MS = 500

/** The token of the reset that a server answers to a packet of a connection that it may not have. */
async function resetOf(lab: Lab, connection: Uint8Array, bytes: number): Promise<Buffer | undefined> {
  const line = await lab.line()
  const packet = Buffer.concat([
    writeHead(TYPE.keepalive, { connection, sequence: 5_000 }),
    randomBytes(bytes - HEAD_BYTES - 1),
  ])
  const answer = await line.ask(packet, (said) => said)
  const head = answer === undefined ? undefined : readHead(answer)
  if (
    answer === undefined
    || head?.type !== TYPE.handshake
    || answer[head.end] !== HANDSHAKE.reset
    || answer.length !== RESET_BYTES
  )
    return undefined
  return answer.subarray(head.end + 1)
}

/** Checks that the server has dropped a connection, and resets it with the token of its acceptance. Undefined if so. */
async function isForgotten(lab: Lab, session: Session): Promise<string | undefined> {
  const token = await resetOf(lab, session.accepted.connection, 60)
  if (token === undefined) return 'no reset'
  return token.equals(session.accepted.resetToken) ? undefined : 'a reset with another token than the acceptance had'
}

export const LEAVING_CHECKS: readonly Check[] = [
  {
    id: 'move', section: CONNECTED, needsEntry: true,
    says: 'a packet from a new address is answered there by a path check; other packets go there only after the reply',
    async run(lab) {
      const session = await lab.enter()
      session.fallSilent()
      const line = await lab.line()
      const from = session.received.length
      session.listen(line)
      // A server sends no more bytes to a new address than it received from there: a bare keepalive is too short.
      session.send([{ kind: CONTROL.kind, body: Buffer.of(CONTROL.padding, ...new Uint8Array(ROOM_BYTES)) }], { line })
      const check = (): Buffer | undefined => session.received.slice(from).flatMap(({ frames }) => frames)
        .find(({ kind, body }) => kind === CONTROL.kind && body[0] === CONTROL.pathCheck)?.body
      await until(() => check() !== undefined, lab.target.answerMs * 2)
      const nonce = check()
      if (nonce === undefined) return 'no path check at the new address'
      session.send([{ kind: CONTROL.kind, body: Buffer.concat([Buffer.of(CONTROL.pathReply), nonce.subarray(1)]) }], {
        line,
      })
      session.line = line
      if (!await session.isAlive()) return 'no packets arrive at the new address'
      return session.faults[0]
    },
  },
  {
    id: 'goodbye', section: ENDING, says: 'a disconnect is answered by a disconnect', needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      return await session.leave() === undefined ? 'no answer' : undefined
    },
  },
  {
    id: 'reset',
    section: CONNECTED,
    says: 'a packet of a closed connection is answered by a reset with the token of the acceptance',
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      await session.leave()
      await pause(GRACE_MS)
      return isForgotten(lab, session)
    },
  },
  {
    id: 'reset-small', section: CONNECTED, says: 'a packet that is not longer than a reset gets no answer',
    async run(lab) {
      const line = await lab.line()
      const packet = Buffer.concat([
        writeHead(TYPE.keepalive, { connection: randomBytes(8), sequence: 9 }),
        randomBytes(RESET_BYTES - HEAD_BYTES),
      ])
      const answers = await line.answersTo(packet.subarray(0, RESET_BYTES))
      return answers.length === 0 ? undefined : `an answer of ${answers[0]?.length ?? 0} bytes`
    },
  },
  {
    id: 'silence',
    section: 'STATE-MACHINE.md, States',
    says: 'a connection ends after 10 s of silence',
    isSlow: true,
    needsEntry: true,
    async run(lab) {
      const session = await lab.enter()
      session.fallSilent()
      await pause(TIMEOUT_MS)
      return isForgotten(lab, session)
    },
  },
]
