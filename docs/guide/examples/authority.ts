/** The code of docs/guide/authority.md. It is compiled with the tests and run by test/sim/authority.test.ts. */

import { bool, createClientHost, defineGame, entity, fixed, rpc, u8, type ClientHost, type ClientHostOptions, type PeerId, type ServerHost } from 'tickwire'

// #region declare
export const Player = entity({ x: fixed(0, 100, 0.1).position(), score: u8 }, { name: 'Player' })

/** Whoever holds it simulates it, without a round trip; nobody else writes it. */
export const Ball = entity({
  x: fixed(0, 100, 0.1).position(),
  dents: u8,
  /** What only the server knows stays with the server, whoever owns the ball. */
  prize: u8.server(),
}, { name: 'Ball', authority: 'shared' })

const input = { right: bool, kick: bool, dent: bool }
// #endregion

// #region claim
/** A player says that he hit a ball; the server asks the one who knows. */
export const Claim = rpc({ power: u8 }, { to: 'server', name: 'Claim' })
export const Hit = rpc({ power: u8 }, { to: 'owner', name: 'Hit' })
// #endregion

// #region game
export const game = defineGame({
  tickRate: 60,
  input,
  entities: [Player, Ball],
  rpcs: [Claim, Hit],
  onJoin(world, peer) {
    world.spawn(Player, { x: 50 }, peer)
    if (world.count(Ball) === 0) world.spawn(Ball, { x: 50 })
  },
  /** A ball may be taken from who is far from it. Without this, only from the server. */
  onAuthorityRequest(world, peer, object) {
    const ball = world.see(Ball, object.id)
    const [asker] = [...world.each(Player)].filter(({ owner }) => owner === peer.id)
    return ball !== null && asker !== undefined && Math.abs(asker.x - ball.x) < 10
  },
  step(world, inputs) {
    for (const player of world.each(Player)) if (inputs.of(player.owner).right) player.x += 0.2
    // The same loop on the server and on every client: each has the balls that are his to simulate.
    for (const ball of world.each(Ball)) {
      const { kick, dent } = inputs.of(ball.owner)
      if (kick) ball.x += 0.5
      if (dent) ball.dents++
    }
  },
})
// #endregion

export type Input = typeof input

// #region server
export function arbitrate(server: ServerHost<Input>): void {
  server.handle(Claim, ({ power }, { object }) => {
    const ball = server.world.see(Ball, object)
    if (ball === null) return
    // It is the server's: it knows where the ball is, and can look back in time. Else its owner knows.
    if (ball.owner === 0) for (const own of server.world.each(Ball)) own.dents += own.id === object ? 1 : 0
    else server.call(Hit, { power }, { about: ball })
  })
}
// #endregion

// #region client
export function play(client: ClientHost<Input>): { isHit: boolean } {
  const state = { isHit: false }
  // Mine, and I am where it is. What follows from it goes through my next input, like all I do.
  client.handle(Hit, (_values, { object }) => { state.isHit = client.view.get(Ball, object)?.owner === client.peer })
  client.sampleInput = () => {
    const dent = state.isHit
    state.isHit = false
    return { kick: true, dent }
  }
  return state
}
// #endregion

// #region take
export async function take(client: ClientHost<Input>, now: number): Promise<boolean> {
  for (const ball of client.view.each(Ball)) {
    const { isGranted } = await client.requestAuthority(now, ball)
    if (isGranted) return true
  }
  return false
}
// #endregion

// #region watch
/** Looks on: with the eyes of the first player, until he asks for another's. */
export function watch(now: number, to: string, options: ClientHostOptions): ClientHost<Input> {
  const spectator = createClientHost(game, { ...options, role: 'spectator' })
  spectator.connect(now, to)
  return spectator
}

/** Says whom he follows now. */
export function watchNext(spectator: ClientHost<Input>, now: number): Promise<PeerId> {
  return spectator.spectate(now, 'next')
}
// #endregion
