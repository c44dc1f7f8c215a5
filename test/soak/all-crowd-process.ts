/**
 * What happens around `tickwire all`: games that publish themselves and close, players that browse, matches that are
 * hosted by code and joined by relay.
 *
 *   all-crowd-process.ts URL GAMES STAY_MS SEED
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { bool, defineGame, entity, fixed } from 'tickwire'
import { browse, connect, host, serve } from 'tickwire/node'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { CrowdReport, type CrowdOrder } from './program-messages.ts'

const [url = '', games = '1', stayMs = '60000', seed = '1'] = process.argv.slice(2)
const dice = new Prng(Number(seed))
const report = new CrowdReport()
const name = `soak ${seed}`
const Player = entity({ x: fixed(0, 640, 0.1) })
const game = defineGame({
  tickRate: 10,
  input: { right: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: 320 }, peer),
  step() {},
})
const QUIET = { port: 0, ops: false, signals: false, log: () => {}, webtransport: false, webrtc: false } as const
const BROWSE_MS = 500
const HOSTS = 2
/** The program is back, and not all games of this process are listed yet. */
let isWaiting = false
let isKilled = false
let returnedAt = 0
/** Matches by code are shorter than listed games. */
const CODE_SHARE = 0.2

for (let index = 0; index < Number(games); index++) void publish(index)
for (let index = 0; index < HOSTS; index++) void playByCode()
void look()

const stay = (share: number): Promise<void> => sleep(-Math.log(1 - dice.nextFloat()) * share * Number(stayMs))

/** A game is on the list, is closed, and is published again, without end. */
async function publish(index: number): Promise<void> {
  for (;;) {
    const serving = await serve(game, {
      ...QUIET, address: '127.0.0.1',
      publish: { trackers: [url], game: 'soak', name: `${name} ${index}`, region: 'eu-central' },
    })
    report.joins++
    report.active++
    await stay(1)
    // While the list is down or comes back, games stay as they are.
    while (isKilled || isWaiting) await sleep(100)
    report.active--
    await serving.close()
    report.leaves++
  }
}

/** A match is hosted, joined by its code and by relay only, and closed. */
async function playByCode(): Promise<void> {
  for (;;) {
    if (isKilled || isWaiting) await sleep(1000)
    try {
      const hosted = await host(game, { ...QUIET, rendezvous: url })
      try {
        const startedAt = performance.now()
        const room = await connect(game, hosted.code, { rendezvous: url, path: 'relay-only' })
        report.took('join by code', performance.now() - startedAt)
        let isLeaving = false
        const closed = room.closed.then(({ code }) => {
          if (!isLeaving) report.ended(`match by code: ${code}`)
        })
        await Promise.race([stay(CODE_SHARE), closed])
        isLeaving = true
        room.leave()
      } finally {
        await hosted.serving.close()
      }
    } catch (error) {
      report.ended(`by code: ${(error as { code?: string }).code ?? String(error)}`)
      await sleep(1000)
    }
  }
}

/** A player looks at the list again and again. */
async function look(): Promise<void> {
  for (;;) {
    const startedAt = performance.now()
    const { games: listed, trackers } = await browse({ trackers: [url], game: 'soak' })
    report.took('browse', performance.now() - startedAt)
    if (trackers[0]?.state !== 'ok') report.ended(`browse: ${trackers[0]?.state}`)
    const own = listed.filter(({ listing }) => listing?.name.startsWith(`${name} `) === true)
    if (isWaiting && own.length >= report.active) {
      isWaiting = false
      report.back(performance.now() - returnedAt)
    }
    await sleep(BROWSE_MS)
  }
}

process.on('message', (order: CrowdOrder) => {
  isKilled = order === 'killed'
  if (order !== 'returned') return
  returnedAt = performance.now()
  isWaiting = true
})
