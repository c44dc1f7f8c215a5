import { expect, test, vi } from 'vitest'
import type { ObjectOf } from 'tickwire'
import { simulate, type Simulation } from 'tickwire/testing'
import type { BotLevel } from './bot-levels.ts'
import { createBot } from './bots.ts'
import {
  Ball, Chat, Fighter, input, Item, Kill, Launched, Match, Picked, Ping, RAIL, Rename, Rocket, ROCKETS, Said, Seat,
  STICK,
} from './definitions.ts'
import { arenaGame, game } from './game.ts'
import { PADS, SPAWNS } from './level.ts'
import { RUN_SPEED } from './movement.ts'
import { Navigation } from './navigation.ts'
import { notePings } from './rules.ts'

// Whole matches, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 })

type Arena = Simulation<typeof input>

const LINE = { latencyMs: 75, jitterMs: 5, loss: 0.01 }

/** The body of a client, as the authority has it. */
function bodyOf(sim: Arena, client: number): ObjectOf<typeof Fighter> {
  const found = sim.server(Fighter).find(({ owner }) => owner === sim.players[client]!.host.peer)
  if (found === undefined) throw new Error(`client ${client} has no body`)
  return found
}

/** Puts a body somewhere, at rest, and waits until its player knows. */
function put(sim: Arena, client: number, x: number, y: number, z: number): ObjectOf<typeof Fighter> {
  const body = bodyOf(sim, client)
  Object.assign(body, { at: { x, y, z }, speed: { x: 0, y: 0, z: 0 } })
  sim.run(400)
  return body
}

test('[ARENA1] an idle player is never corrected in ten seconds at 5 ms, and all players see its ping', () => {
  const sim = simulate(game, { seed: 3, clients: 2, link: { latencyMs: 5 } })
  sim.run(1000)
  const { predictor } = sim.players[0]!.host
  const rollbacks = predictor!.rollbacks
  for (let second = 0; second < 10; second++) {
    // As the server does it, with a different value each time.
    notePings(sim.host.world, (id) => (sim.host.connectionOf({ id })?.rtt.smoothedMs ?? 0) + second)
    sim.run(1000)
  }
  expect(predictor!.rollbacks).toBe(rollbacks)
  const { peer } = sim.players[0]!.host
  expect(sim.client(1, Ping).find((ping) => ping.peer === peer)!.ms).toBeGreaterThan(10)
  sim.host.kick({ id: peer })
  sim.run(500)
  notePings(sim.host.world, () => 1)
  sim.run(500)
  expect(sim.server(Ping)).toHaveLength(1)
})

test('[ARENA1] a fighter runs, jumps, climbs stairs and is thrown by jump pads, and is never corrected', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: LINE })
  sim.run(500)
  const body = put(sim, 0, 0, 0, 14)
  const { predictor } = sim.players[0]!.host
  const rollbacks = predictor!.rollbacks
  sim.hold(0, { ahead: STICK })
  sim.run(500)
  expect(Math.hypot(body.speed.x, body.speed.z)).toBeGreaterThan(RUN_SPEED * 0.9)
  sim.run(800)
  expect(body.at.y).toBe(2.5)
  sim.hold(0, { jump: true })
  sim.run(250)
  expect(body.at.y).toBeGreaterThan(2.9)
  sim.hold(0, {})
  sim.run(2000)
  expect(predictor!.rollbacks).toBe(rollbacks)
  const [pad] = PADS
  let launches = 0
  sim.players[0]!.host.onEvent(Launched, () => { launches++ })
  put(sim, 0, pad!.at.x, pad!.at.y, pad!.at.z)
  sim.run(2500)
  expect(launches).toBeGreaterThan(0)
  expect(body.at.y).toBe(pad!.target.y)
  expect(sim.difference()).toBeUndefined()
})

test('[ARENA2] turning while jumping makes a fighter faster than its running speed', () => {
  const sim = simulate(game, { seed: 3 })
  sim.run(200)
  const body = put(sim, 0, 4.5, 0, 18)
  let yaw = -Math.PI / 2
  sim.hold(0, { ahead: STICK, yaw })
  sim.run(450)
  let fastest = 0
  const start = sim.clock.now
  sim.script(0, () => {
    yaw += 0.02
    return { side: -STICK, yaw, jump: true }
  })
  while (sim.clock.now - start < 1200) {
    sim.run(50)
    fastest = Math.max(fastest, Math.hypot(body.speed.x, body.speed.z))
  }
  expect(fastest).toBeGreaterThan(RUN_SPEED * 1.05)
})

test('[ARENA3] at 150 ms a rail shot kills the fighter that the shooter saw, although it has run on since', () => {
  const sim = simulate(game, { seed: 11, clients: 2, link: { latencyMs: 75 } })
  sim.run(500)
  const shooter = put(sim, 0, 0, 0, 19)
  const runner = put(sim, 1, -12, 0, 15.5)
  Object.assign(runner, { health: 50 })
  sim.hold(1, { side: STICK })
  const kills: string[] = []
  sim.players.forEach(({ host }, client) => host.onEvent(Kill, ({ weapon }) => kills.push(`${client} ${weapon}`)))
  let aimed = 0
  // The shooter does not lead the target: it fires at the drawn position.
  sim.script(0, () => {
    const { host } = sim.players[0]!
    const seen = [...host.draw(sim.clock.now).each(Fighter)].find(({ owner }) => owner !== host.peer)
    const own = [...host.view.each(Fighter)].find(({ owner }) => owner === host.peer)
    if (seen === undefined || own === undefined) return { weapon: RAIL }
    const yaw = Math.atan2(own.at.x - seen.at.x, own.at.z - seen.at.z)
    const isFiring = seen.at.x > -6 && seen.speed.x > 6
    if (isFiring) aimed++
    return {
      yaw,
      pitch: Math.atan2(seen.at.y - own.at.y - 0.6, Math.hypot(own.at.x - seen.at.x, own.at.z - seen.at.z)),
      weapon: RAIL,
      fire: isFiring,
    }
  })
  expect(sim.runUntil(() => kills.length === 2, 4000)).toBe(true)
  expect(aimed).toBeGreaterThan(0)
  expect(shooter.slugs).toBe(4)
  expect(kills.sort()).toEqual([`0 ${RAIL}`, `1 ${RAIL}`])
  expect(sim.server(Seat).map(({ frags }) => frags).sort()).toEqual([0, 1])
})

test('[ARENA4] a rocket is visible at once, is later the same object as on the server, and lifts its shooter', () => {
  const sim = simulate(game, { seed: 5, clients: 2, link: { latencyMs: 75 } })
  sim.run(500)
  const body = put(sim, 0, 0, 0, 18)
  sim.hold(0, { weapon: ROCKETS, fire: true, yaw: Math.PI / 2 })
  sim.run(50)
  expect(sim.client(0, Rocket)).toHaveLength(1)
  expect(sim.server(Rocket)).toHaveLength(0)
  sim.hold(0, { weapon: ROCKETS, yaw: Math.PI / 2 })
  sim.run(250)
  expect(sim.server(Rocket)).toHaveLength(1)
  expect(sim.client(0, Rocket)).toHaveLength(1)
  const { predictor } = sim.players[0]!.host
  expect(predictor!.spawnsRefuted).toBe(0)
  sim.run(1500)
  const rollbacks = predictor!.rollbacks
  sim.hold(0, { weapon: ROCKETS, fire: true, pitch: -1.5 })
  sim.run(600)
  expect(body.at.y).toBeGreaterThan(2)
  expect(body.health).toBeLessThan(100)
  expect(predictor!.rollbacks).toBe(rollbacks)
})

test('[ARENA5] fighters take the items that they need, and items reappear', () => {
  const sim = simulate(game, { seed: 9 })
  sim.run(300)
  const body = bodyOf(sim, 0)
  const item = sim.server(Item).find(({ kind }) => kind === 'health')!
  body.health = 50
  put(sim, 0, item.at.x, item.at.y, item.at.z)
  expect(body.health).toBe(75)
  expect(item.isThere).toBe(false)
  put(sim, 0, SPAWNS[0]!.at.x, 0, SPAWNS[0]!.at.z)
  sim.run(15_000)
  expect(item.isThere).toBe(true)
})

test('[ARENA6] bots find every floor, fight, and one of them wins; then the next match begins', () => {
  const { spots } = new Navigation()
  const reached = new Set([0])
  for (const spot of reached) for (const { to } of spots[spot]!.links) reached.add(to)
  for (const height of [2.5, 4, 6.75]) expect([...reached].some((spot) => spots[spot]!.at.y === height)).toBe(true)

  const sim = simulate(arenaGame({ limits: { frags: 3, seconds: 600 } }), { seed: 21 })
  for (let bot = 0; bot < 4; bot++) sim.host.addBot(createBot(bot, 128))
  let picked = 0
  sim.host.onEvent(Picked, () => { picked++ })
  const phase = (): string => sim.server(Match)[0]!.phase
  expect(sim.runUntil(() => phase() === 'over', 60_000)).toBe(true)
  expect(Math.max(...sim.server(Seat).map(({ frags }) => frags))).toBe(3)
  expect(picked).toBeGreaterThan(0)
  sim.run(500)
  const best = sim.server(Seat).find(({ frags }) => frags === 3)!
  expect(sim.client(0, Match).map(({ phase: shown, winner }) => `${shown} ${winner}`)).toEqual([`over ${best.name}`])
  expect(sim.runUntil(() => phase() === 'play', 10_000)).toBe(true)
  expect(sim.server(Seat).every(({ frags }) => frags === 0)).toBe(true)
})

test('[ARENA25] among gentle bots an idle newcomer seldom dies, and they fight each other; levels differ', () => {
  const deathsAmong = (level: BotLevel, seconds: number): { readonly idle: number; readonly frags: number } => {
    const sim = simulate(arenaGame({ tickRate: 64, limits: { frags: 255, seconds: 600 } }), { seed: 31, clients: 1 })
    for (let bot = 0; bot < 5; bot++) sim.host.addBot(createBot(bot, 64, level))
    sim.run(seconds * 1000)
    const { peer } = sim.players[0]!.host
    return {
      idle: sim.server(Seat).find(({ owner }) => owner === peer)!.deaths,
      frags: sim.server(Seat).reduce((sum, { frags }) => sum + frags, 0),
    }
  }
  const gentle = deathsAmong('gentle', 90)
  const hard = deathsAmong('hard', 45)
  expect(gentle.idle, JSON.stringify(hard)).toBeLessThanOrEqual(3)
  expect(gentle.frags).toBeGreaterThan(2)
  expect(hard.idle).toBeGreaterThan(gentle.idle)
})

test('[ARENA26] two players with the same name have different names', () => {
  const sim = simulate(game, { seed: 2, clients: 3 })
  sim.run(300)
  for (const { host } of sim.players) host.send(Rename, { name: 'Bartholomew Two' })
  sim.run(300)
  const names = sim.server(Seat).map(({ name }) => name)
  expect(names.sort()).toEqual(['Bartholomew Tw 2', 'Bartholomew Tw 3', 'Bartholomew Two'])
  // Its own name again is no other player's.
  sim.players[0]!.host.send(Rename, { name: 'Bartholomew Two' })
  sim.run(300)
  expect(sim.server(Seat).map(({ name }) => name).sort()).toEqual(names)
})

test('[ARENA7] names and chat arrive once and clean; ammunition is sent to its owner only', () => {
  const sim = simulate(game, { seed: 2, clients: 2, link: LINE })
  const [first, second] = [sim.players[0]!.host, sim.players[1]!.host]
  const lines: string[] = []
  second.onEvent(Said, ({ name, text }) => lines.push(`${name}: ${text}`))
  first.send(Rename, { name: 'Ann\n' })
  sim.run(500)
  first.send(Chat, { text: 'hello' })
  sim.run(500)
  expect(lines).toEqual(['Ann: hello'])
  bodyOf(sim, 0).slugs = 17
  sim.run(400)
  const slugsSeenBy = (client: number): number | undefined =>
    sim.client(client, Fighter).find(({ owner }) => owner === first.peer)?.slugs
  expect(slugsSeenBy(0)).toBe(17)
  expect(slugsSeenBy(1)).toBe(5)
})

test('[ARENA11] a player at a ball owns it, moves it without a round trip, and returns it on leaving', () => {
  const sim = simulate(game, { seed: 13, clients: 2, link: { latencyMs: 75 } })
  sim.run(500)
  const { peer, predictor } = sim.players[0]!.host
  const { at } = sim.server(Ball).find(({ at: { x } }) => x === 7)!
  const ball = (): { owner: number; x: number } =>
    [...sim.host.world.seen(Ball)]
      .map(({ owner, at: { x, z }, id }) => ({ owner, x, z, id }))
      .sort((a, b) => a.id - b.id)[1]!
  put(sim, 0, at.x - 3, 0, at.z)
  expect(ball().owner).toBe(peer)
  const rollbacks = predictor!.rollbacks
  const before = ball().x
  sim.hold(0, { ahead: STICK, yaw: -Math.PI / 2 })
  const seenBy = (client: number): number =>
    [...sim.players[client]!.host.draw(sim.clock.now).each(Ball)]
      .map(({ id, at: { x } }) => ({ id, x }))
      .sort((a, b) => a.id - b.id)[1]!.x
  expect(sim.runUntil(() => seenBy(0) > before + 0.25, 2000)).toBe(true)
  // The owner sees the ball move before the server receives the move.
  expect(ball().x).toBe(before)
  sim.run(400)
  expect(ball().x).toBeGreaterThan(before + 0.5)
  sim.hold(0, {})
  sim.run(500)
  expect(seenBy(1)).toBeGreaterThan(before + 0.5)
  expect(predictor!.rollbacks).toBe(rollbacks)
  sim.players[0]!.host.close(sim.clock.now)
  sim.run(1000)
  expect(ball().owner).toBe(0)
})

test('[ARENA11] a rocket throws a ball of another player: the server takes it back, and all see it fly', () => {
  const sim = simulate(game, { seed: 17, clients: 2, link: { latencyMs: 75 } })
  sim.run(500)
  const [keeper, shooter] = [sim.players[0]!.host, sim.players[1]!.host]
  const { id, at } = sim.server(Ball).find(({ at: { x } }) => x === 7)!
  const ball = (): { owner: number; y: number } => {
    const { owner, at: { y } } = sim.host.world.see(Ball, id)!
    return { owner, y }
  }
  put(sim, 0, at.x - 2.5, 0, at.z)
  expect(ball().owner).toBe(keeper.peer)
  const place = { x: at.x, z: at.z + 7 }
  put(sim, 1, place.x, 0, place.z)
  sim.hold(1, { weapon: ROCKETS, fire: true, yaw: 0, pitch: Math.atan2(-1.35, 6.2) })
  sim.run(60)
  sim.hold(1, { weapon: ROCKETS, yaw: 0 })
  const heights: number[][] = [[], []]
  let wasServers = false
  for (let moment = 0; moment < 60; moment++) {
    sim.run(20)
    wasServers ||= ball().owner === 0
    for (const [index, host] of [keeper, shooter].entries())
      heights[index]!.push([...host.draw(sim.clock.now).each(Ball)].find((each) => each.id === id)!.at.y)
  }
  expect(wasServers).toBe(true)
  for (const seen of heights) expect(Math.max(...seen)).toBeGreaterThan(1.25)
})
