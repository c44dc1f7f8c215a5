/** The code of docs/guide/authority.md. It is compiled with the tests and run by test/sim/authority.test.ts. */

import { bool, defineGame, entity, fixed, rpc, u8, type Match, type PeerId } from 'tickwire'
import { createClientHost, type ClientHost, type ClientHostOptions } from 'tickwire/engine'

// #region declare
export const Player = entity({ x: fixed(0, 100, 0.1).position(), score: u8 }, { name: 'Player' })

/** The owner simulates the ball, without a round trip; no other peer writes it. */
export const Ball = entity({
  x: fixed(0, 100, 0.1).position(),
  dents: u8,
  /** A server field stays on the server, also when a client owns the ball. */
  prize: u8.server(),
}, { name: 'Ball', authority: 'shared' })

const input = { right: bool, kick: bool, dent: bool }
// #endregion

// #region claim
/** A player claims to have hit a ball; the server asks the owner of the ball. */
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
  /** A player may take a ball that is near. Without this function, only a ball that the server owns. */
  onAuthorityRequest(world, peer, object) {
    const ball = world.see(Ball, object.id)
    const [asker] = [...world.each(Player)].filter(({ owner }) => owner === peer.id)
    return ball !== null && asker !== undefined && Math.abs(asker.x - ball.x) < 10
  },
  step(world, inputs) {
    for (const player of world.each(Player)) if (inputs.of(player.owner).right) player.x += 0.2
    // The same loop on the server and on every client: `each` visits the balls that this peer simulates.
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
export function arbitrate(server: Match<Input>): void {
  server.handle(Claim, ({ power }, { object }) => {
    const ball = server.world.see(Ball, object)
    if (ball === null) return
    // The server decides about its own balls, and can rewind them. About other balls only the owner can decide.
    if (ball.owner === 0) for (const own of server.world.each(Ball)) own.dents += own.id === object ? 1 : 0
    else server.call(Hit, { power }, { about: ball })
  })
}
// #endregion

// #region client
export function play(client: ClientHost<Input>): { isHit: boolean } {
  const state = { isHit: false }
  // This client owns the ball. It applies the hit with its next input.
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
export async function take(client: ClientHost<Input>): Promise<boolean> {
  for (const ball of client.view.each(Ball)) {
    const { isGranted } = await client.requestAuthority(ball)
    if (isGranted) return true
  }
  return false
}
// #endregion

// #region watch
/** A spectator sees the view of the first player until it chooses another player. */
export function watch(now: number, to: string, options: ClientHostOptions): ClientHost<Input> {
  const spectator = createClientHost(game, { ...options, role: 'spectator' })
  spectator.connect(now, to)
  return spectator
}

/** Returns the player that the spectator follows now. */
export function watchNext(spectator: ClientHost<Input>): Promise<PeerId> {
  return spectator.spectate('next')
}
// #endregion
