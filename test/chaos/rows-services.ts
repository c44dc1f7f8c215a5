/** Failures of the services that players meet by: tracker, rendezvous and relay. */

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { bestProvider, browse } from 'tickwire/node'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { hasRedis } from '../contract/redis-server.ts'
import type { ChaosRow } from './chaos-row.ts'
import { type ChaosStage, type RelayProcess, ended, freePort, sleep, status, until } from './chaos-stage.ts'
import type { Guests } from './code-players.ts'
import { haproxy } from './haproxy.ts'

const LISTED_MS = 11_000
const CODE_MS = 6000
/** The silence after which the standby takes over is a second. */
const GAP_MS = 1200
/** A relay that drains asks its peers to move, so none waits for silence. */
const DRAIN_GAP_MS = 300

/** Names of games at a tracker; undefined while it does not answer. */
async function gamesAt(tracker: string): Promise<number | undefined> {
  const { games, trackers: [asked] } = await browse({ trackers: [tracker] })
  return asked?.state === 'down' ? undefined : games.length
}

const trackerKilled: ChaosRow = {
  name: 'tracker-killed',
  what: 'kill -9 of one of two trackers for 4 s, and then of both',
  bars: { lost_matches: 0, hidden_elsewhere: 0, failed_joins: 0, listed_again_ms: LISTED_MS },
  async run(stage) {
    const trackers = [await stage.service('track'), await stage.service('track')]
    const listed = await stage.match(['listed', ...trackers.map(({ url }) => url)])
    const guests = await stage.guests(['4', listed.where])
    await until(() => guests.now.playing === 4, '4 guests play')
    for (const { url } of trackers) await until(async () => await gamesAt(url) === 1, 'the game is listed')
    const [dead, other] = trackers
    dead!.child.kill('SIGKILL')
    let hidden = 0
    for (const end = performance.now() + 4000; performance.now() < end; await sleep(200)) {
      // A player asks both, and gets the game of the one that answers.
      const { games } = await browse({ trackers: trackers.map(({ url }) => url) })
      if (games.length !== 1) hidden++
    }
    other!.child.kill('SIGKILL')
    await ended(other!.child)
    const late = await stage.guests(['2', listed.where])
    await until(() => late.now.playing + late.now.failed === 2, 'two more guests have tried')
    await stage.service('track', [], dead!.port)
    const again = await until(async () => await gamesAt(dead!.url) === 1, 'the game is listed again')
    return {
      lost_matches: guests.lost + late.lost, hidden_elsewhere: hidden, failed_joins: late.now.failed,
      listed_again_ms: again,
    }
  },
}

/** Two relays, and a rendezvous that gives both to its sessions. */
async function rendezvousWith(stage: ChaosStage): Promise<{
  /** The public key of the issuer of relay tokens. */
  readonly issuer: string
  readonly relays: readonly RelayProcess[]
  readonly options: readonly string[]
  readonly rendezvous: Awaited<ReturnType<ChaosStage['service']>>
}> {
  const secret = randomBytes(32)
  const { publicKey } = bestProvider().importSigning(Uint8Array.from(secret))
  const issuer = keyToText('issuer-public', publicKey)
  const relays = [await stage.relay(issuer), await stage.relay(issuer)]
  const options = [
    '--issuer', keyToText('issuer-secret', secret), '--key-file', `${stage.folder}/rendezvous.key`,
    '--proxy', '127.0.0.1',
    ...relays.flatMap(({ address }) => ['--relay', address]),
  ]
  return { issuer, relays, options, rendezvous: await stage.service('rendezvous', options) }
}

const rendezvousKilled: ChaosRow = {
  name: 'rendezvous-killed',
  what: 'kill -9 of the rendezvous for 4 s (--long: ten minutes): matches go on, and the code works again',
  bars: { lost_matches: 0, lost_messages: 0, changed_codes: 0, code_again_ms: CODE_MS, failed_joins: 0 },
  async run(stage, isLong) {
    const { options, rendezvous } = await rendezvousWith(stage)
    const hosted = await stage.match(['host', rendezvous.url, 'race'])
    const code = hosted.where
    const guests = await stage.guests(['4', code, rendezvous.url, 'race'])
    await until(() => guests.now.playing === 4, '4 guests play')
    rendezvous.child.kill('SIGKILL')
    await sleep(isLong ? 600_000 : 4000)
    await stage.service('rendezvous', options, rendezvous.port)
    const again = await until(async () => await joinStatus(rendezvous.url, code) === 200, 'the code works')
    const late = await stage.guests(['2', hosted.where, rendezvous.url, 'race'])
    await until(() => late.now.playing + late.now.failed === 2, 'two more guests have tried')
    return {
      lost_matches: guests.lost, lost_messages: guests.now.lostMessages, changed_codes: Number(hosted.where !== code),
      code_again_ms: again, failed_joins: late.now.failed,
    }
  },
}

const rendezvousInstancesKilled: ChaosRow = {
  name: 'rendezvous-instances-killed',
  what: 'kill -9 of each of three instances of a rendezvous behind HAProxy, one after the other',
  missing: hasRedis && spawnSync('haproxy', ['-v']).status === 0 ? undefined : 'redis-server or haproxy is missing',
  bars: { lost_matches: 0, changed_codes: 0, code_again_ms: CODE_MS, failed_joins: 0 },
  async run(stage) {
    const redis = await stage.redis()
    const options = ['--store', redis.url, '--key-file', `${stage.folder}/rendezvous.key`, '--proxy', '127.0.0.1']
    const instances = []
    for (let index = 0; index < 3; index++) instances.push(await stage.service('rendezvous', options))
    const front = await freePort()
    const url = `http://127.0.0.1:${front}`
    writeFileSync(`${stage.folder}/haproxy.cfg`, haproxy(front, instances.map(({ port }) => port)))
    stage.spawn('haproxy', ['-db', '-f', `${stage.folder}/haproxy.cfg`])
    await until(async () => await status(`${url}/v1/relays`) === 200, 'the proxy answers')
    const hosted = await stage.match(['host', url, 'race'])
    const code = hosted.where
    const guests = await stage.guests(['2', code, url, 'race'])
    await until(() => guests.now.playing === 2, '2 guests play')
    let [again, failed] = [0, 0]
    for (const { child, port } of instances) {
      child.kill('SIGKILL')
      await ended(child)
      again = Math.max(again, await until(async () => await joinStatus(url, code) === 200, 'the code works'))
      const late = await stage.guests(['1', code, url, 'race'])
      await until(() => late.now.playing + late.now.failed === 1, 'one more guest has tried')
      failed += late.now.failed
      await stage.service('rendezvous', options, port)
      // HAProxy takes it up again after two good checks.
      await sleep(1500)
    }
    return {
      lost_matches: guests.lost, changed_codes: Number(hosted.where !== code), code_again_ms: again,
      failed_joins: failed,
    }
  },
}

let joins = 0

/** The status of a join by this code. Each is of another player: wrong codes of one origin are limited. */
async function joinStatus(url: string, code: string): Promise<number> {
  joins++
  const response = await fetch(`${url}/v1/joins`, {
    method: 'POST', body: JSON.stringify({ code }), signal: AbortSignal.timeout(2000),
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.${joins >> 8 & 255}.${joins & 255}` },
  }).catch(() => undefined)
  await response?.arrayBuffer()
  if (response?.status !== 200) await sleep(100)
  return response?.status ?? 0
}

/** A match by relays alone, with guests that play. */
async function relayedMatch(stage: ChaosStage, isLong: boolean): Promise<Awaited<ReturnType<typeof rendezvousWith>> & {
  readonly guests: Guests
  readonly count: number
  readonly code: string
}> {
  const services = await rendezvousWith(stage)
  const count = isLong ? 16 : 4
  const hosted = await stage.match(['host', services.rendezvous.url, 'relay-only'])
  const guests = await stage.guests([`${count}`, hosted.where, services.rendezvous.url, 'relay-only'])
  await until(() => guests.now.playing === count, 'the guests play')
  await sleep(1000)
  guests.forgetGaps()
  return { ...services, guests, count, code: hosted.where }
}

const relayKilled: ChaosRow = {
  name: 'relay-killed',
  what: 'kill -9 of the relay that carries a match: its standby takes over',
  bars: { lost_matches: 0, lost_messages: 0, gap_ms_p95: GAP_MS },
  async run(stage, isLong) {
    const { relays, guests, count } = await relayedMatch(stage, isLong)
    relays[0]!.child.kill('SIGKILL')
    await sleep(6000)
    return {
      lost_matches: guests.lost + count - guests.now.playing, lost_messages: guests.now.lostMessages,
      gap_ms_p95: guests.gap(0.95),
    }
  },
}

const relayDrained: ChaosRow = {
  name: 'relay-drained',
  what: 'SIGTERM for the relay that carries a match: peers move to its standby before it ends',
  bars: { lost_matches: 0, lost_messages: 0, gap_ms_p95: DRAIN_GAP_MS, exit_code: 0 },
  async run(stage, isLong) {
    const { relays: [relay], guests, count } = await relayedMatch(stage, isLong)
    relay!.child.kill('SIGTERM')
    await ended(relay!.child)
    await sleep(3000)
    return {
      lost_matches: guests.lost + count - guests.now.playing, lost_messages: guests.now.lostMessages,
      gap_ms_p95: guests.gap(0.95), exit_code: relay!.child.exitCode ?? 1,
    }
  },
}

const relaysKilled: ChaosRow = {
  name: 'relays-killed',
  what: 'kill -9 of both relays of a match: it goes on when they are back, and without them a guest gets no-path',
  bars: { lost_matches: 0, gap_ms_p95: 5000, joined_without: 0, no_path_ms: 8000 },
  async run(stage, isLong) {
    const { issuer, relays, rendezvous, guests, count, code } = await relayedMatch(stage, isLong)
    for (const { child } of relays) child.kill('SIGKILL')
    await Promise.all(relays.map(async ({ child }) => await ended(child)))
    const again = await Promise.all(relays.map(async ({ port }) => await stage.relay(issuer, port)))
    await sleep(8000)
    const figures = { lost_matches: guests.lost + count - guests.now.playing, gap_ms_p95: guests.gap(0.95) }
    for (const { child } of again) child.kill('SIGKILL')
    const late = await stage.guests(['1', code, rendezvous.url, 'relay-only'])
    const noPath = await until(() => late.now.failed + late.now.playing === 1, 'a guest has tried')
    return { ...figures, joined_without: late.now.playing, no_path_ms: noPath }
  },
}

export const SERVICE_ROWS: readonly ChaosRow[] = [
  trackerKilled, rendezvousKilled, rendezvousInstancesKilled, relayKilled, relayDrained,
  relaysKilled,
]
