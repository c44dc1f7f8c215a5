/**
 * Checks of a recorded visit: one sentence of docs/wire/RTYPE.md each, and whether the record agrees. They read only
 * the record, so a record with a planted fault tests them.
 */

import { RTYPE_FLAG } from '../../core/rtype/header.ts'
import { RTYPE_PACKETS, type RtypePacketName, type RtypePacketOf } from '../../core/rtype/packet-table.ts'
import { RTYPE } from '../../core/rtype/values.ts'
import { MARK, type VisitRecord } from './visit.ts'
import type { Arrival } from './wire.ts'

/** A check of a record. */
export interface RecordedCheck {
  readonly id: string
  /** The heading of docs/wire/RTYPE.md. */
  readonly section: string
  /** The requirement. */
  readonly says: string
  /** What was observed instead; undefined when the requirement is met. */
  judge(record: VisitRecord): string | undefined
}

/** Timers and networks are this inexact. */
const SLACK_MS = 400
const REPEAT_MS_MIN = 100
const REPEAT_MS_MAX = 500
/** Timers of a busy server fire this much late. */
const LATE_MS = 150
/** Snapshots a second of each component, at most. */
const RATES = [
  ['TRANSFORM', 60], ['VELOCITY', 30], ['HEALTH', 20], ['WEAPON', 60], ['AI', 5], ['ANIMATION', 20],
] as const
/** The measured rate may be this much higher, because ticks bunch on a busy machine. */
const RATE_SLACK = 1.15

type Read = Exclude<Arrival['read'], string>

/** The packets that could be read, with their times. */
function readable({ arrivals }: VisitRecord): (Read & { readonly at: number; readonly bytes: Uint8Array })[] {
  return arrivals.flatMap(({ at, bytes, read }) => typeof read === 'string' ? [] : [{ at, bytes, ...read }])
}

function packets<Name extends RtypePacketName>(record: VisitRecord, name: Name): RtypePacketOf<Name>[] {
  // reason: the filter leaves packets of this name, which the type of `filter` cannot express for a union.
  return readable(record).filter(({ packet }) => packet.type === name).map((each) => each.packet as never)
}

const pongs = (record: VisitRecord, mark: number): number =>
  packets(record, 'PONG').filter(({ clientTimestamp }) => clientTimestamp === mark).length

/** A PING with this mark must have this many answers. */
function answered(id: string, section: string, says: string, mark: number, expected: number): RecordedCheck {
  return {
    id, section, says,
    judge: (record) => {
      const count = pongs(record, mark)
      return count === expected ? undefined : `${count} PONG (expected ${expected})`
    },
  }
}

const hexByte = (value: number): string => `0x${value.toString(16).padStart(2, '0')}`

/** Checks of the header and of sizes. */
const PACKET_CHECKS: readonly RecordedCheck[] = [
  {
    id: 'magic', section: 'The packet', says: 'every datagram of the server begins with RT',
    judge: ({ arrivals }) => {
      const wrong = arrivals.find(({ bytes }) => bytes[0] !== 0x52 || bytes[1] !== 0x54)
      return wrong && `a datagram begins with ${hexByte(wrong.bytes[0] ?? 0)} ${hexByte(wrong.bytes[1] ?? 0)}`
    },
  },
  {
    id: 'sizes', section: 'Packets', says: 'every packet has the size of its fields, and values within their bounds',
    judge: ({ arrivals }) => {
      const wrong = arrivals.filter(({ read }) => typeof read === 'string' && read !== 'magic')
      const [first] = wrong
      if (first === undefined) return undefined
      return `${wrong.length} cannot be read; the first is type ${hexByte(first.bytes[2] ?? 0)} with `
        + `${first.bytes.length} bytes (${String(first.read)})`
    },
  },
  {
    id: 'direction', section: 'Packets', says: 'the server sends only packets that servers send',
    judge: (record) => {
      const wrong = readable(record).find(({ packet }) => RTYPE_PACKETS[packet.type].from === 'client')
      return wrong && `the server sent ${wrong.packet.type}`
    },
  },
  {
    id: 'flags', section: 'Flags', says: 'reserved flags are 0, and no payload is compressed, encrypted or fragmented',
    judge: ({ arrivals }) => {
      const wrong = arrivals.find(({ bytes }) => ((bytes[3] ?? 0) & ~(RTYPE_FLAG.RELIABLE | RTYPE_FLAG.PRIORITY)) !== 0)
      return wrong && `flags ${hexByte(wrong.bytes[3] ?? 0)} on type ${hexByte(wrong.bytes[2] ?? 0)}`
    },
  },
  {
    id: 'reliable-flag', section: 'Packets', says: 'packets that the table calls reliable have RELIABLE, no others do',
    judge: (record) => {
      const isWrong = ({ packet, header }: Read): boolean =>
        RTYPE_PACKETS[packet.type].isReliable !== ((header.flags & RTYPE_FLAG.RELIABLE) !== 0)
      const wrong = readable(record).find(isWrong)
      return wrong && `${wrong.packet.type} with flags ${hexByte(wrong.header.flags)}`
    },
  },
  { id: 'sequence', section: 'The packet', says: 'the sequence grows by one with each packet', judge: judgeSequences },
  { id: 'timestamp', section: 'The packet', says: 'timestamps count ms since the accept', judge: judgeTimestamps },
]

function judgeSequences(record: VisitRecord): string | undefined {
  const seen = new Map<number, string>()
  let [newest, reordered] = [0, 0]
  for (const { header, bytes, packet } of readable(record)) {
    // Answers to strangers have no connection, and so no sequence of it.
    if (packet.type === 'SERVER_ACCEPT' || packet.type === 'SERVER_REJECT') continue
    const text = Buffer.from(bytes).toString('hex')
    const before = seen.get(header.sequence)
    if (before !== undefined && before !== text) return `two different packets have the sequence ${header.sequence}`
    if (before === undefined && header.sequence < newest) reordered++
    seen.set(header.sequence, text)
    newest = Math.max(newest, header.sequence)
  }
  const first = Math.min(...seen.keys())
  const missing = newest - first + 1 - seen.size
  if (seen.size > 0 && missing > seen.size) return `${missing} of ${newest - first + 1} sequences never arrived`
  if (reordered <= seen.size / 2) return undefined
  return `${reordered} of ${seen.size} packets have a lower sequence than before`
}

function judgeTimestamps(record: VisitRecord): string | undefined {
  for (const { at, header, packet } of readable(record)) {
    const isBefore = packet.type === 'SERVER_ACCEPT' || packet.type === 'SERVER_REJECT'
    if (isBefore && header.timestamp !== 0) return `${packet.type} has timestamp ${header.timestamp} (expected 0)`
    // A repeated packet has the timestamp of its first sending.
    if (isBefore || (header.flags & RTYPE_FLAG.RELIABLE) !== 0) continue
    const [late, early] = [at - record.acceptedAt + SLACK_MS, at - record.provenAt - SLACK_MS]
    if (header.timestamp > late || header.timestamp < early) {
      const age = Math.round(at - record.acceptedAt)
      return `${packet.type} has timestamp ${header.timestamp}, ${age} ms after the accept`
    }
  }
  return undefined
}

/** Checks of the handshake, the heartbeat and the end. */
const CONNECTION_CHECKS: readonly RecordedCheck[] = [
  {
    id: 'accept', section: 'Connections', says: 'SERVER_ACCEPT has a player id, 1 to 4 seats and a tick rate',
    judge: ({ accepted }) => {
      const isValid = accepted !== undefined && accepted.assignedPlayerId !== 0 && accepted.maxPlayers > 0
        && accepted.serverTickrate > 0
      return isValid ? undefined : JSON.stringify(accepted)
    },
  },
  {
    id: 'accept-again', section: 'Connections', says: 'a repeated CLIENT_CONNECT gets the same SERVER_ACCEPT',
    judge: (record) => {
      const ids = packets(record, 'SERVER_ACCEPT').map(({ assignedPlayerId }) => assignedPlayerId)
      if (ids.length < 2) return 'no second SERVER_ACCEPT'
      return new Set(ids).size === 1 ? undefined : `player ids ${[...new Set(ids)].join(' and ')}`
    },
  },
  {
    id: 'unproven', section: 'Connections', says: 'before a HEARTBEAT or input the server sends only SERVER_ACCEPT',
    judge: (record) => {
      const early = readable(record).find(({ at, packet }) => at < record.provenAt && packet.type !== 'SERVER_ACCEPT')
      return early && `${early.packet.type} arrived before the first HEARTBEAT`
    },
  },
  answered('identity', 'Connections', 'a PING with another client id is ignored', MARK.stranger, 0),
  answered('ignore-magic', 'The packet', 'a packet with another magic is ignored', MARK.magic, 0),
  answered('ignore-long', 'Packets', 'a packet with one more byte is ignored', MARK.long, 0),
  answered('ignore-short', 'Packets', 'a packet with one byte less is ignored', MARK.short, 0),
  answered('ignore-type', 'The packet', 'after packets of unknown types the connection goes on', MARK.alive, 1),
  answered('reserved-flags', 'Flags', 'reserved flags of a client are ignored', MARK.reserved, 1),
  answered('copies', 'Connections', 'a copy of a packet has no effect', MARK.copied, 1),
  {
    id: 'ping', section: 'Packets', says: 'each PING gets a PONG with its timestamp and the time of the server',
    judge: (record) => {
      const own = packets(record, 'PONG').filter(({ clientTimestamp }) => clientTimestamp < MARK.magic)
      return own.length > 1 ? undefined : `${own.length} PONG`
    },
  },
  {
    id: 'disconnect-flag', section: 'Packets', says: 'CLIENT_DISCONNECT without RELIABLE is ignored',
    judge: (record) => pongs(record, MARK.alive) > 0 ? undefined : 'no answer to a PING after it',
  },
  {
    id: 'disconnect', section: 'Connections', says: 'CLIENT_DISCONNECT is acknowledged, and then the stream ends',
    judge: (record) => {
      const { sequence, at } = record.goodbye
      const acks = packets(record, 'ACKNOWLEDGMENT').filter(({ ackedSequence }) => ackedSequence === sequence)
      if (acks.length === 0) return 'no ACKNOWLEDGMENT'
      const after = readable(record).find((each) => each.at > at + SLACK_MS && each.packet.type.includes('SNAPSHOT'))
      return after && `${after.packet.type} arrived ${Math.round(after.at - at)} ms later`
    },
  },
]

/** Checks of reliable packets. */
const RELIABLE_CHECKS: readonly RecordedCheck[] = [
  {
    id: 'ack', section: 'Connections', says: 'each arrival of a RELIABLE packet is acknowledged, copies too',
    judge: (record) => {
      const own = packets(record, 'ACKNOWLEDGMENT').filter((each) => each.ackedSequence === record.reliableSequence)
      if (own.length !== 2) return `${own.length} ACKNOWLEDGMENT for two arrivals`
      const other = own.find(({ clientId }) => clientId !== record.clientId)
      return other && `ACKNOWLEDGMENT with client id ${other.clientId} (expected ${record.clientId})`
    },
  },
  {
    id: 'repeat', section: 'Connections', says: 'a RELIABLE packet without acknowledgement is sent again in 100-500 ms',
    judge: (record) => {
      if (record.held === undefined) return 'no RELIABLE packet arrived'
      const times = heldArrivals(record).map(({ at }) => at)
      if (times.length < 3) return `it arrived ${times.length} times, unacknowledged`
      const gaps = times.slice(1, 3).map((at, index) => Math.round(at - (times[index] ?? at)))
      const isRight = gaps.every((gap) => gap >= REPEAT_MS_MIN - 20 && gap <= REPEAT_MS_MAX + LATE_MS)
      return isRight ? undefined : `it was repeated after ${gaps.join(' and ')} ms`
    },
  },
  {
    id: 'repeat-same', section: 'The packet', says: 'a repeated packet has the same bytes and sequence',
    judge: (record) => {
      const texts = new Set(heldArrivals(record).map(({ bytes }) => Buffer.from(bytes).toString('hex')))
      return texts.size === 1 ? undefined : `${texts.size} different packets`
    },
  },
  {
    id: 'repeat-end', section: 'Connections', says: 'after the acknowledgement it is not sent again',
    judge: (record) => {
      const from = (record.held?.ackedAt ?? Infinity) + SLACK_MS
      const late = heldArrivals(record).filter(({ at }) => at > from).length
      return late === 0 ? undefined : `it arrived ${late} times more`
    },
  },
]

function heldArrivals(record: VisitRecord): { readonly at: number; readonly bytes: Uint8Array }[] {
  return readable(record).filter(({ header, packet }) =>
    header.sequence === record.held?.sequence && packet.type !== 'SERVER_ACCEPT' && packet.type !== 'SERVER_REJECT')
}

/** Checks of the state of the world. */
const WORLD_CHECKS: readonly RecordedCheck[] = [
  {
    id: 'spawned', section: 'Packets', says: 'every entity of a snapshot was spawned, or had its full state',
    judge: (record) => {
      const known = new Set<number>()
      for (const { packet } of readable(record)) {
        if (packet.type === 'ENTITY_SPAWN' || packet.type === 'ENTITY_FULL_STATE') known.add(packet.entityId)
      }
      for (const { packet, at } of readable(record)) {
        // The spawn of an entity may be under way again when the visit ends.
        if (!('entities' in packet) || at > record.goodbye.at - SLACK_MS) continue
        const lost = packet.entities.find(({ entityId }) => !known.has(entityId))
        if (lost !== undefined) return `entity ${lost.entityId} in ${packet.type}`
      }
      return undefined
    },
  },
  {
    id: 'rates', section: 'Packets', says: 'snapshots come at most at the rates of the protocol',
    judge: (record) => {
      const seconds = (record.goodbye.at - record.provenAt) / 1000
      for (const [name, max] of RATES) {
        const ticks = new Set(readable(record).flatMap(({ packet }) =>
          packet.type.startsWith(`${name}_SNAPSHOT`) && 'worldTick' in packet ? [packet.worldTick] : []))
        const rate = ticks.size / seconds
        if (rate > max * RATE_SLACK + 1) return `${name}: ${rate.toFixed(1)} a second (at most ${max})`
      }
      return undefined
    },
  },
  {
    id: 'delta-base', section: 'Packets', says: 'a delta names the tick of a full snapshot as its base',
    judge: (record) => {
      for (const name of ['TRANSFORM', 'HEALTH'] as const) {
        const fulls = new Set(packets(record, `${name}_SNAPSHOT`).map(({ worldTick }) => worldTick))
        const deltas = packets(record, `${name}_SNAPSHOT_DELTA`)
        const lost = deltas.filter(({ baseTick }) => !fulls.has(baseTick))
        // A lost full snapshot leaves at most one second of deltas without a base.
        if (lost.length > deltas.length / 2) return `${lost.length} of ${deltas.length} deltas of ${name} have no base`
      }
      return undefined
    },
  },
  {
    id: 'input', section: 'Packets', says: 'PLAYER_INPUT moves the ship of the client',
    judge: (record) => {
      const playable = packets(record, 'ENTITY_SPAWN').filter(({ isPlayable }) => isPlayable)
      const own = playable.find(({ entityId }) => entityId === record.accepted?.assignedPlayerId) ?? playable[0]
      if (own === undefined) return 'no playable entity was spawned'
      const places = new Set<number>()
      for (const { packet } of readable(record)) {
        if (packet.type !== 'TRANSFORM_SNAPSHOT' && packet.type !== 'TRANSFORM_SNAPSHOT_DELTA') continue
        for (const { entityId, value } of packet.entities) if (entityId === own.entityId) places.add(value.posY)
      }
      return places.size > 3 ? undefined : `entity ${own.entityId} was at ${places.size} heights while it was steered`
    },
  },
  {
    id: 'player', section: 'Values', says: 'a playable entity is of the type player',
    judge: (record) => {
      const { PLAYER } = RTYPE.ENTITY
      const wrong = packets(record, 'ENTITY_SPAWN').find((each) => each.isPlayable !== (each.entityType === PLAYER))
      return wrong && `entity ${wrong.entityId} of type ${wrong.entityType} has is_playable ${Number(wrong.isPlayable)}`
    },
  },
]

/** All checks of a record. */
export const RECORDED_CHECKS: readonly RecordedCheck[] = [
  ...PACKET_CHECKS, ...CONNECTION_CHECKS, ...RELIABLE_CHECKS, ...WORLD_CHECKS,
]
