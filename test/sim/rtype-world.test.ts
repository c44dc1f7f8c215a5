import { expect, test } from 'vitest'
import { decodeRtype, encodeRtype } from '../../packages/tickwire/src/core/rtype/codec.ts'
import type { RtypePacket } from '../../packages/tickwire/src/core/rtype/packet-table.ts'
import { RTYPE } from '../../packages/tickwire/src/core/rtype/values.ts'
import type { RtypePeer } from '../../packages/tickwire/src/core/rtype-session/server-types.ts'
import { RtypeWorldStream, type RtypeEntity } from '../../packages/tickwire/src/core/rtype-session/world-stream.ts'

const ADA: RtypePeer = { playerId: 1, clientId: 1, name: 'Ada', address: 'a' }
const BO: RtypePeer = { playerId: 2, clientId: 2, name: 'Bo', address: 'b' }

/** An entity with a transform, a health and more components. */
function entity(id: number, posX: number, more: RtypeEntity['components'] = []): RtypeEntity {
  return {
    id, type: RTYPE.ENTITY.ENEMY, variant: 3, isPlayable: false,
    components: [
      { component: 'TRANSFORM', posX, posY: 9, rotation: 0, scale: 1000 },
      { component: 'HEALTH', currentHealth: 50, maxHealth: 100, currentShield: 0, maxShield: 0 },
      ...more,
    ],
  }
}

/** A stream to one client that runs at 60 Hz. */
class Stage {
  readonly stream: RtypeWorldStream
  entities: RtypeEntity[] = []
  sent: RtypePacket[] = []
  tick = 0

  constructor(options: ConstructorParameters<typeof RtypeWorldStream>[0] = {}) {
    this.stream = new RtypeWorldStream(options)
    this.stream.add(ADA)
  }

  run(ticks: number): RtypePacket[] {
    this.sent = []
    for (let step = 0; step < ticks; step++) {
      this.tick++
      this.stream.tick((this.tick * 1000) / 60, this.tick, this.entities, (_, packet) => this.sent.push(packet))
    }
    return this.sent
  }

  count(type: RtypePacket['type']): number {
    return this.sent.filter((packet) => packet.type === type).length
  }
}

const ALL: RtypeEntity['components'] = [
  { component: 'VELOCITY', velX: 1, velY: 2, accelerationX: 0, accelerationY: 0 },
  { component: 'WEAPON', weaponType: 1, ammoCount: 2, cooldownRemainingMs: 3, powerLevel: 4 },
  { component: 'AI', aiState: 1, behaviorType: 2, targetEntityId: 3, elapsedMs: 4 },
  { component: 'ANIMATION', animationId: 1, frame: 2, elapsedMs: 3, flags: 4 },
]

test('[RTWORLD1] each component has a stream of its own, at 60, 30, 20, 10, 5 and 15 Hz', () => {
  const stage = new Stage()
  stage.entities = [entity(1, 0, ALL)]
  stage.run(1)
  for (let second = 0; second < 3; second++) {
    let moved = 0
    const counts = { TRANSFORM_SNAPSHOT: 0, VELOCITY_SNAPSHOT: 0, HEALTH_SNAPSHOT: 0, WEAPON_SNAPSHOT: 0 }
    const more = { AI_SNAPSHOT: 0, ANIMATION_SNAPSHOT: 0, ...counts }
    for (let step = 0; step < 60; step++) {
      const current = 50 - (moved % 40)
      stage.entities = [entity(1, ++moved, ALL)]
      Object.assign(stage.entities[0]!.components[1]!, { currentHealth: current })
      stage.run(1)
      for (const name of Object.keys(more) as (keyof typeof more)[]) more[name] += stage.count(name)
    }
    expect(more).toEqual({
      TRANSFORM_SNAPSHOT: 60, VELOCITY_SNAPSHOT: 30, HEALTH_SNAPSHOT: 20, WEAPON_SNAPSHOT: 10, AI_SNAPSHOT: 5,
      ANIMATION_SNAPSHOT: 15,
    })
  }
  expect(() => new RtypeWorldStream({ rates: { TRANSFORM: 61 } })).toThrow('rates.TRANSFORM: out of range (expected 30')
  expect(() => new RtypeWorldStream({ rates: { AI: 1 } })).toThrow('expected 2 to 5 Hz, got 1')
})

test('[RTWORLD2] a delta is sent while more than 70 % did not change, and applied to its base it is the world', () => {
  const places = new Map<number, number>()
  let base: { tick: number; places: Map<number, number> } | undefined
  const stage = new Stage()
  const at = Array.from({ length: 40 }, () => 0)
  let [fulls, deltas] = [0, 0]
  for (let tick = 0; tick < 240; tick++) {
    const moving = tick < 120 ? 11 : 12
    for (let index = 0; index < moving; index++) at[index]! += 1
    stage.entities = at.map((x, index) => entity(index + 1, x))
    for (const packet of stage.run(1)) {
      if (packet.type === 'TRANSFORM_SNAPSHOT') {
        fulls++
        for (const { entityId, value } of packet.entities) places.set(entityId, value.posX)
        base = { tick: packet.worldTick, places: new Map(places) }
      } else if (packet.type === 'TRANSFORM_SNAPSHOT_DELTA') {
        deltas++
        expect(packet.baseTick).toBe(base!.tick)
        expect(packet.entities).toHaveLength(11)
        for (const [id, x] of base!.places) places.set(id, x)
        for (const { entityId, value } of packet.entities) places.set(entityId, value.posX)
      }
    }
    expect([...places.values()]).toEqual(at)
    // 12 of 40 is exactly 70 %: no delta.
    if (tick === 119) expect([fulls <= 3, deltas >= 117]).toEqual([true, true])
  }
  expect(fulls).toBeGreaterThan(118)
})

test('[RTWORLD2] when all values are those of the base again, one empty delta says so', () => {
  const stage = new Stage()
  stage.entities = Array.from({ length: 10 }, (_, id) => entity(id + 1, 0))
  stage.run(3)
  stage.entities[0] = entity(1, 5)
  expect(stage.run(1)).toMatchObject([{ type: 'TRANSFORM_SNAPSHOT_DELTA', entities: [{ entityId: 1 }] }])
  stage.entities[0] = entity(1, 0)
  const [empty, ...more] = stage.run(5)
  expect(empty).toMatchObject({ type: 'TRANSFORM_SNAPSHOT_DELTA', entities: [] })
  expect(more).toEqual([])
  const bytes = new Uint8Array(1200)
  expect(encodeRtype(empty!, 1, 0, bytes)).toBe(22)
  expect(decodeRtype(bytes, 22)).toMatchObject({ packet: empty })
})

test('[RTWORLD3] entities spawn, gain and lose components, and are destroyed with their reason and place', () => {
  const stage = new Stage()
  stage.entities = [entity(7, 5)]
  expect(stage.run(1)[0]).toEqual({
    type: 'ENTITY_SPAWN', entityId: 7, entityType: 2, mobVariant: 3, isPlayable: false, posX: 5, posY: 9, velX: 0,
    velY: 0, initialHealth: 50,
  })
  const power = { component: 'POWERUP', powerupType: 0, powerLevel: 1, remainingMs: 0 } as const
  stage.entities = [entity(7, 5, [power])]
  expect(stage.run(2).filter(({ type }) => type === 'COMPONENT_ADD')).toEqual([
    { type: 'COMPONENT_ADD', entityId: 7, added: power },
  ])
  stage.entities = [entity(7, 6)]
  expect(stage.run(2).filter(({ type }) => type === 'COMPONENT_REMOVE')).toEqual([
    { type: 'COMPONENT_REMOVE', entityId: 7, componentType: 0x0a },
  ])
  stage.entities = []
  stage.stream.noteDestroyed(7, RTYPE.DESTROY.KILLED_BY_PLAYER)
  expect(stage.run(2)).toEqual([{ type: 'ENTITY_DESTROY', entityId: 7, destroyReason: 0, posX: 6, posY: 9 }])
})

test('[RTWORLD4] a client that connects again, or requests it, gets the full state of every entity', () => {
  const stage = new Stage()
  stage.entities = [entity(7, 5, ALL), entity(8, 6)]
  stage.run(5)
  stage.stream.resync(ADA)
  const sent = stage.run(1)
  expect(stage.count('ENTITY_SPAWN')).toBe(0)
  expect(sent.slice(0, 2)).toEqual(stage.entities.map(({ id, type, components }) => (
    { type: 'ENTITY_FULL_STATE', entityId: id, entityType: type, components }
  )))
  expect(stage.count('TRANSFORM_SNAPSHOT')).toBe(1)
})

test('[RTWORLD5] a client is sent only what it can see, and an entity out of its sight is destroyed for it', () => {
  const sent: [RtypePeer, RtypePacket][] = []
  const stream = new RtypeWorldStream({ isVisible: (peer, { id }) => peer === ADA || id !== 8 })
  stream.add(ADA)
  stream.add(BO)
  const show = (entities: RtypeEntity[], tick: number): void =>
    stream.tick(tick, tick, entities, (peer, packet) => sent.push([peer, packet]))
  show([entity(7, 0), entity(8, 0)], 1)
  const about = (peer: RtypePeer): string => JSON.stringify(sent.filter(([to]) => to === peer))
  expect(about(ADA)).toContain('"entityId":8')
  expect(about(BO)).not.toContain('"entityId":8')
})

test('[RTWORLD6] more entities than fit are several packets with the same tick', () => {
  const stage = new Stage()
  stage.entities = Array.from({ length: 200 }, (_, id) => entity(id + 1, id))
  const lists = stage.run(1).filter((packet) => packet.type === 'TRANSFORM_SNAPSHOT')
  expect(lists.map((packet) => packet.entities.length)).toEqual([98, 98, 4])
  expect(new Set(lists.map(({ worldTick }) => worldTick)).size).toBe(1)
})
