/**
 * What a recorded lockstep match costs: eight players at 1.5 orders a second each, 2,000 units, with and without key
 * images; how long its seals take to verify, and how long it takes to seek. Times are processor time of this process.
 */

import { parseArgs } from 'node:util'
import { LocalFeed, LockstepRunner, readReplay, ReplayFeed } from 'tickwire/lockstep'
import { bestProvider } from 'tickwire/node'
import { Dice } from 'tickwire/testing'
import { isCheckTick } from '../packages/tickwire/src/core/lockstep/check-schedule.ts'
import { encodeValues } from '../packages/tickwire/src/core/lockstep/order-values.ts'
import { PlayerSealer } from '../packages/tickwire/src/core/lockstep/player-sealer.ts'
import { ReplayDeck } from '../packages/tickwire/src/core/lockstep/replay-deck.ts'
import { sourceOf } from '../packages/tickwire/src/core/replay/byte-source.ts'
import { MatchFile } from '../packages/tickwire/src/core/replay/match-file.ts'
import { matchHead } from '../packages/tickwire/src/core/replay/match-head.ts'
import { MatchRecorder } from '../packages/tickwire/src/core/replay/match-recorder.ts'
import { openRecording } from '../packages/tickwire/src/core/replay/recording.ts'
import { MemorySink } from '../packages/tickwire/src/core/replay/recording-memory.ts'
import { verifyMatch } from '../packages/tickwire/src/core/replay/verify-match.ts'
import { encodeWorld } from '../packages/tickwire/src/core/world/world-image.ts'
import { army, Halt, March, Unit } from './desync/army-game.ts'
import type { Bench, BenchResult, Figure } from './harness.ts'

const PLAYERS = 8
const ORDERS_PER_SECOND = 1.5
const KEY_TICKS = 900
const BAR_MINUTES = 30

export const bench: Bench = {
  name: 'replay',
  summary: 'bytes of a recorded lockstep match, its verification, and seeking in it',
  options: ['--minutes N    length of the match (default 30); bytes are scaled to 30'],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { minutes: { type: 'string', default: '30' } } })
    return await Promise.resolve(run(Number(values.minutes)))
  },
}

const provider = bestProvider()
const sha256 = (bytes: Uint8Array): Uint8Array => provider.sha256(bytes)
const signer = provider.importSigning(new Uint8Array(32).fill(5))

/** Plays a match of bots and records it twice: without key images and with them. */
function record(minutes: number): { plain: Uint8Array; keyed: Uint8Array } {
  const dice = new Dice(9)
  const feed = new LocalFeed({ tickRate: army.tickRate, seed: 77, players: PLAYERS })
  const runner = new LockstepRunner(army, feed)
  const match = { fingerprint: army.fingerprint, seed: 77 }
  const sinks = [new MemorySink(), new MemorySink()]
  const recorders = sinks.map((sink) =>
    new MatchRecorder({ log: feed.log, match, head: matchHead(army), sink, sha256, signer }))
  const sealers = Array.from({ length: PLAYERS }, (_, at) => {
    const own = { game: army, feed: { log: feed.log, seed: 77, player: at + 1 }, lastStranger: 0, isEnded: false }
    return new PlayerSealer(own as never, 0, sha256, provider.importSigning(new Uint8Array(32).fill(at)), (message) => {
      if (message.kind === 'seal') for (const each of recorders) each.handlePlayerSeal({ ...message, player: at + 1 })
    })
  })
  const units = [...runner.world.each(Unit)]
  const perTick = ORDERS_PER_SECOND / army.tickRate
  const ticks = minutes * 60 * army.tickRate
  for (let now = 0; runner.tick < ticks; now += 1000 / army.tickRate + 0.01) {
    for (let player = 1; player <= PLAYERS; player++) {
      if (!dice.chance(perTick)) continue
      const own = units.filter(({ seat }) => seat === player - 1)
      const from = Math.floor(dice.fraction() * (own.length - 12))
      const to = { x: 256 * dice.fraction(), y: 256 * dice.fraction() }
      const isMarch = dice.chance(0.5)
      const values = isMarch ? { units: own.slice(from, from + 12).map(({ id }) => id), to } : { seat: player - 1 }
      const data = encodeValues((isMarch ? March : Halt).schema as never, values as never)!
      feed.submit(now - 33 * dice.fraction(), isMarch ? 0 : 1, data, player)
    }
    runner.update(now)
    const { tick, world, roster, hash: { value: [low = 0, high = 0] } } = runner
    for (const sealer of sealers) sealer.handleStepped(tick)
    for (const each of recorders) {
      each.handleTicks(now)
      if (isCheckTick(tick, world, roster))
        for (let player = 1; player <= PLAYERS; player++) each.handleRoot(player, tick, { low, high })
    }
    if (tick % KEY_TICKS === 0) recorders[1]!.handleImage(tick, encodeWorld(world)!, PLAYERS - 1)
  }
  for (const each of recorders) each.close(0)
  return { plain: sinks[0]!.bytes(), keyed: sinks[1]!.bytes() }
}

function cpuMs(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function run(minutes: number): BenchResult {
  const { plain, keyed } = record(minutes)
  const scale = BAR_MINUTES / minutes
  const recording = openRecording(sourceOf(keyed))
  if (typeof recording === 'string') throw new Error(recording)
  const verifyOnce = (): void => {
    const { problems } = verifyMatch(new MatchFile(recording), {
      sha256, publicKeys: [signer.publicKey],
      verify: (publicKey, message, signature) => provider.importVerifying(publicKey).verify(message, signature),
    })
    if (problems.length > 0) throw new Error(problems.join('; '))
  }
  verifyOnce()
  const verifyMs = Math.min(cpuMs(verifyOnce), cpuMs(verifyOnce), cpuMs(verifyOnce))
  const match = readReplay(keyed)
  const feed = new ReplayFeed(match)
  const deck = new ReplayDeck(new LockstepRunner(army, feed), feed, match)
  const dice = new Dice(4)
  const seeks = Array.from({ length: 40 }, () => {
    const tick = 1 + Math.floor(dice.fraction() * (match.ticks - 1))
    return cpuMs(() => { if (!deck.seek(tick)) throw new Error(`tick ${tick} is not found`) })
  }).sort((a, b) => a - b)
  const figure = (name: string, value: number, unit: string, atMost: number): Figure =>
    ({ name, value, unit, against: null, atMost })
  const figures = [
    figure('replay_kb_30min', (plain.length * scale) / 1000, 'kB', 400),
    figure('replay_keys_kb_30min', (keyed.length * scale) / 1000, 'kB', 2500),
    figure('verify_ms_30min', verifyMs * scale, 'ms', 250),
    figure('seek_ms_p95', seeks[Math.floor(0.95 * seeks.length)]!, 'ms', 2200),
  ]
  return {
    tables: [{
      title: `replay: ${minutes} minutes, ${PLAYERS} players at ${ORDERS_PER_SECOND} orders a second, 2,000 units`,
      columns: ['figure', 'value', 'unit', 'bound'],
      rows: figures.map(({ name, value, unit, atMost }) => [name, value, unit, `<= ${atMost}`]),
    }],
    figures,
  }
}
