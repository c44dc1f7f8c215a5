/**
 * Checks that need a socket of their own: refusals, strangers, and a client without HEARTBEAT.
 */

import { setTimeout as wait } from 'node:timers/promises'
import type { RtypePacket } from '../../core/rtype/packet-table.ts'
import { RTYPE, RTYPE_VERSION } from '../../core/rtype/values.ts'
import { Wire, type Target } from './wire.ts'

/** A check with its own socket. */
export interface AskingCheck {
  readonly id: string
  /** The heading of docs/wire/RTYPE.md. */
  readonly section: string
  /** The requirement. */
  readonly says: string
  /** Whether it waits for ten seconds or more. */
  readonly isSlow: boolean
  /** What was observed instead; undefined when the requirement is met. */
  run(target: Target, clientId: number): Promise<string | undefined>
}

const STEP_MS = 10
const CONNECT_MS = 500
const SILENCE_MS = 10_000
/** A server may notice silence this much later. */
const SILENCE_SLACK_MS = 1500

/** Waits for a packet of this type. */
async function arrives(wire: Wire, type: RtypePacket['type'], ms: number): Promise<RtypePacket | undefined> {
  for (const until = wire.now + ms; ; await wait(STEP_MS)) {
    for (const { read } of wire.arrivals) if (typeof read !== 'string' && read.packet.type === type) return read.packet
    if (wire.now >= until) return undefined
  }
}

/** Asks until there is an answer, and expects a refusal with this code. */
function refusal(id: string, says: string, name: string, version: number, code: number): AskingCheck {
  return {
    id, says, section: 'Values', isSlow: false,
    run: async (target, clientId) => await onWire(target, async (wire) => {
      for (const until = wire.now + target.answerMs; wire.now < until;) {
        wire.connect(name, clientId, version)
        const answer = await arrives(wire, 'SERVER_REJECT', CONNECT_MS)
        if (answer?.type !== 'SERVER_REJECT') continue
        if (answer.rejectCode !== code) return `reject code ${answer.rejectCode} (expected ${code})`
        return answer.reasonMessage === '' ? 'no reason for people' : undefined
      }
      return 'no SERVER_REJECT'
    }),
  }
}

async function onWire(target: Target, run: (wire: Wire) => Promise<string | undefined>): Promise<string | undefined> {
  const wire = await Wire.open(target)
  try {
    return await run(wire)
  } finally {
    wire.close()
  }
}

async function stayWithoutHeartbeat(wire: Wire, clientId: number): Promise<string | undefined> {
  wire.connect('Silent', clientId)
  const accepted = await arrives(wire, 'SERVER_ACCEPT', CONNECT_MS * 2)
  if (accepted?.type !== 'SERVER_ACCEPT') return 'no SERVER_ACCEPT'
  wire.accept()
  const playerId = accepted.assignedPlayerId
  wire.onArrival = ({ read }) => {
    if (typeof read === 'string' || (read.header.flags & 1) === 0) return
    wire.send({
      type: 'ACKNOWLEDGMENT', ackedSequence: read.header.sequence, receivedTimestamp: wire.timestamp, clientId,
    })
  }
  wire.send({ type: 'HEARTBEAT', playerId })
  const from = wire.now
  while (wire.now < from + SILENCE_MS + SILENCE_SLACK_MS) {
    wire.send({ type: 'PLAYER_INPUT', playerId, inputState: 0, aimX: 1000, aimY: 0 })
    const end = await arrives(wire, 'CLIENT_DISCONNECT', 100)
    if (end?.type !== 'CLIENT_DISCONNECT') continue
    const ms = Math.round(wire.now - from)
    if (ms < SILENCE_MS - SILENCE_SLACK_MS) return `removed after ${ms} ms`
    return end.reason === RTYPE.DISCONNECT.TIMEOUT ? undefined : `removed with reason ${end.reason} (expected 1)`
  }
  return 'not removed'
}

/** All checks with a socket of their own. */
export const ASKING_CHECKS: readonly AskingCheck[] = [
  refusal('reject-version', 'another protocol version is rejected with code 1 and a reason', 'Old', RTYPE_VERSION + 1,
    RTYPE.REJECT.INCOMPATIBLE_PROTOCOL_VERSION),
  refusal('reject-name', 'an empty name is rejected with code 2 and a reason', '', RTYPE_VERSION,
    RTYPE.REJECT.INVALID_PLAYER_NAME),
  {
    id: 'stranger', section: 'Connections', says: 'packets of a client that never connected are not answered',
    isSlow: false,
    run: async (target, clientId) => await onWire(target, async (wire) => {
      wire.send({ type: 'PING', clientTimestamp: 1, clientId })
      wire.send({ type: 'HEARTBEAT', playerId: clientId })
      wire.send({ type: 'CLIENT_DISCONNECT', clientId, reason: 0 })
      await wait(CONNECT_MS)
      return wire.arrivals.length === 0 ? undefined : `${wire.arrivals.length} answers`
    }),
  },
  {
    id: 'silence', section: 'Connections', says: 'a client without HEARTBEAT for 10 s is removed with TIMEOUT',
    isSlow: true,
    run: async (target, clientId) => await onWire(target, (wire) => stayWithoutHeartbeat(wire, clientId)),
  },
]
