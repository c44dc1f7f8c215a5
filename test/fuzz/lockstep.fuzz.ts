/**
 * Hostile bytes in lockstep: ticks from a relay, frames of orders from a client, and frames of a peer of a mesh.
 */

import { decodeCard, defineLockstep, LockstepRunner } from 'tickwire/lockstep'
import { readFileSync } from 'node:fs'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { MeshFeed } from '../../packages/tickwire/src/core/lockstep/mesh-feed.ts'
import { nobleHashes } from '../../packages/tickwire/src/core/crypto/noble-hashes.ts'
import { RelayFeed } from '../../packages/tickwire/src/core/lockstep/relay-feed.ts'
import { Roster } from '../../packages/tickwire/src/core/lockstep/roster.ts'
import { makeSeedShare, SEED_EVENT } from '../../packages/tickwire/src/core/order/seed-share.ts'
import { RelaySeed } from '../../packages/tickwire/src/core/order-relay/relay-seed.ts'
import { decodeValues, encodeValues } from '../../packages/tickwire/src/core/lockstep/order-values.ts'
import { order } from '../../packages/tickwire/src/core/lockstep/order.ts'
import { ids } from '../../packages/tickwire/src/core/order/ids.ts'
import { nativeCodec } from '../../packages/tickwire/src/core/order/order-codec.ts'
import { TickLog } from '../../packages/tickwire/src/core/order/tick-log.ts'
import { TicksSink } from '../../packages/tickwire/src/core/order/ticks-frame.ts'
import { OrderRelay } from '../../packages/tickwire/src/core/order-relay/order-relay.ts'
import { HandoverPapers } from '../../packages/tickwire/src/core/lockstep/handover-papers.ts'
import {
  decodeCertificate, decodeCheckpoint, encodeCertificate, encodeCheckpoint, readClaim,
} from '../../packages/tickwire/src/core/order/handover.ts'
import type { HandoverMessage } from '../../packages/tickwire/src/core/order/handover-messages.ts'
import { HandoverDesk } from '../../packages/tickwire/src/core/order-relay/handover-desk.ts'
import { DesyncJudge } from '../../packages/tickwire/src/core/order-relay/desync-judge.ts'
import {
  decodeQuestion, decodeTop, encodeQuestion,
} from '../../packages/tickwire/src/core/lockstep/desync/descent-wire.ts'
import { decodeSync, encodeSync, splitSnapshot } from '../../packages/tickwire/src/core/order/sync-messages.ts'
import { SyncSink } from '../../packages/tickwire/src/core/order/sync-stream.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { u8, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { encodePatch, restorePatch } from '../../packages/tickwire/src/core/world/image-patch.ts'
import { encodeWorld, restoreWorld } from '../../packages/tickwire/src/core/world/world-image.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import {
  decodeGap, decodePlayerSeals, decodeTicks, readSealChunk,
} from '../../packages/tickwire/src/core/replay/match-chunks.ts'
import { decodeHandover } from '../../packages/tickwire/src/core/replay/handover-chunk.ts'
import { openRecording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { encodeSeal } from '../../packages/tickwire/src/core/order/seal.ts'
import desync from '../vectors/desync.json' with { type: 'json' }
import vectors from '../vectors/lockstep.json' with { type: 'json' }
import handover from '../vectors/handover.json' with { type: 'json' }
import meshVectors from '../vectors/mesh.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'

const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

const orders: FuzzTarget = {
  name: 'lockstep-orders',
  seeds: () => vectors.ordersFrames.map(({ bytes }) => unhex(bytes)),
  run(bytes) {
    const relay = new OrderRelay({ tickRate: 30, players: 2, secret: 5 })
    relay.start(0)
    const slot = relay.join(0, 7)
    for (let now = 0; now < 1000; now += 100) relay.tick(now)
    relay.handleOrders(1000, slot, new BitReader(bytes))
    for (let now = 1000; now < 1600; now += 100) relay.tick(now)
    // Whatever arrived, the ticks that the relay sends are valid.
    const log = new TickLog()
    if (log.receive(relay.log.bytes, 0, relay.log.length, relay.log.newest) !== 'ok') throw new Error('an invalid log')
  },
}

const ticks: FuzzTarget = {
  name: 'lockstep-ticks',
  seeds: () => [...vectors.ticksFrames, ...vectors.ticks].map(({ bytes }) => unhex(bytes)),
  run(bytes) {
    const sink = new TicksSink(new TickLog())
    sink.accept(0, 1, new BitReader(bytes))
    const read = nativeCodec.decode(bytes)
    if (read !== undefined && nativeCodec.encode(read).some((byte, at) => byte !== bytes[at]))
      throw new Error('an order has two encodings')
  },
}

const Move = order({ units: ids(250), to: vec2(0, 256, 1 / 16), kind: u8 }, 'Move')
const schema = Move.schema as never

const values: FuzzTarget = {
  name: 'lockstep-values',
  seeds: () => [[], [65_537], [65_537, 131_073, 196_610]].map((units) => encodeValues(schema, { units, kind: 3 })!),
  run(bytes) {
    const read = decodeValues(schema, bytes, 0, bytes.length)
    if (read === undefined) return
    const again = encodeValues(schema, read)
    if (again === undefined || again.length !== bytes.length || again.some((byte, at) => byte !== bytes[at]))
      throw new Error('values have two encodings')
  },
}

const sync: FuzzTarget = {
  name: 'lockstep-sync',
  seeds: () => desync.messages.map(({ bytes }) => unhex(bytes)),
  run(bytes) {
    const message = decodeSync(bytes)
    if (message !== undefined && encodeSync(message).some((byte, at) => byte !== bytes[at]))
      throw new Error('a message has two encodings')
    const log = new TickLog()
    const players = [{ peer: 1, rttMs: 5, executed: 9 }, { peer: 2, rttMs: 9, executed: 2 }]
    const judge = new DesyncJudge(log, 1, () => players)
    judge.handleDifference(0, 1, 3)
    if (message !== undefined) for (const peer of [1, 2, 3]) judge.handleMessage(1, peer, message)
    for (const now of [10_000, 40_000]) judge.tick(now)
    const sink = new SyncSink()
    sink.accept(0, 1, new BitReader(bytes))
  },
}

/** What a joining client reads: players, image, old ticks. */
const snapshots: FuzzTarget = {
  name: 'lockstep-snapshots',
  seeds: () => desync.snapshots.map(({ bytes }) => unhex(bytes)),
  run(bytes) {
    const parts = splitSnapshot(bytes)
    const roster = parts && Roster.decode(parts.roster)
    if (roster?.encode().some((byte, at) => byte !== parts?.roster[at])) throw new Error('a roster has two spellings')
    const log = new TickLog()
    log.append(Uint8Array.of(0x5a), 1)
    if (!log.skip(9, bytes.length + 1)) return
    log.fill(1, bytes.subarray(0, bytes.length >> 1))
    log.fill(log.missingFrom, bytes.subarray(bytes.length >> 1))
    // Whatever arrived, the ticks that are there can be read.
    for (let tick = 1; tick <= 9; tick++) {
      if (!log.has(tick) || log.endOf(tick) > log.startOf(tick)) continue
      throw new Error('a tick without bytes')
    }
  },
}

const Tank = entity({ x: u8, at: vec2(0, 256, 1 / 16) }, { name: 'Tank' })

function battle(): { world: World; base: World } {
  const base = new World([Tank], { seed: 3 })
  for (let at = 0; at < 20; at++) base.spawn(Tank, { x: at })
  base.endTick()
  const world = new World([Tank], { seed: 3, sharing: base })
  restoreWorld(world, encodeWorld(base)!)
  for (const tank of world.each(Tank)) if (tank.x % 3 === 0) tank.x += 100
  world.despawn([...world.each(Tank)][4]!)
  world.endTick()
  return { world, base }
}

const descent: FuzzTarget = {
  name: 'lockstep-descent',
  seeds: () => [
    encodeQuestion({ kind: 'nodes', nodes: [{ type: 0, height: 3, place: 1 }] }),
    encodeQuestion({ kind: 'rows', indexes: [1, 5, 9], hasAllocator: true, hasExternal: false }),
    encodeQuestion({ kind: 'folds', first: 3, step: 9 }),
    ...[battle()].map(({ world, base }) => encodePatch(world, base)!),
  ],
  run(bytes) {
    const question = decodeQuestion(bytes)
    if (question !== undefined && encodeQuestion(question).some((byte, at) => byte !== bytes[at]))
      throw new Error('a question has two encodings')
    decodeTop(bytes, 1)
    const { base } = battle()
    restorePatch(new World([Tank], { seed: 3, sharing: base }), base, bytes)
  },
}

const mesh: FuzzTarget = {
  name: 'lockstep-mesh',
  seeds: () => meshVectors.frames.map(({ bytes }) => unhex(bytes)),
  run(bytes) {
    const feed = new MeshFeed({ tickRate: 30, players: 3, player: 1, seed: 5 })
    for (const peer of feed.peers) feed.handleFrame(0, peer, new BitReader(bytes), true, 10)
    for (let now = 0; now < 400; now += 40) feed.poll(now)
    // Whatever arrived, the merged ticks are valid.
    const log = new TickLog()
    const { newest, bytes: merged } = feed.log
    if (newest > 0 && log.receive(merged, 0, feed.log.endOf(newest), newest) !== 'ok') throw new Error('an invalid log')
  },
}

/** A card of an unknown game: it may be any file. */
const cards: FuzzTarget = {
  name: 'lockstep-cards',
  seeds: () => [{ players: [2, 8], text: 'lockstep 30\norder 0 Move {}' }, { players: [1, 1], text: 'lockstep 1' }]
    .map((card) => new TextEncoder().encode(JSON.stringify(card))),
  run(bytes) {
    const card = decodeCard(new TextDecoder().decode(bytes))
    if (typeof card === 'string') return
    const [least, most] = card.players
    if (!(least >= 1 && least <= most && most <= 16 && card.tickRate >= 1 && card.fingerprint.length === 8))
      throw new Error('a card with impossible numbers')
    new OrderRelay({ tickRate: card.tickRate, players: most, secret: 1 })
  },
}

const share = makeSeedShare((bytes) => { bytes.fill(7) }, nobleHashes.sha256)

/** Commits and reveals: requests at a relay, and the first two ticks at a client. */
const seeds: FuzzTarget = {
  name: 'lockstep-seeds',
  seeds: () => [
    ...[...vectors.seeds, ...vectors.seedsRefused].map(({ bytes }) => unhex(bytes)), share.commit, share.reveal,
  ],
  run(bytes) {
    const seedOptions = { share, sha256: nobleHashes.sha256 }
    const relaySeed = new RelaySeed(seedOptions)
    for (const peer of [1, 2]) relaySeed.join(0, peer)
    relaySeed.begin(0)
    for (const type of [SEED_EVENT.commit, SEED_EVENT.reveal])
      for (const peer of [1, 2]) relaySeed.handle(peer, type, bytes, Math.min(bytes.length, 380))
    const feed = new RelayFeed({ tickRate: 30, player: 2 })
    feed.agree(0, nobleHashes.sha256, share)
    const log = new TickLog()
    if (bytes.length === 0 || log.receive(bytes, 0, bytes.length, 2) !== 'ok') return
    const frame = new Uint8Array(7 + bytes.length)
    frame[5] = 2
    frame.set(bytes, 7)
    feed.ticks.accept(0, 1, new BitReader(frame))
    // Whatever the ticks contain, a runner never throws, and begins only if the reveals fit the commits.
    const game = defineLockstep({ orders: [], entities: [], step: () => {} })
    new LockstepRunner(game, feed).update(10_000)
  },
}

/** A large order: bytes of a lane. */
const large: FuzzTarget = {
  name: 'lockstep-large-orders',
  seeds: () => [Uint8Array.of(0), Uint8Array.of(3, 1, 2), new Uint8Array(4001), new Uint8Array(4002).fill(0xc0)],
  run(bytes) {
    const relay = new OrderRelay({ tickRate: 30, players: 2, secret: 5 })
    relay.start(0)
    relay.handleLarge(0, relay.join(0, 7), bytes, bytes.length)
    for (let now = 0; now < 600; now += 100) relay.tick(now)
    const log = new TickLog()
    if (log.receive(relay.log.bytes, 0, relay.log.length, relay.log.newest) !== 'ok') throw new Error('an invalid log')
  },
}

/** The bodies of all chunks of a recorded match among the vectors. */
function replayBodies(name: string): Uint8Array[] {
  const file = readFileSync(new URL(`../vectors/${name}`, import.meta.url))
  const recording = openRecording(sourceOf(new Uint8Array(file)))
  if (typeof recording === 'string') throw new Error(recording)
  return recording.chunks.map((chunk) => recording.load(chunk)!)
}

const replay: FuzzTarget = {
  name: 'lockstep-replay',
  seeds: () => ['replay.twr', 'replay-handover.twr'].flatMap(replayBodies).filter((body) => body.length < 2000),
  run(bytes) {
    const read = decodeTicks(bytes)
    if (read !== undefined) new TickLog().receive(read.bytes, 0, read.bytes.length, read.count)
    decodeGap(bytes)
    decodePlayerSeals(bytes)
    decodeHandover(bytes)
    const seal = readSealChunk(bytes)
    if (seal !== undefined && encodeSeal(seal.seal).some((byte, at) => byte !== bytes[at]))
      throw new Error('a seal has two encodings')
  },
}

/** Papers of a handover, and the messages of a client that claims its seat. Every signature counts. */
const handovers: FuzzTarget = {
  name: 'lockstep-handover',
  seeds: () => [
    ...handover.certificates.flatMap(({ bytes, claim }) => [unhex(bytes), unhex(claim)]),
    ...handover.checkpoints.map(({ bytes }) => unhex(bytes)),
    ...desync.messages.map(({ bytes }) => unhex(bytes)),
  ],
  run(bytes) {
    const certificate = decodeCertificate(bytes)
    if (certificate !== undefined && encodeCertificate(certificate).some((byte, at) => byte !== bytes[at]))
      throw new Error('a certificate has two encodings')
    const checkpoint = decodeCheckpoint(bytes)
    if (checkpoint !== undefined && encodeCheckpoint(checkpoint).some((byte, at) => byte !== bytes[at]))
      throw new Error('a checkpoint has two encodings')
    const sha256 = (each: Uint8Array): Uint8Array => nobleHashes.sha256(each)
    readClaim(bytes, new Uint8Array(32), () => true, () => true)
    const desk = new HandoverDesk({ match: new Uint8Array(16), sha256, verify: () => true })
    desk.join(0, 1, false, new Uint8Array(32))
    const message = decodeSync(bytes)
    const claims = [{ tick: 200, isWhole: true, checkpoint: bytes, tail: new Uint8Array(100).fill(0x5a) }]
    for (const claim of claims) desk.handleMessage(1, 1, { kind: 'claim', ...claim })
    if (message !== undefined && HANDOVERS.has(message.kind)) desk.handleMessage(2, 1, message as HandoverMessage)
    desk.handleMessage(3, 1, { kind: 'ticks', offset: 0, bytes })
    for (const now of [3000, 5000, 11_000]) desk.tick(now)
    const papers = new HandoverPapers({ publicKey: new Uint8Array(32), sign: () => new Uint8Array(64) })
    if (message !== undefined) papers.handleMessage(message, 1)
    papers.handleMessage({ kind: 'certificate', player: 1, bytes }, 1)
    papers.handleMessage({ kind: 'checkpoint', tick: 1, bytes }, 1)
    papers.claim(new TickLog())
    papers.pump(new TickLog(), () => 0, () => true)
  },
}

const HANDOVERS: ReadonlySet<string> = new Set(['claim', 'ticks'])

export const targets: readonly FuzzTarget[] = [
  orders, ticks, values, cards, seeds, large, sync, snapshots, descent, mesh, replay, handovers,
]
