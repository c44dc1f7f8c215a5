import { describe, expect, test } from 'vitest'
import { RTYPE_SAMPLES } from '../../../../../test/reference/rtype-samples.ts'
import { decodeRtype, encodeRtype } from './codec.ts'
import { RTYPE_FAULTS, RTYPE_FLAG, rtypeCategory, type RtypeCategory } from './header.ts'
import type { RtypePacket, RtypePacketOf } from './packet-table.ts'
import { fromRotation, fromThousandths, RTYPE, toEffectScale, toRotation, toThousandths } from './values.ts'

const out = new Uint8Array(1200)

function bytesOf(packet: RtypePacket, options: Parameters<typeof encodeRtype>[4] = {}): Uint8Array {
  return out.slice(0, encodeRtype(packet, 1, 2, out, options))
}

function read(bytes: Uint8Array, options: Parameters<typeof decodeRtype>[2] = {}): RtypePacket | string {
  const message = decodeRtype(bytes, bytes.length, options)
  return typeof message === 'string' ? message : message.packet
}

const AI: RtypePacketOf<'AI_STATE'> = {
  type: 'AI_STATE', entityId: 9, currentState: 1, behaviorType: 7, targetEntityId: 10, waypointX: 1, waypointY: 2,
  remainingMs: 3,
}

describe('the header', () => {
  test('[RTYPE3] each type has one category: of overlapping ranges, the smaller one', () => {
    const ranges: readonly [number, number, RtypeCategory][] = [
      [0x01, 0x0f, 'connection'], [0x10, 0x1f, 'input'], [0x20, 0x23, 'entity'], [0x24, 0x2f, 'snapshot'],
      [0x30, 0x3f, 'world'], [0x40, 0x4f, 'event'], [0x50, 0x5f, 'effect'], [0x60, 0x63, 'control'],
      [0x64, 0x6f, 'rtype'], [0x70, 0x7f, 'protocol'],
    ]
    for (const [first, last, category] of ranges) {
      for (let code = first; code <= last; code++) expect(rtypeCategory(code)).toBe(category)
    }
    for (const code of [0, 0x80, 0xff, -1, Number.NaN]) expect(rtypeCategory(code)).toBeUndefined()
  })

  test('[RTYPE2] a fault has a name, and each name is counted by itself', () => {
    const heartbeat = bytesOf({ type: 'HEARTBEAT', playerId: 7 })
    const changed = (at: number, value: number): Uint8Array =>
      heartbeat.map((byte, index) => (index === at ? value : byte))
    expect(read(heartbeat.subarray(0, 11))).toBe('short')
    expect(read(changed(0, 0))).toBe('magic')
    expect(read(changed(2, 0x80))).toBe('range')
    expect(read(changed(2, 0x2f))).toBe('unassigned')
    expect(read(new Uint8Array(1201).fill(0).map((_, index) => heartbeat[index] ?? 0))).toBe('long')
    expect(read(changed(3, RTYPE_FLAG.ENCRYPTED))).toBe('encrypted')
    expect(new Set(RTYPE_FAULTS).size).toBe(RTYPE_FAULTS.length)
  })

  test('[RTYPE5] reserved bits are written as 0 and ignored when read', () => {
    const bytes = bytesOf({ type: 'HEARTBEAT', playerId: 7 }, { flags: 0xf0 })
    expect(bytes[3]).toBe(RTYPE_FLAG.PRIORITY)
    bytes[3] = 0xe0
    expect(decodeRtype(bytes, bytes.length)).toMatchObject({ header: { flags: 0 }, packet: { playerId: 7 } })
    const input = bytesOf({ type: 'PLAYER_INPUT', playerId: 7, inputState: 0xffff, aimX: 0, aimY: 0 })
    expect([input[16], input[17]]).toEqual([0, 0x7f])
    input[16] = 0xff
    expect(read(input)).toMatchObject({ inputState: 0x7f })
  })

  test('[RTYPE1] packets that the protocol marks are sent as reliable, and no others', () => {
    const marked = RTYPE_SAMPLES.filter((packet) => (bytesOf(packet)[3]! & RTYPE_FLAG.RELIABLE) !== 0)
    expect([...new Set(marked.map(({ type }) => type))]).toEqual([
      'CLIENT_DISCONNECT', 'ENTITY_SPAWN', 'ENTITY_DESTROY', 'COMPONENT_ADD', 'COMPONENT_REMOVE', 'ENTITY_FULL_STATE',
      'PLAYER_HIT', 'PLAYER_DEATH', 'POWERUP_PICKUP', 'GAME_START', 'GAME_END', 'LEVEL_COMPLETE', 'LEVEL_START',
    ])
  })
})

describe('sizes and options', () => {
  test('[RTYPE4] lenientSizes accepts two more bytes after the three packets whose stated sizes differ', () => {
    const longer = (packet: RtypePacket, more: number): Uint8Array =>
      Uint8Array.of(...bytesOf(packet), ...new Uint8Array(more))
    for (const packet of RTYPE_SAMPLES) {
      const isLoose = ['PLAYER_INPUT', 'AI_STATE', 'TRANSFORM_SNAPSHOT_DELTA'].includes(packet.type)
      expect(typeof read(longer(packet, 2)), packet.type).toBe('string')
      expect(typeof read(longer(packet, 2), { lenientSizes: true }), packet.type).toBe(isLoose ? 'object' : 'string')
    }
    expect(read(longer(AI, 2), { lenientSizes: true })).toEqual(AI)
  })

  test('[RTYPE4] forceComponentLegacy maps 0 front, 1 back, 2 detached in the Force component only', () => {
    const force = (attachmentPoint: number): RtypePacketOf<'COMPONENT_ADD'> => ({
      type: 'COMPONENT_ADD', entityId: 1,
      added: { component: 'FORCE', parentShipId: 10, attachmentPoint, forceLevel: 1, chargeState: 0 },
    })
    const legacy = { forceComponentLegacy: true }
    const points = [0, 1, 2, 3].map((point) => bytesOf(force(point), legacy)[22])
    expect(points).toEqual([2, 0, 1, 2])
    for (const point of [0, 1, 2]) expect(read(bytesOf(force(point), legacy), legacy)).toEqual(force(point))
    const orbiting = bytesOf(force(3))
    expect(read(orbiting)).toEqual(force(3))
    expect(read(orbiting, legacy)).toBe('value')
  })

  test('[RTYPE8] the sizes are those of the fields: 258, 178, 498 and 82 bytes', () => {
    const transforms = (count: number): RtypePacketOf<'TRANSFORM_SNAPSHOT'>['entities'] =>
      Array.from({ length: count }, (_, entityId) => ({
        entityId, value: { posX: 0, posY: 0, rotation: 0, scale: 1000 },
      }))
    const health = { currentHealth: 1, maxHealth: 1, currentShield: 0, maxShield: 0 }
    const healths = Array.from({ length: 20 }, (_, entityId) => ({ entityId, value: health }))
    expect(bytesOf({ type: 'TRANSFORM_SNAPSHOT', worldTick: 0, entities: transforms(20) })).toHaveLength(258)
    expect(bytesOf({ type: 'HEALTH_SNAPSHOT', worldTick: 0, entities: healths })).toHaveLength(178)
    const full = bytesOf({ type: 'TRANSFORM_SNAPSHOT', worldTick: 0, entities: transforms(40) }).length
    const changes = bytesOf({ type: 'TRANSFORM_SNAPSHOT_DELTA', worldTick: 1, baseTick: 0, entities: transforms(5) })
    const delta = changes.length
    expect([full, delta, Math.round((1 - delta / full) * 1000) / 10]).toEqual([498, 82, 83.5])
    expect(bytesOf({ type: 'TRANSFORM_SNAPSHOT', worldTick: 0, entities: transforms(98) })).toHaveLength(1194)
    expect(bytesOf({ type: 'TRANSFORM_SNAPSHOT', worldTick: 0, entities: transforms(99) })).toHaveLength(0)
  })
})

describe('values', () => {
  test('[RTYPE6] a number out of its bounds is written as the nearest bound', () => {
    const spawn = bytesOf({
      type: 'ENTITY_SPAWN', entityId: 2 ** 40, entityType: 99, posX: 1e9, posY: -1e9, mobVariant: -1,
      initialHealth: 300, velX: Number.NaN, velY: 1.6, isPlayable: true,
    })
    expect(read(spawn)).toEqual({
      type: 'ENTITY_SPAWN', entityId: 0xffff_ffff, entityType: 8, posX: 32_767, posY: -32_768, mobVariant: 0,
      initialHealth: 255, velX: -32_768, velY: 2, isPlayable: true,
    })
  })

  test('[RTYPE6] positions and velocities have a sign in every packet', () => {
    const destroy: RtypePacket = { type: 'ENTITY_DESTROY', entityId: 1, destroyReason: 0, posX: -1, posY: -32_768 }
    expect([...bytesOf(destroy).subarray(17)]).toEqual([0xff, 0xff, 0x80, 0])
    expect(read(bytesOf(destroy))).toEqual(destroy)
  })

  test('[RTYPE7] a text is UTF-8, cut to whole characters, and ends in a zero', () => {
    const connect = (playerName: string): RtypePacket => ({
      type: 'CLIENT_CONNECT', protocolVersion: 1, playerName, clientId: 3,
    })
    expect(read(bytesOf(connect('x'.repeat(40))))).toEqual(connect('x'.repeat(31)))
    expect(read(bytesOf(connect(`${'x'.repeat(29)}\u{1F680}`)))).toEqual(connect('x'.repeat(29)))
    expect(read(bytesOf(connect('Ada\0Eve')))).toEqual(connect('Ada'))
    // Bytes after the zero have no meaning.
    const garbage = bytesOf(connect('Ada'))
    garbage.fill(0xee, 17, 44)
    expect(read(garbage)).toEqual(connect('Ada'))
  })

  test('[RTYPE7] a name without its zero or not in UTF-8 is read as empty, so that a server can answer', () => {
    const bytes = bytesOf({ type: 'CLIENT_CONNECT', protocolVersion: 1, playerName: 'Ada', clientId: 3 })
    const full = bytes.map((byte, at) => (at >= 13 && at < 45 ? 0x41 : byte))
    expect(read(full)).toMatchObject({ playerName: '', clientId: 3 })
    expect(read(bytes.map((byte, at) => (at === 13 ? 0xc0 : byte)))).toMatchObject({ playerName: '' })
    // Other texts may fill their field, and must be UTF-8.
    const reject = bytesOf({ type: 'SERVER_REJECT', rejectCode: 0, reasonMessage: '' })
    expect(read(reject.map((byte, at) => (at >= 13 ? 0x41 : byte)))).toMatchObject({ reasonMessage: 'A'.repeat(64) })
    expect(read(reject.map((byte, at) => (at >= 13 ? 0xff : byte)))).toBe('text')
  })

  test('[RTYPE9] units: turns, thousandths, and the scales of transforms and of effects', () => {
    expect(toRotation(Math.PI)).toBe(32_768)
    expect(toRotation(2 * Math.PI)).toBe(0)
    expect(toRotation(-Math.PI / 2)).toBe(49_152)
    expect(fromRotation(16_384)).toBeCloseTo(Math.PI / 2)
    expect([toThousandths(-0.7071), fromThousandths(-707)]).toEqual([-707, -0.707])
    expect([toThousandths(1.5), toEffectScale(1.5)]).toEqual([1500, 150])
  })

  test('[RTYPE9] the enumerations have the values of the protocol', () => {
    expect(Object.values(RTYPE.REJECT)).toEqual([0, 1, 2, 3, 255])
    expect(Object.values(RTYPE.DISCONNECT)).toEqual([0, 1, 2, 3, 255])
    expect(Object.values(RTYPE.INPUT)).toEqual([1, 2, 4, 8, 16, 32, 64])
    expect(Object.values(RTYPE.ENTITY)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(Object.values(RTYPE.DESTROY)).toEqual([0, 1, 2, 3, 4])
    expect(Object.values(RTYPE.SCORE)).toEqual([0, 1, 2, 3, 4, 5])
    expect(Object.values(RTYPE.POWERUP)).toEqual([0, 1, 2, 3, 4, 5])
    expect(Object.entries(RTYPE.FORCE)).toEqual([['DETACHED', 0], ['FRONT', 1], ['BACK', 2], ['ORBITING', 3]])
    expect(Object.values(RTYPE.AI)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('[RTYPE10] a known component with another size is refused, others are passed on as bytes', () => {
    const add = (code: number, size: number): RtypePacket | string => {
      const bytes = bytesOf({
        type: 'COMPONENT_ADD', entityId: 1, added: { component: 'OPAQUE', code, bytes: new Uint8Array(size).fill(1) },
      })
      return read(bytes)
    }
    expect(add(0x01, 7)).toBe('size')
    expect(add(0x09, 8)).toBe('size')
    expect(add(0x01, 8)).toMatchObject({ added: { component: 'TRANSFORM', posX: 257 } })
    expect(add(0x0b, 4)).toMatchObject({ added: { component: 'SCORE', score: 0x0101_0101 } })
    expect(add(0x0b, 5)).toMatchObject({ added: { component: 'OPAQUE', code: 0x0b } })
    expect(add(0x40, 255)).toMatchObject({ added: { component: 'OPAQUE', code: 0x40 } })
  })
})
