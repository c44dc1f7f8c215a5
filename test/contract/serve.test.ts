import { expect, test, vi } from 'vitest'
import { defineGame, entity, fixed, message, text, bool, type CloseReason, type Game } from 'tickwire'
import { createClientHost } from 'tickwire/engine'
import { connect } from 'tickwire/browser'
import {
  monotonicNow, openWebSocket, serve, serveRooms, systemEntropy, type ServeOptions, type ServeRoomsOptions,
} from 'tickwire/node'
import { simulate } from 'tickwire/testing'

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const Player = entity({ x: fixed(0, 100, 0.1) })
const Chat = message({ text: text(40) })
const INPUT = { right: bool }

function makeGame(tickRate = 60): Game<typeof INPUT> {
  return defineGame({
    tickRate,
    input: INPUT,
    entities: [Player],
    messages: [Chat],
    onJoin: (world, peer) => world.spawn(Player, { x: 10 }, peer),
    step(world, inputs) {
      for (const player of world.each(Player)) if (inputs.of(player.owner).right) player.x += 0.5
    },
  })
}

/** A player without a browser, on a real socket. */
async function join(game: Game<typeof INPUT>, url: string): Promise<{
  host: ReturnType<typeof createClientHost<typeof INPUT>>; closed: Promise<CloseReason>; stop: () => void
}> {
  const address = `${url.replace('http', 'ws')}/tickwire`
  const port = await openWebSocket(address)
  let onClosed: (reason: CloseReason) => void = () => {}
  const closed = new Promise<CloseReason>((resolve) => { onClosed = resolve })
  const host = createClientHost(game, { entropy: systemEntropy, onClosed })
  const pump = (): void => {
    host.tick(monotonicNow())
    host.drain(monotonicNow(), port)
  }
  port.onDatagram = (from, bytes, length) => { host.handleDatagram(monotonicNow(), from, bytes, length); pump() }
  port.onPathClosed = (from) => { host.handlePathClosed(from); pump() }
  const timer = setInterval(pump, 5)
  host.connect(monotonicNow(), address)
  pump()
  return { host, closed, stop: () => { clearInterval(timer); port.close() } }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 3000) throw new Error(`never true: ${isTrue}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('[GAME1] only a result of defineGame is served, simulated or joined; a port is a number', async () => {
  const definition = { tickRate: 60, input: INPUT, entities: [Player], step: () => {} }
  const fix = 'game: not made by defineGame. Fix: pass the result of defineGame({ … }).'
  await expect(serve(definition as unknown as Game, { port: 0 })).rejects.toThrow(fix)
  expect(() => simulate(definition as unknown as Game)).toThrow(fix)
  await expect(connect(definition as unknown as Game, 'http://localhost:1')).rejects.toThrow(fix)
  await expect(serve(makeGame(), { port: 70_000 })).rejects.toThrow(
    'port: invalid port (got 70000). Fix: give 1 to 65535, or 0 for any free port.',
  )
})

test('[GAME1] unknown options are refused, with the likely name', async () => {
  const asked = { port: 0, webTransport: { port: 4001 }, onjoined: () => {} }
  await expect(serve(makeGame(), asked)).rejects.toThrow(
    'serve: unknown option "webTransport". Did you mean webtransport?',
  )
  await expect(serve(makeGame(), { port: 0, players: 4 } as ServeOptions)).rejects.toThrow(
    /^serve: unknown option "players"\. Fix: use one of port, .*maxPlayers/,
  )
  await expect(serveRooms({}, { maxrooms: 4 } as ServeRoomsOptions)).rejects.toThrow(
    'serveRooms: unknown option "maxrooms". Did you mean maxRooms?',
  )
  const duel = { game: makeGame(), seats: 2 }
  await expect(serveRooms({ duel }, { port: 0 })).rejects.toThrow(
    'duel: unknown option "seats". Fix: use one of game, capacity,',
  )
})

test('[SERVE3] one call serves a match: players join over WebSocket, move, talk, leave, and see it end', async () => {
  const game = makeGame()
  const left: CloseReason[] = []
  const serving = await serve(game, { port: 0, onLeft: (_peer, reason) => left.push(reason) })
  const first = await join(game, serving.url)
  const second = await join(game, serving.url)
  const received: string[] = []
  serving.host.on(Chat, ({ text: said }, from) => serving.host.broadcast(Chat, { text: `${from.id}: ${said}` }))
  second.host.on(Chat, ({ text: said }) => received.push(said))
  await until(() => [...second.host.view.each(Player)].length === 2)

  first.host.sampleInput = () => ({ right: true })
  expect(first.host.send(Chat, { text: 'hello' })).toBe('queued')
  await until(() => received.length === 1 && [...second.host.view.each(Player)][0]!.x > 15)
  expect(received).toEqual([`${first.host.peer}: hello`])

  first.host.close(monotonicNow())
  expect(await first.closed).toEqual({ by: 'local', code: 'left' })
  await until(() => [...second.host.view.each(Player)].length === 1)
  expect(left).toEqual([{ by: 'peer', code: 'left' }])

  const ended = second.closed
  await serving.close()
  expect(await ended).toEqual({ by: 'peer', code: 'shutdown' })
  first.stop()
  second.stop()
})

test('[SERVE4] a stale build, a full match and a port in use each have their own reason', async () => {
  const game = makeGame()
  const serving = await serve(game, { port: 0, maxPlayers: 1 })
  const stale = await join(makeGame(30), serving.url)
  expect(await stale.closed).toEqual({ by: 'protocol', code: 'schema' })
  const first = await join(game, serving.url)
  await until(() => first.host.peer !== 0 && serving.host.peers.length === 1)
  const second = await join(game, serving.url)
  expect(await second.closed).toEqual({ by: 'protocol', code: 'full' })
  const port = Number(new URL(serving.url).port)
  await expect(serve(game, { port })).rejects.toThrow(`port: ${port} is in use by another program. Fix: stop that`)
  for (const player of [stale, first, second]) player.stop()
  await serving.close()
})
