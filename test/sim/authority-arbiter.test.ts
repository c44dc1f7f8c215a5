/**
 * The arbiter alone, with writers whose packets arrive when the test says: which rows are accepted, and which are
 * refused.
 */

import { describe, expect, test } from 'vitest'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { AcceptedWrites } from '../../packages/tickwire/src/core/replication/authority/accepted-writes.ts'
import { ClaimBook } from '../../packages/tickwire/src/core/replication/authority/claim-book.ts'
import { WrittenRows } from '../../packages/tickwire/src/core/replication/authority/written-rows.ts'
import { AllRelevant } from '../../packages/tickwire/src/core/replication/interest/all-relevant.ts'
import { Replicator } from '../../packages/tickwire/src/core/replication/replicator.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { SnapshotSource } from '../../packages/tickwire/src/core/replication/snapshot-source.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { text, u16, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'

const Ball = entity({ x: u16, note: u8.server(), tag: text(12) }, { name: 'Ball', authority: 'shared' })
const Crate = entity({ x: u16 }, { name: 'Crate' })
const ENTITIES = [Ball, Crate]
const WINDOW = 32
const [A, B] = [11, 12]

/** A server without a network: `tick` does what a match does around `step`. */
class Arbiter {
  readonly world = new World(ENTITIES)
  readonly book = new ClaimBook(this.world)
  readonly writes = new AcceptedWrites(this.world, this.book)
  readonly timeline = new Timeline(this.world, WINDOW)
  readonly replicator = new Replicator(this.world, this.timeline, { claims: this.book })
  readonly accepted: string[] = []

  constructor() {
    for (const peer of [A, B])
      this.writes.add(new WrittenRows(peer, this.world, this.book, { windowTicks: WINDOW, aheadTicks: 64 }))
    this.world.stores[0]!.isElsewhere = (owner) => this.writes.of(owner) !== undefined
    this.writes.onAccepted = (_id, tick, peer) => this.accepted.push(`${peer}@${tick}`)
  }

  tick(step: (world: World) => void = () => {}): void {
    this.world.beginTick()
    this.writes.apply()
    step(this.world)
    this.world.endTick()
    this.book.update()
    this.timeline.sample()
  }

  to(tick: number): void {
    while (this.world.tick < tick) this.tick()
  }
}

/** A client that writes objects. The test decides when it sends: each packet is a frame with the whole row. */
class Writer {
  readonly world = new World(ENTITIES, { isReadOnly: true })
  token = 0
  readonly #peer: number

  constructor(peer: number) {
    this.#peer = peer
  }

  /** A frame for a tick in which an object has the given value. */
  frame(
    tick: number,
    id: number,
    x: number,
    {
      type = 0,
      owner = this.#peer,
      tag = '',
    }: { readonly type?: number; readonly owner?: number; readonly tag?: string } = {},
  ): Uint8Array {
    const world = new World(ENTITIES, { isReadOnly: true })
    const timeline = new Timeline(world, WINDOW)
    const source = new SnapshotSource(
      new Replicator(world, timeline, { claims: { authorityTickAt: () => this.token } }),
      new AllRelevant(world, this.#peer),
      this.#peer,
    )
    const handle = world.seat(type, id, owner)
    handle.$cells[0] = x
    const [leaf] = handle.$store.schema.heapLeaves
    if (leaf !== undefined) handle.$cells[leaf.cell] = world.heap.put(leaf, tag)
    world.tick = tick
    world.sample()
    timeline.sample()
    source.begin()
    const bytes = new Uint8Array(200)
    const out = new BitWriter(bytes)
    expect(source.fill(0, 1, out)).toBe(true)
    return bytes.slice(0, out.finish())
  }
}

const send = (arbiter: Arbiter, peer: number, bytes: Uint8Array): string =>
  arbiter.writes.of(peer)!.accept(0, 0, new BitReader(bytes))

function ballAt(arbiter: Arbiter): {
  readonly id: number
  readonly x: number
  readonly note: number
  readonly owner: number
} {
  return [...arbiter.world.seen(Ball)][0] as never
}

/** A ball that A writes from tick 11 on, and B from tick 21 on; the server is at `tick`. */
function transferred(tick: number): {
  readonly arbiter: Arbiter
  readonly a: Writer
  readonly b: Writer
  readonly id: number
} {
  const arbiter = new Arbiter()
  const [a, b] = [new Writer(A), new Writer(B)]
  arbiter.to(9)
  arbiter.tick((world) => world.spawn(Ball, { x: 1, note: 7 }, A))
  const { id } = ballAt(arbiter)
  arbiter.to(19)
  arbiter.tick((world) => world.setOwner({ id }, B))
  arbiter.to(tick)
  a.token = 11
  b.token = 21
  return { arbiter, a, b, id }
}

describe('one writer per tick', () => {
  test("[AUTH14] S11: one writer's new texts are bounded per window, so that others keep heap space", () => {
    const { arbiter, a, b, id } = transferred(22)
    const verdicts = Array.from({ length: 600 }, (_, at) =>
      send(arbiter, A, a.frame(20 + at, id, 200, { tag: `t${at}` })),
    )
    expect(verdicts.filter((verdict) => verdict === 'ok').length).toBe(512)
    expect([arbiter.world.heap.addedCount, arbiter.writes.of(A)!.refusals.values]).toEqual([512, 88])
    expect(send(arbiter, B, b.frame(22, id, 300, { tag: 'mine' }))).toBe('ok')
    arbiter.to(22 + WINDOW + 1)
    expect(send(arbiter, A, a.frame(700, id, 200, { tag: 'again' }))).toBe('ok')
  })

  test('[AUTH3] after a transfer the old owner may write the ticks before it, and none after it', () => {
    const { arbiter, a, b, id } = transferred(22)
    expect([19, 20, 21].map((tick) => arbiter.book.writerAt(id, tick))).toEqual([A, A, B])
    send(arbiter, A, a.frame(20, id, 200))
    arbiter.tick()
    expect([ballAt(arbiter).x, arbiter.accepted]).toEqual([200, [`${A}@20`]])
    send(arbiter, A, a.frame(22, id, 222))
    arbiter.tick()
    expect([ballAt(arbiter).x, arbiter.accepted]).toEqual([200, [`${A}@20`]])
    expect(arbiter.writes.of(A)!.refusals).toEqual({ forged: 0, late: 1, ahead: 0, values: 0 })
    send(arbiter, B, b.frame(23, id, 323))
    arbiter.tick()
    expect([ballAt(arbiter).x, arbiter.accepted.at(-1)]).toEqual([323, `${B}@23`])
    // Packets that were sent before the transfer and arrive now have no effect.
    send(arbiter, A, a.frame(19, id, 199))
    arbiter.tick()
    expect([ballAt(arbiter).x, arbiter.accepted]).toEqual([323, [`${A}@20`, `${B}@23`]])
  })

  test('[AUTH3] the new owner cannot write ticks from before its ownership', () => {
    const { arbiter, b, id } = transferred(22)
    send(arbiter, B, b.frame(20, id, 300))
    arbiter.tick()
    expect([ballAt(arbiter).x, arbiter.accepted]).toEqual([1, []])
    expect(arbiter.writes.of(B)!.refusals).toEqual({ forged: 0, late: 1, ahead: 0, values: 0 })
  })

  test('[AUTH3] a row waits for its tick, and the newest row that has arrived is used', () => {
    const { arbiter, b, id } = transferred(22)
    send(arbiter, B, b.frame(26, id, 326))
    send(arbiter, B, b.frame(24, id, 324))
    arbiter.tick()
    expect([arbiter.world.tick, ballAt(arbiter).x]).toEqual([23, 1])
    arbiter.tick()
    expect(ballAt(arbiter).x).toBe(324)
    arbiter.to(26)
    expect([ballAt(arbiter).x, arbiter.accepted]).toEqual([326, [`${B}@24`, `${B}@26`]])
  })

  test('[AUTH3] an owner that regains an object and still writes with its old claim is refused', () => {
    const { arbiter, a, id } = transferred(22)
    arbiter.tick((world) => world.setOwner({ id }, A))
    arbiter.to(27)
    expect(arbiter.book.writerAt(id, 25)).toBe(A)
    send(arbiter, A, a.frame(25, id, 225))
    arbiter.tick()
    expect(ballAt(arbiter).x).toBe(1)
    a.token = 24
    send(arbiter, A, a.frame(28, id, 228))
    arbiter.tick()
    expect([ballAt(arbiter).x, arbiter.accepted]).toEqual([228, [`${A}@28`]])
  })

  test('[AUTH3] the server simulates an object that it took back, and late rows change nothing', () => {
    const { arbiter, b, id } = transferred(22)
    arbiter.tick((world) => world.setOwner({ id }))
    for (let run = 0; run < 4; run++) arbiter.tick((world) => { for (const ball of world.each(Ball)) ball.x++ })
    expect(ballAt(arbiter).x).toBe(5)
    send(arbiter, B, b.frame(22, id, 322))
    arbiter.tick()
    expect([ballAt(arbiter).x, arbiter.accepted]).toEqual([5, []])
  })

  test('[AUTH4] forged rows are refused and counted, whatever they forge', () => {
    const { arbiter, a, b, id } = transferred(22)
    const crate = arbiter.world.spawn(Crate, { x: 3 }, A)
    const theirs = arbiter.world.spawn(Ball, { x: 4 }, B)
    arbiter.tick()
    const before = arbiter.world.stores.map(({ rows }) => [...rows])
    for (const bytes of [
      a.frame(22, crate.id, 9, { type: 1 }),
      a.frame(22, theirs.id, 9),
      a.frame(23, id, 9, { owner: B }),
      b.frame(500, id, 9),
    ]) {
      expect(send(arbiter, bytes[0] === 0xf4 ? B : A, bytes)).toBe('ok')
    }
    arbiter.tick()
    expect(arbiter.world.stores.map(({ rows }) => [...rows])).toEqual(before)
    expect(arbiter.writes.of(A)!.refusals).toEqual({ forged: 3, late: 0, ahead: 0, values: 0 })
    expect(arbiter.writes.of(B)!.refusals).toEqual({ forged: 0, late: 0, ahead: 1, values: 0 })
    expect(arbiter.accepted).toEqual([])
    // No client can name an unused index by an honest mistake.
    expect(send(arbiter, A, a.frame(24, 40 * 65_536 + 1, 9))).toBe('broken')
  })

  test('[AUTH4] no bytes of a player make the server throw or change an object of another owner', () => {
    const dice = new Prng(99)
    const { arbiter, b, id } = transferred(22)
    const crate = arbiter.world.spawn(Crate, { x: 3 }, B)
    const theirs = arbiter.world.spawn(Ball, { x: 4 }, A)
    arbiter.tick()
    const verdicts = new Map<string, number>()
    for (let round = 0; round < 3000; round++) {
      const target = [id, crate.id, theirs.id][dice.nextInt(0, 2)]!
      const bytes = b.frame(arbiter.world.tick + dice.nextInt(-3, 3), target, dice.nextInt(0, 65_535), {
        type: dice.nextInt(0, 1),
        owner: [A, B, 0][dice.nextInt(0, 2)]!,
      })
      for (let flips = dice.nextInt(0, 3); flips > 0; flips--)
        bytes[dice.nextInt(0, bytes.length - 1)]! ^= 1 << dice.nextInt(0, 7)
      const verdict = send(arbiter, B, bytes)
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
      if (round % 3 === 0) arbiter.tick()
      if (verdict !== 'broken') continue
      // The connection of A closes, and another client joins.
      arbiter.writes.remove(B)
      arbiter.writes.add(new WrittenRows(B, arbiter.world, arbiter.book, { windowTicks: WINDOW, aheadTicks: 64 }))
    }
    expect([crate.x, arbiter.world.see(Ball, theirs.id)!.x]).toEqual([3, 4])
    expect([...verdicts.keys()].toSorted()).toEqual(['broken', 'no-ack', 'ok'])
    expect(arbiter.accepted.length).toBeGreaterThan(10)
    expect(arbiter.accepted.every((each) => each.startsWith(`${B}@`))).toBe(true)
  })

  test("[AUTH7] fields of the server in a shared object stay the server's", () => {
    const { arbiter, b, id } = transferred(22)
    send(arbiter, B, b.frame(22, id, 322))
    arbiter.tick()
    expect([ballAt(arbiter).x, ballAt(arbiter).note]).toEqual([322, 7])
  })

  test('[AUTH6] on the server `each` visits what the server simulates, and `seen` visits everything', () => {
    const { arbiter, id } = transferred(22)
    const own = arbiter.world.spawn(Ball, { x: 5 })
    arbiter.tick()
    const { world } = arbiter
    expect([...world.each(Ball)].map((ball) => ball.id)).toEqual([own.id])
    expect([...world.seen(Ball)].map((ball) => ball.id)).toEqual([id, own.id])
    expect([world.get(Ball, id), world.see(Ball, id)?.x]).toEqual([null, 1])
  })
})

describe('claims on the wire', () => {
  test('[AUTH2] a claim is sent with every full row and every new owner, also back to the former owner', () => {
    const arbiter = new Arbiter()
    const world = new World(ENTITIES, { isReadOnly: true })
    const timeline = new Timeline(world, WINDOW)
    const sink = new SnapshotSink(world, timeline)
    const source = new SnapshotSource(arbiter.replicator, new AllRelevant(arbiter.world, 1), 1)
    const buffer = new Uint8Array(500)
    let sequence = 0
    const deliver = (isLost = false): void => {
      source.begin()
      const out = new BitWriter(buffer)
      if (!source.fill(0, ++sequence, out)) return
      const bytes = buffer.slice(0, out.finish())
      if (isLost) return source.onLost(0, sequence)
      expect(sink.accept(0, sequence, new BitReader(bytes))).toBe('ok')
      source.onDelivered(0, sequence)
    }
    const known = (): number[] => [sink.held.owners[0]!, sink.held.authorityTicks[0]!]
    arbiter.to(4)
    arbiter.tick((each) => each.spawn(Ball, {}, A))
    deliver()
    expect(known()).toEqual([A, 6])
    arbiter.to(9)
    arbiter.tick((each) => each.setOwner({ id: ballAt(arbiter).id }, B))
    deliver()
    expect(known()).toEqual([B, 11])
    // From B to A and back to B, while packets are lost: the owner is the same as before, the claim is not.
    arbiter.tick((each) => each.setOwner({ id: ballAt(arbiter).id }, A))
    deliver(true)
    arbiter.tick((each) => each.setOwner({ id: ballAt(arbiter).id }, B))
    deliver()
    expect(known()).toEqual([B, 13])
    arbiter.to(20)
    arbiter.tick((each) => { for (const ball of each.seen(Ball)) each.setOwner(ball) })
    deliver()
    expect(known()).toEqual([0, 22])
  })
})

test('[AUTH2] seed 2019: a row sent late has the claim of its own tick, not of a newer owner', () => {
  const arbiter = new Arbiter()
  arbiter.to(9)
  arbiter.tick((world) => world.spawn(Ball, { x: 1, note: 7 }, A))
  arbiter.tick()
  const { id } = ballAt(arbiter)
  const { world, timeline } = arbiter
  const source = new SnapshotSource(
    new Replicator(world, timeline, { claims: arbiter.book }),
    new AllRelevant(world, B),
    B,
  )
  source.begin()
  const rowTick = world.tick
  arbiter.tick((now) => now.setOwner({ id }, B))
  arbiter.tick()
  expect(arbiter.book.authorityTickAt(id >>> 16)).toBe(rowTick + 2)
  const out = new BitWriter(new Uint8Array(200))
  expect(source.fill(0, 1, out)).toBe(true)
  const view = new World(ENTITIES, { isReadOnly: true })
  const sink = new SnapshotSink(view, new Timeline(view, WINDOW))
  expect(sink.accept(0, 1, new BitReader(out.bytes.slice(0, out.finish())))).toBe('ok')
  expect([sink.held.owners[id >>> 16], sink.held.authorityTicks[id >>> 16]]).toEqual([A, 11])
})
