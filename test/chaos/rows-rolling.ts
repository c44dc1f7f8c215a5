/** Rolling deploys of services behind HAProxy: each instance is replaced while requests come. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { browse } from 'tickwire/node'
import { hasRedis } from '../contract/redis-server.ts'
import type { ChaosRow } from './chaos-row.ts'
import { type ChaosStage, ended, freePort, type ServiceProcess, sleep, status, until } from './chaos-stage.ts'
import { haproxy } from './haproxy.ts'
import { twoMatches } from './rows-fleet.ts'

const missing = !hasRedis ? 'redis-server is not installed'
  : spawnSync('haproxy', ['-v']).status !== 0 ? 'haproxy is not installed' : undefined

/** Two instances of a service behind one address. */
class Deployment {
  readonly url: string
  readonly #path: string
  readonly #start: (port?: number) => Promise<ServiceProcess>
  readonly #instances: readonly ServiceProcess[]

  private constructor(
    front: number, path: string, start: (port?: number) => Promise<ServiceProcess>,
    instances: readonly ServiceProcess[],
  ) {
    this.url = `http://127.0.0.1:${front}`
    this.#path = path
    this.#start = start
    this.#instances = instances
  }

  /** Resolves when the proxy answers at `path`. */
  static async open(
    stage: ChaosStage, path: string, start: (port?: number) => Promise<ServiceProcess>,
  ): Promise<Deployment> {
    const instances = [await start(), await start()]
    const front = await freePort()
    const file = `${stage.folder}/haproxy.cfg`
    writeFileSync(file, haproxy(front, instances.map(({ port }) => port)))
    stage.spawn('haproxy', ['-db', '-q', '-f', file])
    const deployment = new Deployment(front, path, start, instances)
    await until(async () => await status(`${deployment.url}${path}`) === 200, 'the proxy answers')
    return deployment
  }

  /** Replaces both instances while at least `goal` requests come. Returns how many failed. */
  async roll(goal: number): Promise<number> {
    let [asked, failed] = [0, 0]
    let isRolling = true
    const ask = async (): Promise<void> => {
      while (asked < goal || isRolling) {
        // Each request is of another player: an origin has a limit of requests.
        const from = `10.${asked >> 16 & 255}.${asked >> 8 & 255}.${asked & 255}`
        asked++
        if (await status(`${this.url}${this.#path}`, 5000, { 'x-forwarded-for': from }) !== 200) failed++
      }
    }
    const asking = Array.from({ length: 8 }, ask)
    for (const old of this.#instances) {
      await sleep(500)
      old.child.kill('SIGTERM')
      await ended(old.child)
      await this.#start(old.port)
      // HAProxy takes it up again after two good checks.
      await sleep(1500)
    }
    isRolling = false
    await Promise.all(asking)
    return failed
  }
}

const goalOf = (isLong: boolean): number => isLong ? 10_000 : 1500

const rollingFleet: ChaosRow = {
  name: 'rolling-deploy-of-the-fleet',
  what: 'both instances of the fleet service behind HAProxy are replaced while requests come',
  missing,
  bars: { failed_requests: 0, lost_matches: 0 },
  async run(stage, isLong) {
    const redis = await stage.redis()
    const options = ['--store', redis.url, '--drain', '3s']
    const deployed = await Deployment.open(stage, '/rooms', async (port) => await stage.fleet(options, port))
    const players = await twoMatches(stage, deployed.url)
    return { failed_requests: await deployed.roll(goalOf(isLong)), lost_matches: players.lostCount }
  },
}

const rollingTracker: ChaosRow = {
  name: 'rolling-deploy-of-the-tracker',
  what: 'both instances of a tracker behind HAProxy are replaced while players browse',
  missing,
  bars: { failed_requests: 0, lost_matches: 0, not_listed: 0 },
  async run(stage, isLong) {
    const redis = await stage.redis()
    const options = [
      '--store', redis.url, '--drain', '3s', '--publish', 'open', '--rate-limit', '1000/min', '--proxy', '127.0.0.1',
    ]
    const deployed = await Deployment.open(stage, '/v1/listings',
      async (port) => await stage.service('track', options, port))
    const listed = await stage.match(['listed', deployed.url])
    const guests = await stage.guests(['4', listed.where])
    await until(() => guests.now.playing === 4, '4 guests play')
    const games = async (): Promise<number> => (await browse({ trackers: [deployed.url] })).games.length
    await until(async () => await games() === 1, 'the game is listed')
    const failed = await deployed.roll(goalOf(isLong))
    return { failed_requests: failed, lost_matches: guests.lost, not_listed: 1 - await games() }
  },
}

const rollingRendezvous: ChaosRow = {
  name: 'rolling-deploy-of-the-rendezvous',
  what: 'both instances of a rendezvous behind HAProxy are replaced: matches go on, and the code stays',
  missing,
  bars: { failed_requests: 0, lost_matches: 0, lost_messages: 0, changed_codes: 0, failed_joins: 0 },
  async run(stage, isLong) {
    const redis = await stage.redis()
    const options = [
      '--store', redis.url, '--drain', '3s', '--key-file', `${stage.folder}/rendezvous.key`, '--proxy', '127.0.0.1',
    ]
    const deployed = await Deployment.open(stage, '/v1/relays',
      async (port) => await stage.service('rendezvous', options, port))
    const hosted = await stage.match(['host', deployed.url, 'race'])
    const code = hosted.where
    const guests = await stage.guests(['4', code, deployed.url, 'race'])
    await until(() => guests.now.playing === 4, '4 guests play')
    const failed = await deployed.roll(goalOf(isLong))
    // Its host is back within six seconds.
    await sleep(6000)
    const late = await stage.guests(['2', hosted.where, deployed.url, 'race'])
    await until(() => late.now.playing + late.now.failed === 2, 'two more guests have tried')
    return {
      failed_requests: failed, lost_matches: guests.lost, lost_messages: guests.now.lostMessages,
      changed_codes: Number(hosted.where !== code), failed_joins: late.now.failed,
    }
  },
}

export const ROLLING_ROWS: readonly ChaosRow[] = [rollingFleet, rollingTracker, rollingRendezvous]
