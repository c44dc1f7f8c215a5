/**
 * The arena in a page with weather on its connection, and without a connection at all.
 *
 * Delays and jumps are counted in ticks and metres, and compared with the states in the authority's own step: a busy
 * machine makes the test take longer, and changes nothing else. Nothing is drawn, so that nothing waits for drawing.
 */

import type { Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Inputs, ObjectOf, World } from 'tickwire'
import { serve, type Serving } from 'tickwire/node'
import { BODY_HALF } from '../../games/arena/collision.ts'
import { Fighter, Hurt, Seat, Shot, STICK, type input } from '../../games/arena/definitions.ts'
import { arenaGame, TICK_RATE } from '../../games/arena/game.ts'
import { buildPage } from '../../tools/page.ts'
import { ARENA_FOLDER, openArena, playArena, waitFor, type Probe } from './arena-pages.ts'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { watchStalls } from './stall-watch.ts'

/** The parts of the engine that a page of the arena exposes. */
interface Insides {
  readonly rttMs: number
  readonly tools: {
    readonly connection: { readonly stats: { readonly packetsLost: number } }
    readonly host: {
      readonly viewTick: number
      readonly clock: { readonly inputs: { readonly newest: number }; readonly ticks: { readonly resyncs: number } }
      readonly predictor: { readonly rollbacks: number; readonly isRunning: boolean; readonly isStalled: boolean }
      readonly insides: { readonly renderClock: { readonly renderTick: number; readonly newest: number } }
    }
    onTicked: ((ticks: number, tookMs: number) => void) | undefined
  }
}
type Held = {
  ahead?: number
  side?: number
  yaw?: number
  pitch?: number
  jump?: boolean
  fire?: boolean
  weapon?: number
}
declare const arena: Omit<Probe, 'controls'> & { readonly session: Insides; readonly controls: { sample(): Held } }
declare const hands: { answered: number; unanswered: number; isDone: boolean }
declare const eyes: { viewTick: number; x: number; isFed: boolean }[]

/** 200 ms there and back, and 10 % lost. */
const WEATHER = '&weather=95ms,10ms,10%'
/** A visible jump: an eighth of a body's width, from one draw to the next, that the world did not make. */
const VISIBLE_M = (BODY_HALF * 2) / 8
const STEPS = form(4, 8)
const SHOTS = form(4, 8)
/** How often a round is played at most, when the machine was too busy in the round before. */
const ROUNDS = 5
/** A page or a server that was stopped for longer is not judged: the line has 200 ms there and back. */
const STALL_MS = 60
const RTT_MS_MAX = 300

let serving: Serving<typeof input>
let mistakes: string[] = []
/** Called in every tick of the authority, after its step. */
let look: (world: World, inputs: Pick<Inputs<typeof input>, 'isHeld' | 'viewTick'>) => void = () => {}

beforeAll(async () => await buildPage(ARENA_FOLDER))
beforeEach(async () => {
  mistakes = []
  look = () => {}
  const game = arenaGame()
  serving = await serve(
    {
      ...game,
      step: (world, inputs) => {
        game.step(world, inputs)
        look(world, inputs)
      },
    },
    { port: 0, static: `${ARENA_FOLDER}/public`, ops: false, signals: false },
  )
})
afterEach(async () => await serving.close())

browserTest(
  '[ARENA18] ?weather= slows one page both ways; an invalid value is refused with a valid one',
  async (browser) => {
    const page = await openArena(browser, serving.url, mistakes, '&weather=80ms,5ms,10%')
    const peer = await playArena(page)
    expect(await page.textContent('#weather')).toBe('weather 80 + 5 ms, 10 %')
    expect(await page.isVisible('#weather')).toBe(true)
    await waitFor(async () => (await page.evaluate(() => arena.session.rttMs)) >= 160)
    // Messages still arrive, in both directions.
    await waitFor(() => seats().some(({ owner, name }) => owner === peer && name.startsWith('Guest')))
    // Lost on the way to the page, and on the way to the server.
    const { stats } = serving.host.connectionOf({ id: peer })!
    await waitFor(() => stats.packetsLost > 20)
    await waitFor(async () => (await page.evaluate(() => arena.session.tools.connection.stats.packetsLost)) > 20)
    const other = await openArena(browser, serving.url, mistakes, '&weather=bad')
    expect(await other.textContent('#problem')).toContain('?weather takes something like 100ms,20ms,5%')
    await playArena(other)
    expect(await other.isVisible('#weather')).toBe(false)
    expect(mistakes).toEqual([])
  },
)

browserTest(
  '[ARENA19] ?local is played without a network: against bots that fight, and with a spectator',
  async (browser) => {
    const page = await openArena(browser, serving.url, mistakes, '&local')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('websocket', (socket) => asked.push(socket.url()))
    await page.fill('#name', 'Alone')
    await playArena(page)
    const own = async (): Promise<{ x: number; z: number } | undefined> =>
      await page.evaluate(() => arena.fighters().find(({ owner }) => owner === arena.peer))
    await waitFor(async () => (await own()) !== undefined)
    expect(await page.evaluate(() => arena.fighters().length)).toBeGreaterThan(1)
    await waitFor(async () => (await page.evaluate(() => arena.seats())).some(({ name }) => name === 'Alone'))
    // The player may die meanwhile; the living one goes on while a key is held.
    let from = await own()
    await page.keyboard.down('w')
    await waitFor(async () => {
      const now = await own()
      from ??= now
      return from !== undefined && now !== undefined && Math.hypot(now.x - from.x, now.z - from.z) > 1
    })
    await page.keyboard.up('w')
    await page.keyboard.press('Enter')
    await page.keyboard.type('anybody here?')
    await page.keyboard.press('Enter')
    await waitFor(async () => (await page.textContent('#chat'))!.includes('anybody here?'))
    await waitFor(
      async () => (await page.evaluate(() => arena.counts.kills)) > 0,
      () => page.evaluate(() => JSON.stringify(arena.seats())),
      120_000,
    )
    await page.keyboard.press('Escape')
    await page.click('#watch')
    await page.waitForFunction(() => arena.role === 'spectator' && arena.following !== 0)
    expect(serving.rooms.endpoint.connections).toHaveLength(0)
    expect(asked.filter((url) => url.includes('tickwire'))).toEqual([])
    expect(mistakes).toEqual([])
  },
)

browserTest(
  '[ARENA20] at 200 ms and 10 % loss an own step shows in the tick of the key press; only missing inputs correct it',
  async (browser, skip) => {
    const page = await openArena(browser, serving.url, mistakes, WEATHER)
    const peer = await playArena(page)
    await stand(page, peer, 0, 17)
    const counts = { ticks: 0, missing: 0 }
    look = (_world, inputs) => {
      counts.ticks++
      if (inputs.isHeld(peer)) counts.missing++
    }
    const setRight = async (): Promise<{ rollbacks: number; resyncs: number }> =>
      await page.evaluate(() => {
        const { predictor, clock } = arena.session.tools.host
        return { rollbacks: predictor.rollbacks, resyncs: clock.ticks.resyncs }
      })
    await inTime(page, skip, async () => {
      counts.missing = 0
      const before = await setRight()
      await page.evaluate(walkInSteps, { stick: STICK, steps: STEPS })
      await waitFor(
        async () => await page.evaluate(() => hands.isDone),
        () => page.evaluate(() => JSON.stringify(hands)),
      )
      // The last packets about it are in flight.
      const until = counts.ticks + 256
      await waitFor(() => counts.ticks > until)
      const after = await setRight()
      const answers = await page.evaluate(() => hands)
      return () => {
        expect(answers).toEqual({ answered: STEPS, unanswered: 0, isDone: true })
        expect(after.resyncs).toBe(before.resyncs)
        expect(after.rollbacks - before.rollbacks).toBeLessThanOrEqual(counts.missing)
      }
    })
    await page.close()
    expect(mistakes).toEqual([])
  },
)

browserTest(
  '[ARENA20] at 200 ms and 10 % loss another player is drawn without a jump, and hit where drawn',
  async (browser, skip) => {
    const page = await openArena(browser, serving.url, mistakes, WEATHER)
    const peer = await playArena(page)
    await stand(page, peer, 0, 19)
    let course = 1
    const runnerPeer = serving.host.addBot(({ tick }) => {
      const x = bodyOf(runnerPeer)?.at.x ?? 0
      if (tick % 70 === 0) course = -course
      if (Math.abs(x) > 6) course = -Math.sign(x)
      return { side: course * STICK, yaw: 0 }
    }).id
    const truth = new Map<number, number>()
    const counts = { shots: 0, hits: 0 }
    let isJudged = false
    look = (world, inputs) => {
      isJudged =
        !inputs.isHeld(peer)
        && ((world.tick - inputs.viewTick(peer)) * 1000) / TICK_RATE < serving.host.game.net.rewindMs
      const [shooter, runner] = [bodyOf(peer), bodyOf(runnerPeer)]
      // A slug pushes its target; here it does not, so that the target stays in the open.
      if (runner !== undefined) {
        Object.assign(runner, { health: 200 })
        Object.assign(runner.at, { y: 0, z: 15.5 })
        Object.assign(runner.speed, { y: 0, z: 0 })
        truth.set(world.tick, runner.at.x)
      }
      if (shooter !== undefined) Object.assign(shooter, { slugs: 20 })
    }
    await waitFor(() => bodyOf(runnerPeer) !== undefined)
    await waitFor(
      async () =>
        await page.evaluate(
          (owner) => arena.fighters().some((each) => each.owner === owner && Math.abs(each.z - 15.5) < 0.1),
          runnerPeer,
        ),
    )
    // If the input of a tick did not arrive in time, the aim is that of an earlier tick. A page that stalled aims at an
    // old position.
    serving.host.onEvent(Shot, ({ peer: by }) => {
      if (by === peer && isJudged) counts.shots++
    })
    serving.host.onEvent(Hurt, ({ by }) => {
      if (by === peer && isJudged) counts.hits++
    })
    await inTime(page, skip, async () => {
      Object.assign(counts, { shots: 0, hits: 0 })
      await page.evaluate(shootAt, runnerPeer)
      await waitFor(
        () => counts.shots >= SHOTS,
        () => JSON.stringify(counts),
      )
      const draws = await page.evaluate(() => eyes)
      const { shots, hits } = counts
      const errors = draws.map(({ viewTick, x, isFed }) => {
        const [from, to] = [truth.get(Math.floor(viewTick)), truth.get(Math.floor(viewTick) + 1)]
        return from === undefined || to === undefined || !isFed ? NaN : x - from - (to - from) * (viewTick % 1)
      })
      return () => {
        const known = errors.filter((error) => !Number.isNaN(error))
        // Rows that arrive too late to be drawn are extrapolated; in a page that has enough time these are next to
        // none.
        expect(known.length).toBeGreaterThan(draws.length / 2)
        expect(known.length).toBeGreaterThan(50)
        expect(errors.filter((error, at) => Math.abs(error - errors[at - 1]!) > VISIBLE_M)).toEqual([])
        expect(hits).toBeGreaterThanOrEqual(shots - 1)
      }
    })
    await page.close()
    expect(mistakes).toEqual([])
  },
)

/**
 * In the page: stands for half a second, walks for a quarter, to and fro, and checks at every draw whether the newest
 * tick with a held key shows. A step in which the clock was resynchronised, after the machine had stopped for long, is
 * repeated.
 */
function walkInSteps({ stick, steps }: { stick: number; steps: number }): void {
  const { session, controls, peer } = arena
  const { host } = session.tools
  const found = { answered: 0, unanswered: 0, isDone: false }
  const press = { sample: -1, tick: Infinity, restX: NaN, resyncs: 0 }
  let samples = 0
  controls.sample = () => {
    const phase = samples++ % 96
    if (found.isDone || phase < 64) return { yaw: 0 }
    if (phase === 64) Object.assign(press, { sample: samples, tick: Infinity, resyncs: host.clock.ticks.resyncs })
    return { yaw: 0, side: Math.floor(samples / 96) % 2 === 0 ? stick : -stick }
  }
  session.tools.onTicked = () => {
    if (press.sample >= 0) press.tick = host.clock.inputs.newest - (samples - press.sample)
  }
  const draw = (): void => {
    const x = arena.fighters().find(({ owner }) => owner === peer)?.x ?? NaN
    if (press.sample < 0) press.restX = x
    else if (host.clock.inputs.newest >= press.tick) {
      const isSame = press.resyncs === host.clock.ticks.resyncs && host.predictor.isRunning && !host.predictor.isStalled
      if (isSame && Math.abs(x - press.restX) > 1e-4) found.answered++
      else if (isSame) found.unanswered++
      press.sample = -1
    }
    found.isDone = found.answered + found.unanswered >= steps
    requestAnimationFrame(draw)
  }
  requestAnimationFrame(draw)
  Object.assign(window, { hands: found })
}

/**
 * In the page: keeps a rail gun on a player as drawn, and notes the position, and whether it was received or
 * extrapolated; from now on, if called again.
 */
function shootAt(target: number): void {
  const { session, controls, peer } = arena
  const { host } = session.tools
  const seen: typeof eyes = []
  let aim: Held = {}
  controls.sample = () => aim
  const draw = (): void => {
    const own = arena.fighters().find(({ owner }) => owner === peer)
    const other = arena.fighters().find(({ owner }) => owner === target)
    const { renderTick, newest } = host.insides.renderClock
    if (own !== undefined && other !== undefined) {
      const [x, z] = [own.x - other.x, own.z - other.z]
      aim = { yaw: Math.atan2(x, z), pitch: Math.atan2(other.y - own.y - 0.6, Math.hypot(x, z)), weapon: 2, fire: true }
      seen.push({ viewTick: host.viewTick, x: other.x, isFed: renderTick <= newest })
    }
    requestAnimationFrame(draw)
  }
  requestAnimationFrame(draw)
  Object.assign(window, { eyes: seen })
}

/**
 * Plays rounds until one passes, or until one fails in which neither the server nor the page had to wait for the
 * machine. A server that skips ticks sets the clocks of its clients back, and so does a page that reads its packets
 * late: a failure in such a round says nothing about the link. If the machine is too busy in every round, the test is
 * skipped.
 */
async function inTime(page: Page, skip: (reason: string) => void, play: () => Promise<() => void>): Promise<void> {
  const { loop } = serving.host
  const watch = await watchStalls(page, () => arena.session.rttMs)
  let reason = ''
  for (let round = 0; round < ROUNDS; round++) {
    const { skippedTicks } = loop
    await watch.reset()
    const judge = await play()
    const { pageMs, processMs, value: rttMs } = await watch.worst()
    reason = `skipped ticks ${loop.skippedTicks - skippedTicks}, page stalled ${pageMs.toFixed()} ms, `
      + `server stalled ${processMs.toFixed()} ms, round trip ${rttMs.toFixed()} ms`
    const isQuiet =
      loop.skippedTicks === skippedTicks && Math.max(pageMs, processMs) < STALL_MS && rttMs < RTT_MS_MAX
    try {
      return judge()
    } catch (error) {
      if (isQuiet) throw error
      console.log(`round ${round} is played again (${reason}): ${error}`)
    }
  }
  skip(`This machine is too busy for a server and a page: ${reason}.`)
}

/** Puts a player on open ground, and waits until the server and the player's page agree on the position. */
async function stand(page: Page, peer: number, x: number, z: number): Promise<void> {
  await waitFor(() => bodyOf(peer) !== undefined)
  Object.assign(bodyOf(peer)!, { at: { x, y: 0, z }, speed: { x: 0, y: 0, z: 0 } })
  await waitFor(
    async () =>
      await page.evaluate(
        (place) =>
          arena
            .fighters()
            .some((own) => own.owner === arena.peer && Math.hypot(own.x - place.x, own.z - place.z) < 0.01),
        { x, z },
      ),
  )
  await waitFor(async () => (await page.evaluate(() => arena.session.rttMs)) > 180)
}

function bodyOf(peer: number): ObjectOf<typeof Fighter> | undefined {
  return [...serving.host.world.each(Fighter)].find(({ owner }) => owner === peer)
}

function seats(): ObjectOf<typeof Seat>[] {
  return [...serving.host.world.each(Seat)]
}
